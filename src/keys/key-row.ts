import { readOptionalTime, readTime } from '../runtime/read-value.ts'
import type { StoredKeyRecord } from './key-record.ts'

/** A key as a database returns it: drivers return arrays, dates and large numbers in different forms. */
export interface KeyRow extends Omit<StoredKeyRecord, 'scopes' | 'createdAt' | 'revokedAt' | 'expiresAt'> {
  /** As JSON. */
  readonly scopes: string
  /** In milliseconds since 1970, like the other dates. Some drivers return a string. */
  readonly createdAt: number | string
  readonly revokedAt: number | string | null
  readonly expiresAt: number | string | null
}

/** The column for each property of a row. All databases have the same columns. */
export const keyColumns = {
  hash: 'hash',
  type: 'type',
  ownerId: 'owner_id',
  scopes: 'scopes',
  label: 'label',
  hint: 'hint',
  createdAt: 'created_at',
  revokedAt: 'revoked_at',
  expiresAt: 'expires_at',
}

export const toStoredRecord = (row: KeyRow): StoredKeyRecord => ({
  ...row,
  scopes: JSON.parse(row.scopes),
  createdAt: readTime(row.createdAt),
  revokedAt: readOptionalTime(row.revokedAt),
  expiresAt: readOptionalTime(row.expiresAt),
})
