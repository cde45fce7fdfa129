import {
  insufficientScope,
  internalError,
  methodNotAllowed,
  notDeclaredAsJson,
  notSynchronized,
  payloadTooLarge,
  requestTimeout,
  teamNotFound,
  teamSuspended,
  tooManyRequests,
  unauthorized,
} from '../api-errors.ts'
import type { ApiError, ErrorCode } from '../errors.ts'
import { DEFAULT_POLICY, toRateLimitFields } from '../http/rate-limit-fields.ts'
import { REQUIRED_SCOPE } from '../keys/key-context.ts'
import { parseRequest } from '../wire/request.ts'
import type { HeaderName } from './headers.ts'

export interface ErrorDescription {
  /** When a call gets this answer, and what to do about it. */
  readonly meaning: string
  /** The message of the answer, or one of its messages. */
  readonly message: string
  /** Header fields that every answer with this code carries. */
  readonly headers: readonly HeaderName[]
  /** The answer comes before the rate limit is checked, and so has no fields about it. */
  readonly beforeRateLimit?: true
}

/** Describes every code of an error answer. A code that is missing here does not compile. */
export function describeErrors({ bodyLimit }: { bodyLimit: number }): Readonly<Record<ErrorCode, ErrorDescription>> {
  return {
    invalid_request: describe(
      noDomains(),
      'The body is malformed; the message names the path, such as `domains[3]`. Correct it.',
    ),
    unauthorized: {
      ...describe(
        unauthorized({ tokenSent: true }),
        'The API key is missing, malformed, unknown, expired or revoked. Send an active key.',
      ),
      beforeRateLimit: true,
    },
    insufficient_scope: describe(
      insufficientScope(REQUIRED_SCOPE),
      `The API key lacks the scope \`${REQUIRED_SCOPE}\`. Send a key that holds it.`,
    ),
    team_suspended: describe(teamSuspended(), 'The team is suspended.'),
    team_not_found: describe(
      teamNotFound(),
      "The team does not exist, or is none of the organization's. Check `team_id`.",
    ),
    method_not_allowed: {
      ...describe(methodNotAllowed(), 'The method is not POST, where the host routes every method of this path here.'),
      beforeRateLimit: true,
    },
    request_timeout: describe(
      requestTimeout(),
      'The body did not come in time, and the connection is closed. Send the call again.',
    ),
    payload_too_large: describe(
      payloadTooLarge(bodyLimit),
      `The body is larger than ${bodyLimit} bytes. Split the call.`,
    ),
    unsupported_media_type: describe(
      notDeclaredAsJson(),
      'The body is not JSON in UTF-8, or is compressed. Send `Content-Type: application/json`.',
    ),
    too_many_requests: describe(tooManyRequests(42, usedUp()), 'Too many calls. Wait for `Retry-After` seconds.'),
    internal_error: describe(internalError(), 'Something failed before anything was registered. Try again later.'),
    domain_registration_unavailable: describe(
      notSynchronized(5),
      'The domains were saved but are not yet synchronized. Send the same call again after `Retry-After` seconds.',
    ),
  }
}

const describe = ({ message, headers }: ApiError, meaning: string): ErrorDescription => ({
  meaning,
  message,
  headers: Object.keys(headers) as HeaderName[],
})

function noDomains(): ApiError {
  try {
    parseRequest({ domains: [] }, { type: 'team', teamId: '1', scopes: [REQUIRED_SCOPE] })
  } catch (error) {
    return error as ApiError
  }
  throw new Error('A request without domains was taken')
}

/** The fields of a limiter that does not say what it allows. */
const usedUp = () =>
  toRateLimitFields({ consume: () => Promise.reject() }, [
    [DEFAULT_POLICY, { remainingPoints: 0, msBeforeNext: 42_000 }],
  ])
