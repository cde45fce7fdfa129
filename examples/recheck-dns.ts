import { eachRegistration, type ManagedStore } from 'domain-registration'
import type { DnsVerification } from 'domain-registration/dns-verification'

/** How long a team may be without its record before its names are released. */
const GRACE = 30 * 24 * 3600 * 1000

/** Where your application remembers which records are missing: a table with the key (team_id, domain). */
export interface MissingRecords {
  /** Since when the record is missing, or `null`. */
  since(teamId: string, domain: string): Promise<Date | null>
  /** Remembers it, and tells the team, once. */
  begin(teamId: string, domain: string, now: Date): Promise<void>
  end(teamId: string, domain: string): Promise<void>
}

export interface RecheckOptions {
  readonly missing: MissingRecords
  /** Names that your staff let through without a record. */
  isExempt(teamId: string, domain: string): boolean | Promise<boolean>
  readonly now?: Date
}

/**
 * Verifies all registrations again; run it once a day. A team whose record is missing is told at once, and the names
 * that nothing proves are released after 30 days. What the DNS does not answer, or what no record can prove, changes
 * nothing.
 */
export async function recheck(
  store: ManagedStore,
  verification: DnsVerification,
  { missing, isExempt, now = new Date() }: RecheckOptions,
): Promise<{ missing: number; released: number; unreachable: number }> {
  const result = { missing: 0, released: 0, unreachable: 0 }
  for (const { teamId, zone, domains } of await groupByZone(store)) {
    const { unproven, isUnreachable } = await findUnproven(verification, teamId, zone, domains)
    const wanting = []
    for (const domain of unproven) if (!(await isExempt(teamId, domain))) wanting.push(domain)
    if (isUnreachable) result.unreachable += 1
    else if (wanting.length === 0) await missing.end(teamId, zone)
    else {
      result.missing += 1
      const since = await missing.since(teamId, zone)
      if (!since) await missing.begin(teamId, zone, now)
      else if (now.getTime() - since.getTime() >= GRACE) {
        for (const batch of toBatches(wanting, 1000)) result.released += (await store.release(teamId, batch)).length
        await missing.end(teamId, zone)
      }
    }
  }
  return result
}

async function findUnproven(verification: DnsVerification, teamId: string, zone: string, domains: readonly string[]) {
  const unproven: string[] = []
  const [whole] = await verification.verify(teamId, [zone])
  if (whole?.status === 'verified') return { unproven, isUnreachable: false }
  for (const batch of toBatches(domains, 100)) {
    for (const { domain, status } of await verification.verify(teamId, batch)) {
      if (status === 'unreachable') return { unproven, isUnreachable: true }
      if (status === 'missing') unproven.push(domain)
    }
  }
  return { unproven, isUnreachable: false }
}

/** All names by team and registrable domain: if the record is there, one query is enough for all of a group. */
async function groupByZone(store: ManagedStore) {
  const groups = new Map<string, { teamId: string; zone: string; domains: string[] }>()
  for await (const { teamId, registrableDomain: zone, domain } of eachRegistration(store)) {
    const key = JSON.stringify([teamId, zone])
    const group = groups.get(key) ?? { teamId, zone, domains: [] }
    group.domains.push(domain)
    groups.set(key, group)
  }
  return groups.values()
}

function* toBatches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
