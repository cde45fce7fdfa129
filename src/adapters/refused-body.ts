import type { ApiError } from '../errors/api-error.ts'

/** Our error for each refusal of a body by a framework, by the framework's name for it. */
export type RefusedBodies = Readonly<Record<string, (() => ApiError) | undefined>>

/**
 * Makes a body that fails to be read of a refusal by the framework, so that the checks which come before the body, such
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
