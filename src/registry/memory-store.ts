import type { Awaitable } from '../awaitable.ts'
import { classifyHostname } from '../hostname/classify.ts'
import { isWildcard, type Name } from './name.ts'
import type { Below, DomainStore, Registration, Team } from './store.ts'
import { createUuidGenerator } from './uuid.ts'

export interface MemoryStoreOptions {
  teams?: readonly Team[]
  /**
   * Pushes registrations to what does the monitoring. May be called again with the same ones: it must be idempotent on
   * `domainId`. While it rejects, calls that registered something answer 503. Without it there is nothing to push to.
   */
  synchronize?: (registrations: readonly Registration[]) => Awaitable<void>
}

/** A store in memory, with what a host needs beside it. */
export interface MemoryStore extends DomainStore {
  /** Adds a team, or replaces the one with the same ID: that is how to suspend it. */
  addTeam(team: Team): void
  /**
   * Pushes what is saved and not yet synchronized, oldest first: for a timer of the host, so that nothing waits for a
   * caller to retry.
   *
   * @returns How many registrations were pushed.
   */
  synchronizePending(options?: { limit?: number }): Promise<number>
  /**
   * Gives up registrations of a team, so that the names are free again. Names that the team does not hold are passed over.
   *
   * @param domains In any spelling that registers them.
   * @returns What was given up.
   */
  release(teamId: string, domains: readonly string[]): Registration[]
}

/**
 * Makes a store in memory: the embedded default, atomic because `decide` is synchronous. What it holds ends with the
 * process.
 *
 * @example
 * const store = createMemoryStore({ teams: [{ id: '1', organizationId: '7', state: 'active' }] })
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { synchronize: push } = options
  const teams = new Map(options.teams?.map(team => [team.id, team]))
  /** Registrations by domain, by registrable domain. */
  const zones = new Map<string, Map<string, Registration>>()
  /** Not yet synchronized, by ID, oldest first. */
  const pending = new Map<string, Registration>()
  const createId = createUuidGenerator()

  function find({ domain, registrableDomain }: Name): Registration[] {
    const registration = zones.get(registrableDomain)?.get(domain)
    return registration ? [registration] : []
  }

  function findBelow(base: Name, teamId: string): Below {
    const below = [...(zones.get(base.registrableDomain)?.values() ?? [])].filter(registration =>
      isBelow(registration, base),
    )
    const own = below.filter(registration => registration.teamId === teamId)
    return {
      ownDomains: own.slice(0, 3).map(registration => registration.domain),
      ownCount: own.length,
      heldByOthers: below.length > own.length,
    }
  }

  function save(registration: Registration): void {
    const zone = zones.get(registration.registrableDomain)
    if (zone) zone.set(registration.domain, registration)
    else zones.set(registration.registrableDomain, new Map([[registration.domain, registration]]))
    if (!registration.synchronized) pending.set(registration.domainId, registration)
  }

  function remove(registration: Registration): void {
    const zone = zones.get(registration.registrableDomain)
    zone?.delete(registration.domain)
    if (zone?.size === 0) zones.delete(registration.registrableDomain)
    pending.delete(registration.domainId)
  }

  async function synchronize(registrations: readonly Registration[]): Promise<void> {
    await push?.(registrations)
    for (const { domainId } of registrations) {
      const registration = pending.get(domainId)
      if (!registration) continue
      pending.delete(domainId)
      save({ ...registration, synchronized: true })
    }
  }

  return {
    addTeam: team => void teams.set(team.id, team),
    findTeam: teamId => teams.get(teamId) ?? null,

    register({ teamId, names, wildcardBases, decide }) {
      const created = decide({
        registrations: names.flatMap(find),
        below: wildcardBases.map(base => findBelow(base, teamId)),
      })
      const registrations = created.map(({ domain, registrableDomain }) => ({
        domainId: createId(),
        domain,
        registrableDomain,
        teamId,
        synchronized: push === undefined,
      }))
      registrations.forEach(save)
      return registrations
    },

    ...(push && { synchronize }),

    async synchronizePending({ limit = 1000 } = {}) {
      const registrations = [...pending.values()].slice(0, limit)
      if (registrations.length > 0) await synchronize(registrations)
      return registrations.length
    },

    release(teamId, domains) {
      const released = domains.flatMap(domain => {
        const hostname = classifyHostname(domain)
        return hostname.valid ? find(hostname).filter(registration => registration.teamId === teamId) : []
      })
      released.forEach(remove)
      return released
    },
  }
}

const isBelow = (name: Name, base: Name) =>
  name.domain.endsWith(`.${base.domain}`) && !(isWildcard(name) && name.domain.length === base.domain.length + 2)
