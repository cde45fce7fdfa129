/** The error messages of SQLite, which are the same in all packages, each with its meaning for the application. */
const explanations: readonly (readonly [pattern: RegExp, explanation: string])[] = [
  [
    /database (?:table )?is locked/,
    'Other connections held the write lock of the SQLite database for longer than the time limit; nothing was saved',
  ],
  [
    /readonly database/,
    'The SQLite database is read-only: its file or folder is write-protected, or it was opened read-only',
  ],
  [/database or disk is full/, 'The disk or the SQLite database is full; nothing was saved'],
  [/file is not a database/, 'The file is not a SQLite database, or it is encrypted'],
  [/disk image is malformed/, 'The file of the SQLite database is damaged; restore it from a backup'],
  [/unable to open database file/, 'The file of the SQLite database cannot be opened, or its folder is gone'],
  [/disk I\/O error/, 'The file of the SQLite database could not be read or written'],
  [/database.*(?:not open|closed)|closed database/i, 'The SQLite database was closed while its store was in use'],
  [
    /transaction within a transaction/,
    'A transaction was open on the handle of the SQLite database; give the store its own connection',
  ],
]

/**
 * Wraps a failure of SQLite in an error that explains to the application what has failed. Returns other errors
 * unchanged.
 */
export function explainFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause
  const [, explanation] = explanations.find(([pattern]) => pattern.test(cause.message)) ?? []
  return explanation === undefined ? cause : new Error(`${explanation} (${cause.message})`, { cause })
}

/**
 * Recognizes SQLITE_BUSY and SQLITE_LOCKED (sqlite.org/rescode.html): another connection holds the lock, and a retry
 * may succeed.
 */
export const isLocked = (error: unknown) =>
  error instanceof Error && /database (?:table )?is locked/.test(error.message)
