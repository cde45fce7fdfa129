import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { countRule, isFunction, optional, requireOptions } from '../options.ts'
import { ancestorsOf, isWildcard, type Name, wildcardOver } from '../rules/name.ts'
import type { Change, Registration } from '../rules/registration.ts'
import { type DomainStore, MOST_AT_ONCE } from '../store/contract.ts'
import { createCache } from '../time/cache.ts'
import { createDeadline, timeLimitRule } from '../time/deadline.ts'
import { requireMethod } from './call.ts'
import { coveringDomains, findCovering, findOwners, readHost } from './find-owners.ts'

/** Options of {@link createOwnerLookup}. */
export interface OwnerLookupOptions {
  /** For how many milliseconds an owner is remembered. Default 60,000. */
  ownerTime?: number | undefined
  /** For how many milliseconds it is remembered that a host has no owner. Default 10,000. */
  absenceTime?: number | undefined
  /** The maximum number of registrations that are remembered, and of hosts without an owner. Default 10,000 each. */
  maxRemembered?: number | undefined
  /** How many milliseconds to wait for the store. Default 5,000. */
  timeLimit?: number | undefined
  /** Called when the store fails. Default: logs to the console. */
  onError?: ((error: unknown) => unknown) | undefined
}

/** How many queries of the store run at once. */
const MOST_QUERIES = 4
/** How many hosts may wait for a query. */
const MOST_WAITING = 10_000
/** For how many milliseconds a host whose owner is known waits for the store. */
const PATIENCE = 250

interface WaitingHost {
  readonly domain: string
  resolve(registration: Registration | null): void
  reject(error: unknown): void
}

/** What {@link createOwnerLookup} returns. */
export interface OwnerLookup {
  /**
   * Finds the registration that covers a host.
   *
   * @param host The value of a `Host` header: in any case, with or without a port.
   * @returns `null` if no registration covers the host, or it is not a hostname.
   * @throws The failure of the store, if nothing is remembered about the host; also if 10,000 other hosts wait.
   */
  find(host: string): Promise<Registration | null>
  /** Forgets what changes concern. Call it from your store's `synchronize`. */
  forget(changes: readonly Pick<Change, 'domain'>[]): void
}

/**
 * Creates a lookup of the team to which a request belongs, by its `Host` header. It remembers what it found, so most
 * requests do not query the store:
 *
 * - It remembers registrations, not hosts. A wildcard is remembered once, so hosts that somebody makes up below it
 *   displace nothing. Hosts without an owner are remembered apart, so they displace no owner either.
 * - At most four queries run at once. Hosts that come meanwhile share the next one, so a flood of made-up hosts is a
 *   few queries.
 * - If the store fails, it returns what it last knew about the host, however old. If it is slow, a host with a known
 *   owner waits for a quarter of a second.
 *
 * A change of another process shows once the time has passed, unless {@link OwnerLookup.forget} hears of it.
 *
 * @param store A bundled store, or one that has the method `find`.
 * @throws {TypeError} if the store has no `find`, or an option is invalid or unknown.
 *
 * @example
 * const owners = createOwnerLookup(store)
 * const registration = await owners.find('shop.example.com:8443')
 * registration?.teamId // '1', which has registered *.example.com
 */
export function createOwnerLookup(store: DomainStore, options: OwnerLookupOptions = {}): OwnerLookup {
  requireMethod(store, 'find')
  requireOptions(options, {
    ownerTime: timeLimitRule,
    absenceTime: timeLimitRule,
    maxRemembered: countRule,
    timeLimit: timeLimitRule,
    onError: { holds: optional(isFunction), expected: 'a function that takes an error' },
  })
  const { ownerTime = 60_000, absenceTime = 10_000, maxRemembered = 10_000, timeLimit = 5000 } = options
  const log = createFailureLog()
  const report = ignoreErrors(options.onError ?? ((error: unknown) => log(error, { step: 'looking up an owner' })))
  /** By the registered name, which may be a wildcard. */
  const owners = createCache<Registration>(maxRemembered)
  /** By the host. */
  const absences = createCache<null>(maxRemembered)
  /** By the host. */
  const asked = new Map<string, Promise<Registration | null>>()
  const waiting = new Set<WaitingHost>()
  let running = 0

  /** @returns `undefined` if nothing is known about the name. */
  function recall(name: Name, isFresh: boolean): Registration | null | undefined {
    return findCovering(name, { get: domain => owners.get(domain, isFresh) }) ?? absences.get(name.domain, isFresh)
  }

  function remember(name: Name, registration: Registration | null, time: number): void {
    // Registrations do not overlap, so whatever else was known to cover the name is gone.
    for (const domain of coveringDomains(name)) owners.delete(domain)
    absences.delete(name.domain)
    if (registration) owners.set(registration.domain, registration, time)
    else absences.set(name.domain, null, Math.min(time, absenceTime))
  }

  async function query(hosts: readonly WaitingHost[]): Promise<void> {
    running += 1
    try {
      const domains = hosts.map(({ domain }) => domain)
      const owners = await createDeadline(timeLimit).wait(findOwners(store, domains))
      for (const [index, { resolve }] of hosts.entries()) resolve(owners[index]?.registration ?? null)
    } catch (error) {
      report(error)
      for (const { reject } of hosts) reject(error)
    } finally {
      running -= 1
      queryNext()
    }
  }

  function queryNext(): void {
    if (running === MOST_QUERIES || waiting.size === 0) return
    const hosts: WaitingHost[] = []
    for (const host of waiting) {
      if (hosts.length === MOST_AT_ONCE) break
      waiting.delete(host)
      hosts.push(host)
    }
    query(hosts)
  }

  /** Waits for a query, and its answer, in all for the time limit. */
  async function askStore(domain: string): Promise<Registration | null> {
    if (waiting.size >= MOST_WAITING) throw new Error(`${MOST_WAITING} other hosts wait for the store`)
    let host: WaitingHost | undefined
    const answer = new Promise<Registration | null>((resolve, reject) => {
      host = { domain, resolve, reject }
      waiting.add(host)
    })
    queryNext()
    try {
      return await createDeadline(timeLimit).wait(answer)
    } finally {
      if (host) waiting.delete(host)
    }
  }

  async function ask(name: Name): Promise<Registration | null> {
    const { domain } = name
    const isWanted = () => asked.get(domain) === answer
    const answer = (async () => {
      try {
        const registration = await askStore(domain)
        // If a change came in the meantime, the answer may be older than the change.
        if (isWanted()) remember(name, registration, ownerTime)
        return registration
      } catch (error) {
        const known = recall(name, false)
        if (known === undefined) throw error
        // Without this, every request would wait for a store that is down.
        if (isWanted()) remember(name, known, absenceTime)
        return known
      } finally {
        if (isWanted()) asked.delete(domain)
      }
    })()
    asked.set(domain, answer)
    return answer
  }

  /** Returns what was known before if the store does not answer within a moment. */
  async function askBriefly(name: Name, known: Registration, answer: Promise<Registration | null>) {
    try {
      return await createDeadline(PATIENCE).wait(answer)
    } catch {
      if (asked.get(name.domain) === answer) remember(name, known, absenceTime)
      return known
    }
  }

  return {
    async find(host) {
      const name = typeof host === 'string' ? readHost(host) : null
      if (!name || isWildcard(name.domain)) return null
      const known = recall(name, true)
      if (known !== undefined) return known
      const answer = asked.get(name.domain) ?? ask(name)
      const old = recall(name, false)
      return old ? askBriefly(name, old, answer) : answer
    },
    forget(changes) {
      const domains = new Set(changes.map(({ domain }) => domain))
      const isBelow = (host: string) => ancestorsOf(host).some(base => domains.has(wildcardOver(base)))
      // Only a wildcard concerns other hosts than itself.
      const hosts = [...domains].some(isWildcard) ? [...absences.keys(), ...asked.keys()].filter(isBelow) : []
      for (const domain of [...domains, ...hosts]) {
        owners.delete(domain)
        absences.delete(domain)
        asked.delete(domain)
      }
    },
  }
}
