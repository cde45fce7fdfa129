import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { countRule, isFunction, optional, requireOptions } from '../options.ts'
import { ancestorsOf, isWildcard, type Name, wildcardOver } from '../rules/name.ts'
import type { Change, Registration } from '../rules/registration.ts'
import type { DomainStore } from '../store/contract.ts'
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

/** What {@link createOwnerLookup} returns. */
export interface OwnerLookup {
  /**
   * Finds the registration that covers a host.
   *
   * @param host The value of a `Host` header: in any case, with or without a port.
   * @returns `null` if no registration covers the host, or it is not a hostname.
   * @throws The failure of the store, if nothing is remembered about the host.
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
 * - Simultaneous questions about a host are one query.
 * - If the store fails, it returns what it last knew about the host, however old.
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
  const owners = createMemory<Registration>(maxRemembered)
  /** By the host. */
  const absences = createMemory<null>(maxRemembered)
  const running = new Map<string, Promise<Registration | null>>()

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

  async function ask(name: Name): Promise<Registration | null> {
    const { domain } = name
    const isWanted = () => running.get(domain) === asked
    const asked = (async () => {
      try {
        const [owner] = await createDeadline(timeLimit).wait(findOwners(store, [domain]))
        const registration = owner?.registration ?? null
        // If a change came in the meantime, the answer may be older than the change.
        if (isWanted()) remember(name, registration, ownerTime)
        return registration
      } catch (error) {
        report(error)
        const known = recall(name, false)
        if (known === undefined) throw error
        // Without this, every request would wait for a store that is down.
        if (isWanted()) remember(name, known, absenceTime)
        return known
      } finally {
        if (isWanted()) running.delete(domain)
      }
    })()
    running.set(domain, asked)
    return asked
  }

  return {
    async find(host) {
      const name = typeof host === 'string' ? readHost(host) : null
      if (!name || isWildcard(name.domain)) return null
      const known = recall(name, true)
      return known === undefined ? (running.get(name.domain) ?? ask(name)) : known
    },
    forget(changes) {
      const domains = new Set(changes.map(({ domain }) => domain))
      const isConcerned = (domain: string) =>
        domains.has(domain) || ancestorsOf(domain).some(base => domains.has(wildcardOver(base)))
      for (const domain of domains) owners.delete(domain)
      for (const domain of [...absences.keys(), ...running.keys()].filter(isConcerned)) {
        absences.delete(domain)
        running.delete(domain)
      }
    },
  }
}

/** A map with at most `most` entries, of which it drops the one that was not used for the longest time. */
function createMemory<Value>(most: number) {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>()
  return {
    /** @param isFresh Whether the value counts only until its time is over. */
    get(key: string, isFresh: boolean): Value | undefined {
      const entry = entries.get(key)
      if (!entry || (isFresh && performance.now() >= entry.until)) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key: string, value: Value, time: number): void {
      entries.set(key, { value, until: performance.now() + time })
      const [oldest] = entries.keys()
      if (entries.size > most && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key: string) => entries.delete(key),
    keys: () => entries.keys(),
  }
}
