/**
 * A store throws it for an `after` that it cannot have returned. The caller of a list then gets 400 `invalid_request`.
 *
 * @example
 * async function listAfter(after: string) {
 *   if (!after.startsWith('id_')) throw new InvalidCursorError()
 *   return database.query('SELECT domain FROM names WHERE id > $1 ORDER BY id LIMIT 1000', [after])
 * }
 */
export class InvalidCursorError extends TypeError {
  override readonly name = 'InvalidCursorError'

  constructor(message = 'The option "after" must come from the page before: the "domainId" of its last registration') {
    super(message)
  }
}

/** By its name, because a package in two module formats has two classes. */
export const isInvalidCursor = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidCursorError'
