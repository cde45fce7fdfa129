import type { KeyRecord, StoredKeyRecord } from './key-record.ts'

/** A key as a database returns it. */
export interface KeyRow {
  readonly hash: string
  readonly type: KeyRecord['type']
  readonly owner_id: string
  /** As JSON, with times in Unix milliseconds, because drivers read arrays and dates differently. */
  readonly scopes: string
  readonly label: string | null
  readonly hint: string | null
  readonly created_at: number
  readonly revoked_at: number | null
  readonly expires_at: number | null
}

export const toStoredRecord = (row: KeyRow): StoredKeyRecord => ({
  hash: row.hash,
  type: row.type,
  ownerId: row.owner_id,
  scopes: JSON.parse(row.scopes),
  label: row.label,
  hint: row.hint,
  createdAt: new Date(row.created_at),
  revokedAt: toDate(row.revoked_at),
  expiresAt: toDate(row.expires_at),
})

const toDate = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds))
