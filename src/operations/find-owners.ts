import { classifyHostname, type InvalidHostname } from '../hostname/classify.ts'
import { baseOf, isWildcard, type Name, wildcardsAbove } from '../rules/name.ts'
import { covers } from '../rules/overlap.ts'
import { NO_CALLING_TEAM, type Registration } from '../rules/registration.ts'
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
  /**
   * For a wildcard that no registration covers: the registrations of any team below it, sorted by name, at most 1,000.
   * Registering the wildcard conflicts with them. Missing if there are none, or the store has no `list`.
   */
  readonly below?: readonly Registration[] | undefined
  /** Why the string is not a hostname that could be registered. Missing if there is a registration. */
  readonly rejection?: InvalidHostname | undefined
}

/**
 * Finds the registration that covers each hostname: its own registration, or the registration of a wildcard above it.
 * At most one registration covers a hostname, because registrations do not overlap. Use this function for alerts
 * ("whose hostname is this?") and in support. The function looks up exact names in the store, in batches.
 *
 * @param hostnames In any spelling that {@link classifyHostname} accepts, and also with a port. A string that is not a
 *   hostname has no registration.
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
  const list = store.list?.bind(store)
  const owners: HostnameOwner[] = []
  for (let start = 0; start < hostnames.length; start += MOST_AT_ONCE) {
    if (start > 0) await letOthersRun()
    const batch = hostnames.slice(start, start + MOST_AT_ONCE).map(hostname => ({ hostname, name: readHost(hostname) }))
    const domains = [...new Set(batch.flatMap(({ name }) => name?.domain ?? []))]
    const { registrations } = await find({ teamId: NO_CALLING_TEAM, domains, covered: domains, bases: [] })
    const found = new Map(registrations.map(registration => [registration.domain, registration]))
    for (const { hostname, name } of batch) {
      const registration = name ? findCovering(name, found) : null
      owners.push({ hostname, registration, ...(!registration && (await explainNone(hostname, name, list))) })
    }
  }
  return owners
}

/** Reads a hostname, perhaps with a port: the value of a `Host` header (RFC 9110, section 7.2). */
export const readHost = (text: string): Name | null => toName(dropPort(text))

const dropPort = (text: string) => text.trim().replace(/^([^:]*|\[[^\]]*\]):\d*$/, '$1')

async function explainNone(
  hostname: string,
  name: Name | null,
  list: DomainStore['list'],
): Promise<Pick<HostnameOwner, 'below' | 'rejection'>> {
  const classified = classifyHostname(dropPort(hostname))
  const rejection = classified.valid ? {} : { rejection: classified }
  if (!name || !isWildcard(name.domain) || !list) return rejection
  const below = (await list({ below: baseOf(name.domain), limit: MOST_AT_ONCE })).filter(({ domain }) => {
    const each = toName(domain)
    return each !== null && covers(name.domain, each)
  })
  return below.length > 0 ? { ...rejection, below } : rejection
}

/** The names that cover a name: itself and the wildcards above it, nearest first. */
export const coveringDomains = ({ domain }: Name): readonly string[] => [domain, ...wildcardsAbove(domain)]

/** @param found The registrations by their domain. */
export function findCovering(
  name: Name,
  found: { get(domain: string): Registration | undefined },
): Registration | null {
  const registrations = coveringDomains(name).flatMap(domain => found.get(domain) ?? [])
  return registrations.find(({ domain }) => domain === name.domain || covers(domain, name)) ?? null
}
