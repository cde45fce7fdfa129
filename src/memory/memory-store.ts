import type { Awaitable } from '../awaitable.ts'
import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { classifyHostname } from '../hostname/classify.ts'
import type { Name } from '../registry/name.ts'
import type { Below, DomainStore, Registration, Team } from '../registry/store.ts'
import { createUuidGenerator } from '../uuid.ts'
import { type Holding, toRegistration } from './holding.ts'
import { createKeyedSet } from './keyed-set.ts'
import { createPendingQueue } from './pending-queue.ts'
import { addTo, findBelow, findIn, registrableDomainOf, removeFrom, type Zone } from './zone.ts'

export interface MemoryStoreOptions {
  teams?: readonly Team[]
  /**
   * Pushes registrations to what does the monitoring. May be called again with the same ones: it must be idempotent on
   * `domainId`. While it rejects, calls that registered something answer 503. Without it there is nothing to push to.
   */
  synchronize?: (registrations: readonly Registration[]) => Awaitable<void>
  /**
   * Milliseconds after which a push counts as failed. It may go through all the same, and is made again. Default
   * 30,000.
   */
  synchronizeTimeLimit?: number
}

const DEFAULT_SYNCHRONIZE_TIME_LIMIT = 30_000

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
   * Gives up registrations of a team, so that the names are free again. Names that the team does not hold are passed
   * over.
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
  const { synchronize: send, synchronizeTimeLimit = DEFAULT_SYNCHRONIZE_TIME_LIMIT } = options
  requireTimeLimit('synchronizeTimeLimit', synchronizeTimeLimit)
  const push =
    send &&
    (async (registrations: readonly Registration[]) => createDeadline(synchronizeTimeLimit).wait(send(registrations)))
  const teams = new Map<string, Team>()
  const zones = createKeyedSet<Zone>(registrableDomainOf)
  const pending = createPendingQueue()
  const createId = createUuidGenerator()

  /** Copied, so that what the host does with its object later changes nothing here. */
  const addTeam = (team: Team) => void teams.set(team.id, Object.freeze({ ...team }))
  options.teams?.forEach(addTeam)

  function find(name: Name): Holding | undefined {
    const zone = zones.get(name.registrableDomain)
    return zone && findIn(zone, name)
  }

  /** Of the registrable domains; names of the same one often stand next to each other. */
  function hashAll(names: readonly Name[]): number[] {
    let previous: string | undefined
    let hash = 0
    return names.map(({ domain, registrableDomain }) => {
      if (registrableDomain !== previous) hash = zones.hashOf(domain, domain.length - registrableDomain.length)
      previous = registrableDomain
      return hash
    })
  }

  /**
   * Looks up all zones in a row, with nothing in between: among millions, many look-ups wait for memory at the same
   * time.
   */
  function findAll(names: readonly Name[], hashes: readonly number[]): Registration[] {
    const found: Registration[] = []
    const zonesOfNames = names.map(({ registrableDomain }, index) => zones.get(registrableDomain, hashes[index]))
    zonesOfNames.forEach((zone, index) => {
      const name = names[index] as Name
      const holding = zone && findIn(zone, name)
      if (holding) found.push(toRegistration(holding, name))
    })
    return found
  }

  function below(base: Name, teamId: string): Below {
    const zone = zones.get(base.registrableDomain)
    return zone ? findBelow(zone, base, teamId) : NOTHING
  }

  /** @param copy Of the domain, to keep. */
  function save(name: Name, hash: number, copy: string, teamId: string, now: number): Registration {
    const { registrableDomain } = name
    const holding: Holding = {
      domainId: createId(now),
      domain: copy,
      registrableDomain: copy.slice(-registrableDomain.length),
      teamId,
      pending: null,
      position: 0,
    }
    zones.update(registrableDomain, zone => addTo(zone, holding), hash)
    if (push) pending.add(holding)
    return toRegistration(holding, name)
  }

  function remove(holding: Holding): void {
    const { registrableDomain } = holding
    const zone = zones.get(registrableDomain)
    const rest = zone && removeFrom(zone, holding)
    if (rest) zones.put(rest)
    else zones.delete(registrableDomain)
    pending.remove(holding)
  }

  return {
    addTeam,
    findTeam: teamId => teams.get(teamId) ?? null,

    register({ teamId, names, wildcardBases, decide }) {
      const hashes = hashAll(names)
      const found = {
        registrations: findAll(names, hashes),
        below: wildcardBases.map(base => below(base, teamId)),
      }
      const created = decide(found)
      const owner = teams.get(teamId)?.id ?? teamId
      const copies = copyStrings(created.map(name => name.domain))
      const now = Date.now()
      let asked = 0
      const saved = created.map((name, index) => {
        // Most often what is created was asked for, in the same order.
        while (asked < names.length && names[asked] !== name) asked += 1
        const hash = hashes[asked] ?? zones.hashOf(name.registrableDomain)
        return save(name, hash, copies[index] as string, owner, now)
      })
      return { found, saved }
    },

    ...(push && {
      async synchronize(registrations) {
        const holdings = registrations.flatMap(registration => {
          const holding = find(registration)
          return holding?.domainId === registration.domainId ? [holding] : []
        })
        await push(registrations)
        holdings.forEach(pending.remove)
      },
    }),

    async synchronizePending({ limit = 1000 } = {}) {
      const holdings = pending.oldest(limit)
      if (!push || holdings.length === 0) return 0
      await push(holdings.map(holding => toRegistration(holding)))
      holdings.forEach(pending.remove)
      return holdings.length
    },

    release(teamId, domains) {
      return domains.flatMap(domain => {
        const hostname = classifyHostname(domain)
        const holding = hostname.valid ? find(hostname) : undefined
        if (holding?.teamId !== teamId) return []
        const registration = toRegistration(holding)
        remove(holding)
        return [registration]
      })
    },
  }
}

const NOTHING: Below = { ownDomains: [], ownCount: 0, heldByOthers: false }

/**
 * A string may be a slice that keeps a whole file in memory. The copies are slices too, of one text that holds nothing
 * else: a third of what JSON takes to copy each. A string joined with nothing would stay what it is.
 */
function copyStrings(strings: readonly string[]): readonly string[] {
  const text = ['', ...strings].join(' ')
  let end = 0
  return strings.map(({ length }) => {
    const start = end + 1
    end = start + length
    return text.slice(start, end)
  })
}
