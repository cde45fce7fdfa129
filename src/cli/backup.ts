import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { explainFailure } from '../sqlite/failures.ts'
import type { Command, Invocation, Result } from './command.ts'
import { openExisting, UsageError } from './database.ts'
import { plural } from './text.ts'

export const backup: Command = {
  synopsis: 'FILE',
  words: { least: 1, most: 1 },
  purpose: 'copies a SQLite database to a new file, even while it is in use; for PostgreSQL, use pg_dump',
  async run({ operands: [file = ''], target }: Invocation): Promise<Result> {
    const source = target()
    if (source.kind === 'postgres')
      throw new UsageError('backup works only for SQLite. For PostgreSQL, use pg_dump --schema domain_registration')
    if (existsSync(file)) throw new Error(`The file ${JSON.stringify(file)} already exists: pass another name`)
    const registrations = copy(source.file, file)
    const counted = plural(registrations, 'registration', 'registrations')
    return { text: `${JSON.stringify(file)} has ${counted}.\n`, data: { file, registrations } }
  },
}

/** Copies to a temporary file, and renames it once it is complete and on disk. */
function copy(source: string, file: string): number {
  const database = openExisting(source)
  const part = `${file}.part`
  try {
    // The copy contains hashes of keys, so it gets the file mode of the source. An empty file is created first, so
    // that its mode can be set; `VACUUM INTO` accepts an empty file.
    closeSync(openSync(part, 'wx', statSync(source).mode & 0o777))
    try {
      database.prepare('VACUUM INTO ?').run(part)
      flush(part)
      const registrations = countNames(part)
      renameSync(part, file)
      return registrations
    } catch (error) {
      rmSync(part, { force: true })
      throw explainFailure(error)
    }
  } finally {
    database.close()
  }
}

/** Flushes the copy to disk, which SQLite leaves to the caller (sqlite.org/lang_vacuum.html#vacuuminto). */
function flush(file: string): void {
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function countNames(file: string): number {
  const database = openExisting(file)
  try {
    const [row] = database.prepare('SELECT count(*) AS count FROM domain_registration_names').all()
    return Number((row as { count: number }).count)
  } finally {
    database.close()
  }
}
