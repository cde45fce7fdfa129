import type { ApiError } from '../errors/api-error.ts'

/** Our error for each reason why a framework rejects a body, by the framework's name for it. */
export type RefusedBodies = Readonly<Record<string, (() => ApiError) | undefined>>

/**
 * Turns the framework's rejection into a body that fails when read, so the checks before the body, such
 * as 401, still come first.
 *
 * @returns `null` for any other error, which is the application's to handle.
 */
export function toRefusedBody(refusedBodies: RefusedBodies, name: unknown): (() => never) | null {
  const toError = typeof name === 'string' && Object.hasOwn(refusedBodies, name) ? refusedBodies[name] : undefined
  if (!toError) return null
  return () => {
    throw toError()
  }
}
