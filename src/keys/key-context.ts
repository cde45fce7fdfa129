import { insufficientScope } from '../errors/call-errors.ts'

/**
 * All scopes: `domains:create` allows a key to register and preview, `domains:delete` to delete, and `domains:read` to
 * list and export.
 */
export const SCOPES = ['domains:create', 'domains:delete', 'domains:read'] as const

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number]

/** The caller, as {@link authenticate} or the application's own `authenticate` returns it. */
export type KeyContext =
  | { readonly type: 'organization'; readonly organizationId: string; readonly scopes: readonly string[] }
  | { readonly type: 'team'; readonly teamId: string; readonly scopes: readonly string[] }

/**
 * Rejects any value that is not a key context, so that a mistake in an application without types never gives a caller
 * access to another team.
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
 * Rejects a caller that lacks a scope.
 *
 * @throws {TypeError} if the value is not a key context.
 * @throws {ApiError} 403 `insufficient_scope`, with the challenge of RFC 6750, section 3.1.
 */
export function requireScope(keyContext: KeyContext, scope: Scope): void {
  requireKeyContext(keyContext)
  if (keyContext.scopes.includes(scope)) return
  throw insufficientScope(scope)
}
