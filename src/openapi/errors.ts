import type { ErrorCode } from '../errors.ts'
import { REQUIRED_SCOPE } from '../keys/key-context.ts'
import type { HeaderName } from './headers.ts'

export interface ErrorDescription {
  /** When a call is answered so, and what to do about it. */
  readonly meaning: string
  /** What the library says, or one of the things. */
  readonly message: string
  /** Header fields that every answer with this code carries. */
  readonly headers?: readonly HeaderName[]
  /** The answer is given before the rate limit is asked, or without one, and so does not tell it. */
  readonly beforeRateLimit?: true
}

/** Every code of an error answer. A code that is not in this table does not compile. */
export function describeErrors({ bodyLimit }: { bodyLimit: number }) {
  return {
    invalid_request: {
      meaning: 'The body is malformed; the message names the path, such as `domains[3]`. Correct it.',
      message: 'domains must hold at least one hostname.',
    },
    unauthorized: {
      meaning: 'The API key is missing, malformed, unknown or revoked. Send an active key.',
      message:
        'The bearer token is missing or invalid. Send "Authorization: Bearer <API key>" with an active organization or team key.',
      headers: ['WWW-Authenticate'],
      beforeRateLimit: true,
    },
    insufficient_scope: {
      meaning: `The API key lacks the scope \`${REQUIRED_SCOPE}\`. Send a key that holds it.`,
      message: `The API key lacks the scope ${REQUIRED_SCOPE}; send a key that holds it.`,
      headers: ['WWW-Authenticate'],
    },
    team_suspended: {
      meaning: 'The team is suspended.',
      message: 'The team is suspended; no domains can be registered in it.',
    },
    team_not_found: {
      meaning: "The team does not exist, or is none of the organization's. Check `team_id`.",
      message: 'The team does not exist, or it does not belong to the key.',
    },
    method_not_allowed: {
      meaning: 'The method is not POST, where the host routes every method of this path here.',
      message: 'Domains are registered with POST.',
      headers: ['Allow'],
      beforeRateLimit: true,
    },
    request_timeout: {
      meaning: 'The body did not come in time, and the connection is closed. Send the call again.',
      message: 'The request body did not come in time; send it again.',
    },
    payload_too_large: {
      meaning: `The body is larger than ${bodyLimit} bytes. Split the call.`,
      message: `The request body is larger than the ${bodyLimit} bytes allowed.`,
    },
    unsupported_media_type: {
      meaning: 'The body is not JSON in UTF-8, or is compressed. Send `Content-Type: application/json`.',
      message: 'The request body must be JSON: send "Content-Type: application/json".',
    },
    too_many_requests: {
      meaning: 'Too many calls. Wait for `Retry-After` seconds.',
      message: 'Too many requests; try again in 42 s.',
      headers: ['Retry-After', 'RateLimit'],
    },
    internal_error: {
      meaning: 'Something failed before anything was registered. Try again later.',
      message: 'The call could not be processed. Try again later.',
    },
    domain_registration_unavailable: {
      meaning:
        'The domains were saved but are not yet synchronized. Send the same call again after `Retry-After` seconds.',
      message: 'The domains were saved but are not yet synchronized. Send the same call again.',
      headers: ['Retry-After'],
    },
  } as const satisfies Record<ErrorCode, ErrorDescription>
}
