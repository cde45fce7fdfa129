import { internalError, unauthorized } from '../errors/call-errors.ts'
import { requireOptions } from '../options.ts'
import { trace } from '../runtime/tracing.ts'
import { type ApiKeyOptions, apiKeyRules, hashApiKey, parseApiKey } from './api-key.ts'
import type { KeyContext } from './key-context.ts'
import { type KeyRecord, requireFoundRecord } from './key-record.ts'
import type { KeyStore } from './key-store.ts'

/**
 * Identifies the caller by an `Authorization` header: `Bearer <API key>`. The scheme is case-insensitive (RFC 9110,
 * section 11.1).
 *
 * The key is looked up by its SHA-256, so the time of a lookup does not reveal how close a guess was.
 *
 * @param authorizationHeader The value of the header; `null` or `undefined` if the request has none.
 * @returns The owner and the scopes of the key. The operation checks whether the scopes suffice.
 * @throws {ApiError} 401 `unauthorized` if the key is missing, malformed, unknown, expired or revoked, or if its prefix
 *   does not match its record. The message does not say which of these reasons applies. 500 `internal_error` if the key
 *   store fails or returns something other than a {@link KeyRecord}. The cause says why.
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * const keyContext = await authenticate(request.headers.authorization, keys)
 */
export async function authenticate(
  authorizationHeader: string | null | undefined,
  keys: KeyStore,
  options: ApiKeyOptions = {},
): Promise<KeyContext> {
  requireOptions(options, apiKeyRules)
  return toKeyContext(await findKeyRecord(authorizationHeader, keys, options))
}

/** Like {@link authenticate}, but returns the record of the key. The `hash` of the record identifies the key. */
export const findKeyRecord = (
  authorizationHeader: string | null | undefined,
  keys: KeyStore,
  options: ApiKeyOptions = {},
): Promise<KeyRecord> =>
  trace('authenticate', async context => {
    const token = readBearerToken(authorizationHeader)
    const key = parseApiKey(token, options)
    if (!key) throw unauthorized({ tokenSent: true })
    const hash = await hashApiKey(token)
    const record = await findRecord(keys, hash)
    if (!record || record.hash !== hash || record.type !== key.type || record.ownerId !== key.id || !isActive(record))
      throw unauthorized({ tokenSent: true })
    if (record.type === 'team') context.teamId = record.ownerId
    if (record.label) context.keyLabel = record.label
    return record
  })

async function findRecord(keys: KeyStore, hash: string): Promise<KeyRecord | null | undefined> {
  try {
    const record: KeyRecord | null | undefined = await keys.findKey(hash)
    if (record !== null && record !== undefined) requireFoundRecord(record)
    return record
  } catch (cause) {
    throw internalError('The API key could not be checked.', cause)
  }
}

function isActive({ revokedAt, expiresAt }: KeyRecord): boolean {
  if (revokedAt) return false
  return !expiresAt || expiresAt.getTime() > Date.now()
}

export function toKeyContext({ type, ownerId, scopes }: KeyRecord): KeyContext {
  return type === 'organization' ? { type, organizationId: ownerId, scopes } : { type, teamId: ownerId, scopes }
}

function readBearerToken(header: string | null | undefined): string {
  const token = /^bearer +([^ ].*)/is.exec(header ?? '')?.[1]?.trimEnd()
  if (!token) throw unauthorized({ tokenSent: false })
  return token
}
