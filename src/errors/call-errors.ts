/**
 * All error responses of a call are created in this file, in the order of the checks. `docs/errors.md` lists the cause
 * and the fix of each error.
 */
import { ApiError } from './api-error.ts'

export function notFound(): ApiError {
  return new ApiError('not_found', 'There is nothing at this path.')
}

/**
 * @param allowed The allowed methods, which the response must name (RFC 9110, section 15.5.6). Empty if the operation
 *   is not offered.
 */
export function methodNotAllowed(allowed: readonly string[] = ['POST']): ApiError {
  const instead = allowed.length > 0 ? `; send ${allowed.join(' or ')}` : ', and neither is any other'
  return new ApiError('method_not_allowed', `The method is not allowed here${instead}.`, {
    headers: { Allow: allowed.join(', ') },
  })
}

/** RFC 6750, section 3: the challenge contains an error only if the request contained a token. */
export function unauthorized({ tokenSent }: { tokenSent: boolean }): ApiError {
  return new ApiError(
    'unauthorized',
    'The bearer token is missing or invalid. Send "Authorization: Bearer <API key>" with an active organization or ' +
      'team key.',
    { headers: { 'WWW-Authenticate': tokenSent ? 'Bearer error="invalid_token"' : 'Bearer' } },
  )
}

/** @param fields The headers that describe the limit. */
export function tooManyRequests(seconds: number, fields: Readonly<Record<string, string>> = {}): ApiError {
  return new ApiError('too_many_requests', `Too many requests; try again in ${seconds} s.`, {
    headers: { ...fields, 'Retry-After': String(seconds) },
  })
}

/** With the challenge of RFC 6750, section 3.1. */
export function insufficientScope(scope: string): ApiError {
  return new ApiError('insufficient_scope', `The caller lacks the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

export function notDeclaredAsJson(): ApiError {
  return new ApiError('unsupported_media_type', 'The request body must be JSON: send "Content-Type: application/json".')
}

export function notInUtf8(): ApiError {
  return new ApiError('unsupported_media_type', 'The request body must be in UTF-8 (RFC 8259, section 8.1).')
}

export function notPlain(): ApiError {
  return new ApiError('unsupported_media_type', 'The request body must not be compressed: send no "Content-Encoding".')
}

/**
 * @param limit The limit in bytes; `undefined` if the application's body parser, whose limit is unknown here, has
 *   rejected the body.
 */
export function payloadTooLarge(limit?: number): ApiError {
  const allowed = limit === undefined ? 'allowed' : `the ${limit} bytes allowed`
  return new ApiError('payload_too_large', `The request body is larger than ${allowed}.`)
}

export function requestTimeout(): ApiError {
  return new ApiError('request_timeout', 'The request body did not arrive in time; send it again.')
}

/** The body ended too early: the caller or a proxy disconnected. */
export function bodyCutShort(): ApiError {
  return invalidRequest('The request body was cut short.')
}

export function bodyWithoutItsLength(): ApiError {
  return invalidRequest('The length of the request body differs from its "Content-Length".')
}

const JSON_EXAMPLE = 'send {"domains": ["www.example.com"]}'

export function emptyBody(): ApiError {
  return invalidRequest(`The request body is empty; ${JSON_EXAMPLE}.`)
}

export function notJson(cause?: unknown): ApiError {
  return invalidRequest(`The request body is not valid JSON; ${JSON_EXAMPLE}.`, cause)
}

/** @param message A sentence that names the path of the mistake, such as `domains[3]`. */
export function invalidRequest(message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', message, { cause })
}

export function teamNotFound(): ApiError {
  return new ApiError('team_not_found', 'The team does not exist, or it does not belong to the caller.')
}

export function teamSuspended(): ApiError {
  return new ApiError('team_suspended', 'The team is suspended: it can neither register nor delete domains.')
}

/** @param excess The limit of the team, how many domains it has registered, and how many the call would add. */
export function domainLimitReached(excess: { maxDomains: number; teamCount: number; added: number }): ApiError {
  const { maxDomains, teamCount, added } = excess
  const limit = `${maxDomains} ${maxDomains === 1 ? 'domain' : 'domains'}`
  return new ApiError(
    'domain_limit_reached',
    `The team may have ${limit}. It has ${teamCount}, and this call would add ${added}.`,
  )
}

/** For valid calls that failed: the cause usually passes within moments, so the caller should retry after 5 seconds. */
const soon = { 'Retry-After': '5' }

/**
 * @param what A sentence that says what failed. The sentence must not claim that nothing was done, because a store that
 *   fails or times out may still have done its work.
 * @param cause Only for the application's log; never sent to the caller.
 */
export function internalError(what = 'The call could not be processed.', cause?: unknown): ApiError {
  return new ApiError('internal_error', `${what} Send the same call again: that is safe.`, { headers: soon, cause })
}

export function notSynchronized(cause?: unknown): ApiError {
  return new ApiError(
    'domain_registration_unavailable',
    'The domains were saved but are not yet synchronized. Send the same call again.',
    { headers: soon, cause },
  )
}

export function teamNotLookedUp(cause: unknown): ApiError {
  return internalError('The team could not be looked up; nothing was done.', cause)
}
