import { eachRegistration, type ManagedStore } from 'domain-registration'
import type { DnsVerification } from 'domain-registration/dns-verification'

/** A team is told after this many looks in a row that did not find its record: one look may be wrong. */
const LOOKS_BEFORE_TELLING = 3
/** Its names are released after this many looks and this time. */
const LOOKS_BEFORE_RELEASE = 7
const GRACE = 30 * 24 * 3600 * 1000

/** Since when a record is missing, and how many looks have not found it. */
export interface MissingRecord {
  readonly since: Date
  readonly looks: number
}

/** Where your application remembers which records are missing: a table with the key (team_id, domain). */
export interface MissingRecords {
  /** Returns `null` if the last look found the record. */
  find(teamId: string, domain: string): Promise<MissingRecord | null>
  save(teamId: string, domain: string, record: MissingRecord): Promise<void>
  remove(teamId: string, domain: string): Promise<void>
  /** Tells the team that its record is missing. Rarely, it is called twice. */
  tell(teamId: string, domain: string): Promise<void>
}

export interface RecheckOptions {
  readonly missing: MissingRecords
  /** Names that your staff let through without a record. */
  isExempt(teamId: string, domain: string): boolean | Promise<boolean>
  readonly now?: Date
  /** Whether many records may vanish at once, because you know why. */
  readonly isExpected?: boolean
}

/**
 * Verifies all registrations again; run it once a day. A team whose record is missing is told, and the names that
 * nothing proves are released, but no single look is believed. What the DNS does not answer, or what no record can
 * prove, changes nothing.
 *
 * @returns Also who still has a record of a former secret.
 * @throws if so many records vanish at once that the resolver must be wrong. Then nothing has changed.
 */
export async function recheck(
  store: ManagedStore,
  verification: DnsVerification,
  { missing, isExempt, now = new Date(), isExpected = false }: RecheckOptions,
) {
  const result = { missing: 0, released: 0, unreachable: 0, old: [] as { teamId: string; zone: string }[] }
  const seen = []
  let fine = 0
  let vanished = 0
  for (const { teamId, zone, domains } of await groupByZone(store)) {
    const { unproven, isUnreachable, isOld } = await look(verification, teamId, zone, domains)
    if (isOld) result.old.push({ teamId, zone })
    if (isUnreachable) {
      result.unreachable += 1
      continue
    }
    const wanting: string[] = []
    for (const domain of unproven) if (!(await isExempt(teamId, domain))) wanting.push(domain)
    const row = await missing.find(teamId, zone)
    if (!row) fine += 1
    if (!row && wanting.length > 0) vanished += 1
    seen.push({ teamId, zone, wanting, row })
  }
  if (!isExpected && vanished > 10 && vanished > fine / 4)
    throw new Error(`${vanished} of ${fine} records have vanished since the last run; does the resolver work?`)
  for (const { teamId, zone, wanting, row } of seen) {
    if (wanting.length === 0) {
      if (row) await missing.remove(teamId, zone)
      continue
    }
    result.missing += 1
    const since = row?.since ?? now
    const looks = (row?.looks ?? 0) + 1
    if (looks >= LOOKS_BEFORE_RELEASE && now.getTime() - since.getTime() >= GRACE) {
      for (const batch of toBatches(wanting, 1000)) result.released += (await store.release(teamId, batch)).length
      await missing.remove(teamId, zone)
    } else {
      if (looks === LOOKS_BEFORE_TELLING) await missing.tell(teamId, zone)
      await missing.save(teamId, zone, { since, looks })
    }
  }
  return result
}

async function look(verification: DnsVerification, teamId: string, zone: string, domains: readonly string[]) {
  const found = { unproven: [] as string[], isUnreachable: false, isOld: false }
  const [whole] = await verification.verify(teamId, [zone])
  if (whole?.status === 'verified') return { ...found, isOld: whole.secret > 0 }
  if (whole?.status === 'unreachable') return { ...found, isUnreachable: true }
  for (const batch of toBatches(domains, 100)) {
    for (const each of await verification.verify(teamId, batch)) {
      if (each.status === 'unreachable') return { ...found, isUnreachable: true }
      if (each.status === 'missing') found.unproven.push(each.domain)
      if (each.status === 'verified' && each.secret > 0) found.isOld = true
    }
  }
  return found
}

/** All names by zone and team. The teams of one zone follow one another, so a zone that is silent is asked once. */
async function groupByZone(store: ManagedStore) {
  const groups = new Map<string, { teamId: string; zone: string; domains: string[] }>()
  for await (const { teamId, registrableDomain: zone, domain } of eachRegistration(store)) {
    const key = JSON.stringify([teamId, zone])
    const group = groups.get(key) ?? { teamId, zone, domains: [] }
    group.domains.push(domain)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => (a.zone < b.zone ? -1 : Number(a.zone > b.zone)))
}

function* toBatches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
