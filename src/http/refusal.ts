import { ApiError } from '../errors.ts'

const messages = {
  invalid_request: 'The request body is not valid JSON; send {"domains": ["www.example.com"]}.',
  payload_too_large: 'The request body is larger than allowed.',
  unsupported_media_type: 'The request body must be JSON in UTF-8, not compressed.',
} as const

/** Which of our errors a framework's refusal of a body is, by the framework's own name for it. */
export type Refusals = Readonly<Record<string, keyof typeof messages | undefined>>

/**
 * What a framework refused before we were asked, as a body that cannot be read: the caller is still told first if it may
 * not call at all.
 *
 * @returns `null` for an error that is none of the framework's refusals: the host's to handle.
 */
export function toRefusedBody(refusals: Refusals, name: unknown): (() => never) | null {
  const code = typeof name === 'string' && Object.hasOwn(refusals, name) ? refusals[name] : undefined
  if (code === undefined) return null
  return () => {
    throw new ApiError(code, messages[code])
  }
}
