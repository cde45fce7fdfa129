import type { DnsRecord } from '../rules/submitted.ts'
import { isWrong, type Row, recordOf } from './rows.ts'

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

/** The looks for records. Rows are checked again for one record at a time. */
export class Records {
  readonly #attempts = new Map<string, Attempt[]>()
  /** The rows that are being checked again. They are shown with their record until the result is known. */
  #checked: { readonly key: string; readonly record: DnsRecord; readonly ids: ReadonlySet<number> } | undefined

  /** One entry for each record, in the order of the rows. */
  list(rows: readonly Row[]): readonly WantedRecord[] {
    const found = new Map<string, { record: DnsRecord; count: number }>()
    for (const row of rows) {
      const checked = this.#checked?.ids.has(row.id) && row.state === 'unchecked' ? this.#checked.record : undefined
      const record = checked ?? (row.state === 'waiting' ? recordOf(row) : undefined)
      if (!record) continue
      const key = keyOf(record)
      found.set(key, { record, count: (found.get(key)?.count ?? 0) + 1 })
    }
    return [...found].map(([key, each]) => ({ key, ...each, attempts: this.#attempts.get(key) ?? [] }))
  }

  /** @returns The rows to check again. */
  begin(rows: readonly Row[], { key, record }: WantedRecord): (row: Row) => boolean {
    const waiting = rows.filter(row => row.state === 'waiting' && keyOf(recordOf(row) as DnsRecord) === key)
    const ids = new Set(waiting.map(({ id }) => id))
    this.#checked = { key, record, ids }
    return ({ id }) => ids.has(id)
  }
  /** @returns What the look has found; `unknown` if the names could not be checked. */
  end(rows: readonly Row[], at: Date): 'found' | 'missing' | 'unknown' {
    const { key, ids } = this.#checked ?? { key: '', ids: new Set() }
    this.#checked = undefined
    const row = rows.find(row => ids.has(row.id) && row.state === 'waiting')
    if (!row || !isWrong(row))
      return rows.some(({ id, state }) => ids.has(id) && state === 'unchecked') ? 'unknown' : 'found'
    const { message } = row.rejection
    const reason = 'reason' in row.rejection ? row.rejection.reason : ''
    this.#attempts.set(key, [...(this.#attempts.get(key) ?? []), { at, reason, message }])
    return 'missing'
  }
}

const keyOf = ({ type, name, value }: DnsRecord): string => JSON.stringify([type, name, value])

const COLUMNS = ['zone', 'type', 'host', 'name', 'value'] as const

/** All records as CSV (RFC 4180), with a header. */
export const toCsv = (records: readonly WantedRecord[]): string =>
  [COLUMNS, ...records.map(({ record }) => COLUMNS.map(column => record[column]))]
    .map(cells => `${cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`)
    .join('')
