import type { ApiError } from '../errors.ts'

/** Which of our errors a framework's refusal of a body is, by the framework's own name for it. */
export type Refusals = Readonly<Record<string, (() => ApiError) | undefined>>

/**
 * What a framework refused before we were asked, as a body that cannot be read: the caller is still told first if it
 * may not call at all.
 *
 * @returns `null` for an error that is none of the framework's refusals: the host's to handle.
 */
export function toRefusedBody(refusals: Refusals, name: unknown): (() => never) | null {
  const toError = typeof name === 'string' && Object.hasOwn(refusals, name) ? refusals[name] : undefined
  if (!toError) return null
  return () => {
    throw toError()
  }
}
