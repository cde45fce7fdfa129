/** Finds API keys in a table of MariaDB that has a column `hash`, and a `TEXT` column `record` with JSON. */
import type { KeyRecord, KeyStore } from 'domain-registration'
import type { Pool, RowDataPacket } from 'mysql2/promise'

export const createMariadbKeyStore = (database: Pool): KeyStore => ({
  async findKey(hash) {
    const [rows] = await database.execute<RowDataPacket[]>('SELECT record FROM api_keys WHERE hash = ?', [hash])
    return rows[0] ? toRecord(rows[0].record) : null
  },
})

function toRecord(json: string): KeyRecord {
  const { revokedAt, expiresAt, ...record } = JSON.parse(json)
  return { ...record, revokedAt: revokedAt && new Date(revokedAt), expiresAt: expiresAt && new Date(expiresAt) }
}
