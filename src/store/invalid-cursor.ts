/**
 * Thrown by a store if `after` is not a cursor that the store could have returned. The client that requested the list
 * then gets 400 `invalid_request`.
 *
 * @example
 * async function listAfter(after: string) {
 *   if (!after.startsWith('id_')) throw new InvalidCursorError()
 *   return database.query('SELECT domain FROM names WHERE id > $1 ORDER BY id LIMIT 1000', [after])
 * }
 */
export class InvalidCursorError extends TypeError {
  override readonly name = 'InvalidCursorError'

  constructor(message = 'The option "after" must be the "domainId" of the last registration of the previous page') {
    super(message)
  }
}

/**
 * Compares names instead of using `instanceof`: if both the ESM and the CommonJS files are loaded, there are two such
 * classes.
 */
export const isInvalidCursor = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidCursorError'
