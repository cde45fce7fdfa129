import { internalError, invalidRequest } from '../errors/call-errors.ts'
import type { DomainStore } from '../store/contract.ts'
import { isInvalidCursor } from '../store/invalid-cursor.ts'
import type { Awaitable } from '../time/awaitable.ts'

/**
 * Returns an optional method of a store.
 *
 * @throws {TypeError} if the store does not have the method.
 */
export function requireMethod<Name extends 'find' | 'release' | 'list' | 'count' | 'import' | 'transfer'>(
  store: DomainStore,
  name: Name,
): NonNullable<DomainStore[Name]> {
  const method = store?.[name]
  if (typeof method === 'function') return method.bind(store) as NonNullable<DomainStore[Name]>
  throw new TypeError(`The store has no method "${name}"; all bundled stores have it`)
}

/**
 * Calls a store, and turns its failure into an {@link ApiError}.
 *
 * @param failed The message of the error: a sentence that says what could not be done.
 * @throws {ApiError} 500 `internal_error`; 400 `invalid_request` if the store rejects the cursor that the caller sent.
 */
export async function tryStore<T>(failed: string, work: () => Awaitable<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (isInvalidCursor(cause)) throw invalidRequest('after must be the "next" of the previous page.', cause)
    throw internalError(failed, cause)
  }
}
