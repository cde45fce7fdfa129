import type { ApiError } from '../errors/api-error.ts'

/** Our error for each reason why a framework rejects a body, keyed by the framework's name for the reason. */
export type RefusedBodies = Readonly<Record<string, (() => ApiError) | undefined>>

/**
 * Turns the framework's rejection into a body that fails only when it is read, after checks such as the one for 401.
 *
 * @returns A `readBody` that throws our error; `null` for errors that the application handles.
 */
export function toRefusedBody(refusedBodies: RefusedBodies, name: unknown): (() => never) | null {
  const toError = typeof name === 'string' && Object.hasOwn(refusedBodies, name) ? refusedBodies[name] : undefined
  if (!toError) return null
  return () => {
    throw toError()
  }
}
