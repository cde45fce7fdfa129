import type { DnsRecord } from '../rules/submitted.ts'
import { type Row, recordFields } from './rows.ts'

/** One look for a record, at the user's request. */
export interface Attempt {
  readonly at: Date
  /** The `reason` of the rejection, and its message. */
  readonly reason: string
  readonly message: string
}

/** A DNS record for which names of the list wait. */
export interface WantedRecord {
  readonly key: string
  readonly record: DnsRecord
  /** How many names wait for it. */
  readonly count: number
  readonly attempts: readonly Attempt[]
}

/** One entry for each record for which names wait, in the order of the rows. */
export function listRecords(
  rows: readonly Row[],
  attempts: ReadonlyMap<string, readonly Attempt[]>,
): readonly WantedRecord[] {
  const found = new Map<string, { record: DnsRecord; count: number }>()
  for (const { record } of rows) {
    if (!record) continue
    const key = keyOf(record)
    found.set(key, { record, count: (found.get(key)?.count ?? 0) + 1 })
  }
  return [...found].map(([key, each]) => ({ key, ...each, attempts: attempts.get(key) ?? [] }))
}

export const keyOf = ({ type, name, value }: DnsRecord): string => JSON.stringify([type, name, value])

/** All records as CSV (RFC 4180), with a header. */
export const toCsv = (records: readonly WantedRecord[]): string =>
  [recordFields, ...records.map(({ record }) => recordFields.map(field => record[field]))]
    .map(cells => `${cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`)
    .join('')
