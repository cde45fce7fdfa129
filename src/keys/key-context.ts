import { ApiError } from '../errors.ts'

/** The scope that a key must hold to register domains. */
export const REQUIRED_SCOPE = 'domains:create'

/** Who is calling, as proved by an API key: what {@link authenticate} returns and a host's own check may make. */
export type KeyContext =
  | { readonly type: 'organization'; readonly organizationId: string; readonly scopes: readonly string[] }
  | { readonly type: 'team'; readonly teamId: string; readonly scopes: readonly string[] }

/**
 * Refuses a key without the scope `domains:create`.
 *
 * @throws {ApiError} 403 `insufficient_scope`, with the challenge of RFC 6750, section 3.1.
 */
export function requireScope(keyContext: KeyContext): void {
  if (keyContext.scopes.includes(REQUIRED_SCOPE)) return
  throw new ApiError('insufficient_scope', `The API key lacks the scope ${REQUIRED_SCOPE}; send a key that holds it.`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${REQUIRED_SCOPE}"` },
  })
}
