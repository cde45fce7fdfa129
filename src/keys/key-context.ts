import { ApiError } from '../errors.ts'

/** The scope that a key must hold to register domains. */
export const REQUIRED_SCOPE = 'domains:create'

/** Who is calling, as proved by an API key: what {@link authenticate} returns and a host's own check may make. */
export type KeyContext =
  | { readonly type: 'organization'; readonly organizationId: string; readonly scopes: readonly string[] }
  | { readonly type: 'team'; readonly teamId: string; readonly scopes: readonly string[] }

/**
 * Refuses what is no key context: a host's own check may be written without types, and what it gets wrong must not let
 * a caller into a team that is not its own.
 */
export function requireKeyContext(keyContext: KeyContext): void {
  const owner = keyContext?.type === 'organization' ? keyContext.organizationId : keyContext?.teamId
  const isKnownType = keyContext?.type === 'organization' || keyContext?.type === 'team'
  if (isKnownType && typeof owner === 'string' && owner !== '' && Array.isArray(keyContext.scopes)) return
  throw new TypeError(
    'A key context is { type: "organization", organizationId, scopes } or { type: "team", teamId, scopes }, ' +
      'with an array of scopes',
  )
}

/**
 * Refuses a key without the scope `domains:create`.
 *
 * @throws {TypeError} for what is no key context at all.
 * @throws {ApiError} 403 `insufficient_scope`, with the challenge of RFC 6750, section 3.1.
 */
export function requireScope(keyContext: KeyContext): void {
  requireKeyContext(keyContext)
  if (keyContext.scopes.includes(REQUIRED_SCOPE)) return
  throw insufficientScope()
}

export function insufficientScope(): ApiError {
  return new ApiError(
    'insufficient_scope',
    `The API key lacks the scope ${REQUIRED_SCOPE}; send a key that holds it.`,
    { headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${REQUIRED_SCOPE}"` } },
  )
}
