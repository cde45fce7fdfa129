import { optional, requireOptions } from '../options.ts'
import { type Name, wildcardsAbove } from '../rules/name.ts'
import { isSeparated } from '../rules/overlap.ts'
import type { LookUpResult, NamesBelow, Registration, Team } from '../rules/registration.ts'
import { createUuidGenerator, timeOfUuid } from '../runtime/uuid.ts'
import { isOnPage, type ReleaseKeys, toTeam, toUuid } from '../store/arguments.ts'
import type { LookUp } from '../store/contract.ts'
import {
  createManagedStore,
  type ManagedStore,
  type ManagedStoreOptions,
  managedStoreRules,
  type StoreBackend,
} from '../store/managed-store.ts'
import { keysBelow, toKey } from '../store/name-key.ts'
import { createMemoryOutbox } from './memory-outbox.ts'

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions extends Omit<ManagedStoreOptions, 'findTeam'> {
  /** The initial teams. Default: none; see {@link MemoryStore.addTeam}. */
  teams?: readonly Team<string | number>[] | undefined
}

/** A store in memory. */
export interface MemoryStore extends ManagedStore {
  /** Adds a team, or replaces the team with the same ID, for example to suspend it. */
  addTeam(team: Team<string | number>): void
}

/**
 * A registration in the form in which the store keeps it. Only the outbox knows which registrations are synchronized.
 */
type StoredRegistration = Omit<Registration, 'synchronized'>

/**
 * Creates a store in memory, for a first try and for tests. Its registrations are lost when the process ends. The store
 * scans all registrations for each wildcard, for each page of a list, and for each call of a team with a limit. A sweep
 * scans all pending changes. For more than about ten thousand registrations, use SQLite.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * const store = createMemoryStore({ teams: [{ id: '1', organizationId: '7', state: 'active' }] })
 */
export function createMemoryStore({ teams: firstTeams, ...options }: MemoryStoreOptions = {}): MemoryStore {
  const { findTeam: _, ...rules } = managedStoreRules
  const teamsRule = { holds: optional(Array.isArray), expected: 'an array of teams' }
  requireOptions({ ...options, teams: firstTeams }, { ...rules, teams: teamsRule })
  const teams = new Map<string, Team>()

  function addTeam(added: Team<string | number>): void {
    // A copy, because the application may change its own object later.
    const team = toTeam(added)
    teams.set(team.id, Object.freeze(team))
  }
  firstTeams?.forEach(addTeam)

  const backend = createMemoryBackend()
  const store = createManagedStore(backend, { ...options, findTeam: id => teams.get(id) ?? null })
  return { ...store, addTeam }
}

/** Creates the backend of a memory store. Each of its steps is atomic, because each is synchronous. */
export function createMemoryBackend(): StoreBackend {
  const byDomain = new Map<string, StoredRegistration>()
  /** In the order of the IDs, which is the order of registration. */
  let byId = new Map<string, StoredRegistration>()
  const outbox = createMemoryOutbox()
  const createId = createUuidGenerator()
  /** The earliest time that a new ID may contain, because new IDs must sort after all imported ones. */
  let firstTime = 0

  const toRegistration = (stored: StoredRegistration): Registration => ({
    ...stored,
    synchronized: !outbox.has(stored.domainId),
  })

  function add(stored: StoredRegistration): void {
    byDomain.set(stored.domain, stored)
    byId.set(stored.domainId, stored)
  }

  function remove({ domain, domainId }: StoredRegistration): void {
    byDomain.delete(domain)
    byId.delete(domainId)
  }

  function create(teamId: string, names: readonly Name[]): readonly StoredRegistration[] {
    const createdAt = new Date()
    const time = Math.max(createdAt.getTime(), firstTime)
    const created = names.map(({ domain, registrableDomain }) => {
      return { domainId: createId(time), domain, registrableDomain, teamId, createdAt }
    })
    created.forEach(add)
    return created
  }

  const findByDomain = (domains: readonly string[]) => domains.flatMap(domain => byDomain.get(domain) ?? [])

  function findAll(teamId?: string): StoredRegistration[] {
    const all = [...byId.values()]
    return teamId === undefined ? all : all.filter(stored => stored.teamId === teamId)
  }

  function find({ teamId, domains, covered = [], bases, needsCount }: LookUp): LookUpResult {
    const all = bases.length === 0 ? [] : findAll()
    const found = findByDomain([...domains, ...covered.flatMap(wildcardsAbove)])
    return {
      registrations: [...new Set(found)].map(toRegistration),
      below: bases.map(base => findBelow(base, all, teamId)),
      ...(needsCount && { teamCount: findAll(teamId).length }),
    }
  }

  function findOwn(teamId: string, { names, domainIds }: ReleaseKeys): readonly StoredRegistration[] {
    const byName = findByDomain(names.map(({ domain }) => domain))
    const found = new Set([...byName, ...domainIds.flatMap(id => byId.get(id) ?? [])])
    return [...found].filter(stored => stored.teamId === teamId)
  }

  return {
    outbox,
    find,
    get(domainId) {
      const found = byId.get(domainId)
      return found ? toRegistration(found) : null
    },
    toDomainId: toUuid,

    register(step) {
      const { teamId, lease } = step
      const found = find(step)
      const { created, waiting } = step.decide(found)
      const newcomers = create(teamId, created)
      step.willSave?.(newcomers.map(({ domainId }) => domainId))
      if (lease !== null) {
        for (const stored of newcomers) outbox.add(toRegistration(stored), 'registered', lease)
        outbox.lease(waiting, lease)
      }
      return { found, saved: newcomers.map(toRegistration) }
    },

    release(teamId, keys, { lease, isPushed }) {
      const own = findOwn(teamId, keys)
      const released = own.map(toRegistration)
      for (const registration of released) {
        const { synchronized } = registration
        if (isPushed || !synchronized) outbox.add(registration, 'released', synchronized ? 0 : lease)
      }
      own.forEach(remove)
      return released
    },

    transfer({ from, to, needsCount, decide }, keys, { lease, isPushed }) {
      const own = findOwn(from, keys)
      const registrations = own.map(toRegistration)
      const found = { registrations, ...(needsCount && { teamCount: findAll(to).length }) }
      if (!decide(found)) return { found, saved: [] }
      own.forEach(remove)
      const created = create(to, own)
      for (const [index, former] of registrations.entries()) {
        const registration = toRegistration(created[index] as StoredRegistration)
        if (isPushed || !former.synchronized) outbox.transfer(former, registration, former.synchronized ? 0 : lease)
      }
      return { found, saved: created.map(toRegistration) }
    },

    import({ domainIds, decide, ...question }) {
      const takenIds = domainIds.filter(id => byId.has(id) || outbox.has(id))
      const findings = { ...find(question), takenIds }
      for (const registration of decide(findings)) {
        const { synchronized, ...stored } = registration
        add(stored)
        firstTime = Math.max(firstTime, timeOfUuid(stored.domainId) + 1)
        if (!synchronized) outbox.add(registration, 'registered', 0)
      }
      byId = new Map([...byId].sort(([one], [other]) => (one < other ? -1 : 1)))
      return findings
    },

    list(page) {
      const { teamId, after, limit, order, domain, below } = page
      if (below !== undefined) return listBelow(findAll(teamId), below, after).slice(0, limit).map(toRegistration)
      const ordered = order === 'newest' ? findAll().reverse() : byId.values()
      const listed: StoredRegistration[] = []
      for (const stored of domain === undefined ? ordered : findByDomain([domain])) {
        if (listed.length === limit) break
        if (isOnPage(page, stored)) listed.push(stored)
      }
      return listed.map(toRegistration)
    },

    count: teamId => findAll(teamId).length,
  }
}

function findBelow(base: string, all: readonly StoredRegistration[], teamId: string): NamesBelow {
  const end = `.${base}`
  const below = all.filter(({ domain }) => domain.endsWith(end))
  const within = below.filter(stored => !isSeparated(stored, base))
  const own = within.filter(stored => stored.teamId === teamId)
  return {
    ownDomains: own.slice(0, 3).map(({ domain }) => domain),
    ownCount: own.length,
    heldByOthers: own.length < within.length,
    behindSuffixes: below.filter(stored => isSeparated(stored, base)),
  }
}

/** Lists the registrations below a base in the order of their paths, after the given name. */
function listBelow(all: readonly StoredRegistration[], base: string, start: string | undefined): StoredRegistration[] {
  const { secondLevelDomain, after, before } = keysBelow(base, start)
  const end = `.${base}`
  return all
    .filter(({ domain }) => domain.endsWith(end))
    .map(stored => ({ stored, key: toKey(stored.domain) }))
    .filter(({ key }) => key.secondLevelDomain === secondLevelDomain && key.path > after && key.path < before)
    .sort((one, other) => (one.key.path < other.key.path ? -1 : 1))
    .map(({ stored }) => stored)
}
