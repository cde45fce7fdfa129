import type { DnsRecord } from '../../rules/submitted.ts'

/** A name that waits for a DNS record. */
interface UnprovenName {
  /** What is sent to check or register it. */
  readonly text: string
  readonly record?: DnsRecord | undefined
  /** Why it was rejected the last time, in the words of the service. */
  readonly message?: string | undefined
  /** When the service looked for it, and when it looks again by itself. */
  readonly lastTried?: Date | undefined
  readonly nextTry?: Date | undefined
}

/** A DNS record for which names wait: of all these, the last look and the next one. */
export interface WantedRecord extends Omit<UnprovenName, 'text'> {
  readonly key: string
  readonly record: DnsRecord
  readonly texts: readonly string[]
}

/** One entry for each record for which names wait, in their order. */
export function listRecords(names: readonly UnprovenName[]): readonly WantedRecord[] {
  const found = new Map<string, WantedRecord & { readonly texts: string[] }>()
  for (const { text, ...name } of names) {
    const { record } = name
    if (!record) continue
    const key = JSON.stringify([record.type, record.name, record.value])
    const known = found.get(key)
    known?.texts.push(text)
    const isLater = (name.lastTried?.getTime() ?? 0) > (known?.lastTried?.getTime() ?? 0)
    const nextTry = known?.nextTry && name.nextTry && known.nextTry < name.nextTry ? known.nextTry : name.nextTry
    found.set(key, {
      ...(known && !isLater ? known : { ...name, record }),
      ...{ key, nextTry, texts: known?.texts ?? [text] },
    })
  }
  return [...found.values()]
}

const recordFields = ['zone', 'type', 'host', 'name', 'value'] as const

/** All records as CSV (RFC 4180), with a header. */
export const toCsv = (records: readonly WantedRecord[]): string =>
  [recordFields, ...records.map(({ record }) => recordFields.map(field => record[field]))]
    .map(cells => `${cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`)
    .join('')
