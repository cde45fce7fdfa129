import { type KeyRow, keyColumns, toSelectList } from '../../sql/rows.ts'
import type { Tables } from '../schema.ts'
import { prepared, toMilliseconds, toTime } from './sql.ts'

export interface Hash {
  readonly hash: string
}

/**
 * Times are passed as numbers: in an `UPDATE`, not every engine accepts a string as a time, because the meaning of such
 * a string depends on settings.
 */
export function createKeyStatements({ keys }: Tables) {
  const row = toSelectList<KeyRow>({
    ...keyColumns,
    scopes: 'array_to_json(scopes)::text',
    createdAt: toMilliseconds('created_at'),
    revokedAt: toMilliseconds('revoked_at'),
    expiresAt: toMilliseconds('expires_at'),
  })
  return {
    find: prepared<KeyRow>('find_key', `SELECT ${row} FROM ${keys} WHERE hash = $1`),
    findSecurity: prepared<{ isActive: string }>(
      'find_security',
      'SELECT row_security_active($1::text)::text AS "isActive"',
    ),
    list: prepared<KeyRow>(
      'list_keys',
      `SELECT ${row} FROM ${keys} WHERE type = $1 AND owner_id = $2 ORDER BY created_at, hash`,
    ),
    add: prepared<Hash>(
      'add_key',
      `INSERT INTO ${keys} (hash, type, owner_id, scopes, label, hint, created_at, revoked_at, expires_at)
       VALUES ($1, $2, $3, $4::text[], $5, $6,
         coalesce(${toTime('$7::double precision')}, now()),
         ${toTime('$8::double precision')}, ${toTime('$9::double precision')})
       ON CONFLICT (hash) DO NOTHING RETURNING hash`,
    ),
    revoke: prepared<Hash>(
      'revoke_key',
      `UPDATE ${keys} SET revoked_at = coalesce(revoked_at, ${toTime('$2::double precision')})
       WHERE hash = $1 RETURNING hash`,
    ),
    update: prepared<Hash>(
      'update_key',
      `UPDATE ${keys} SET scopes = coalesce($2::text[], scopes),
         label = CASE WHEN $3::text::boolean THEN label ELSE $4::text END,
         expires_at = CASE WHEN $5::text::boolean THEN expires_at ELSE ${toTime('$6::double precision')} END
       WHERE hash = $1 RETURNING hash`,
    ),
  }
}
