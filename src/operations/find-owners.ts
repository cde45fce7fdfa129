import { ancestorsOf, type Name, wildcardOver } from '../rules/name.ts'
import { covers } from '../rules/overlap.ts'
import type { Registration } from '../rules/registration.ts'
import { toName } from '../rules/submitted.ts'
import { type DomainStore, MOST_AT_ONCE } from '../store/contract.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { requireMethod } from './call.ts'

/** The owner of a hostname. */
export interface HostnameOwner {
  /** The hostname as it was passed. */
  readonly hostname: string
  /** The registration of the name itself or of a wildcard that covers it; `null` if there is none. */
  readonly registration: Registration | null
}

/**
 * Finds the registration that covers each hostname: its own registration, or the registration of a wildcard above it.
 * At most one registration covers a hostname, because registrations do not overlap. Use this function for alerts
 * ("whose hostname is this?") and in support. The function looks up exact names in the store, in batches.
 *
 * @param hostnames In any spelling that {@link classifyHostname} accepts. A string that is not a hostname has no
 *   registration.
 * @returns One entry for each hostname, in the same order.
 * @throws {TypeError} if the store has no `find`, or the hostnames are not an array of strings.
 * @throws The failure of the store.
 *
 * @example
 * const [owner] = await findOwners(store, ['api.eu.example.com'])
 * owner?.registration?.teamId // '1', which has registered *.example.com
 */
export async function findOwners(store: DomainStore, hostnames: readonly string[]): Promise<readonly HostnameOwner[]> {
  const find = requireMethod(store, 'find')
  if (!Array.isArray(hostnames) || !hostnames.every(hostname => typeof hostname === 'string'))
    throw new TypeError('The hostnames must be an array of strings')
  const owners: HostnameOwner[] = []
  for (let start = 0; start < hostnames.length; start += MOST_AT_ONCE) {
    if (start > 0) await letOthersRun()
    const batch = hostnames.slice(start, start + MOST_AT_ONCE).map(hostname => ({ hostname, name: toName(hostname) }))
    const domains = new Set(batch.flatMap(({ name }) => (name ? coveringDomains(name) : [])))
    const { registrations } = await find({ teamId: '', domains: [...domains], bases: [] })
    const found = new Map(registrations.map(registration => [registration.domain, registration]))
    for (const { hostname, name } of batch)
      owners.push({ hostname, registration: name ? findCovering(name, found) : null })
  }
  return owners
}

/** The names that cover a name: itself and the wildcards above it, nearest first. */
const coveringDomains = ({ domain }: Name): readonly string[] => [domain, ...ancestorsOf(domain).map(wildcardOver)]

function findCovering(name: Name, found: ReadonlyMap<string, Registration>): Registration | null {
  const registrations = coveringDomains(name).flatMap(domain => found.get(domain) ?? [])
  return registrations.find(({ domain }) => domain === name.domain || covers(domain, name)) ?? null
}
