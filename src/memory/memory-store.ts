import { optional, requireOptions } from '../options.ts'
import type { Name } from '../rules/name.ts'
import { addBelow, isParted } from '../rules/overlap.ts'
import {
  COUNTED_AT_LEAST,
  FOUND_BEHIND_SUFFIXES,
  type LookUp,
  type LookUpResult,
  type NamesBelow,
  NOTHING_BELOW,
  type Registration,
  type Team,
} from '../rules/registration.ts'
import { createUuidGenerator, timeOfUuid } from '../runtime/uuid.ts'
import { isOnPage, type ListPage, type ReleaseKeys, toTeam, toUuid } from '../store/arguments.ts'
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
 * scans all registrations for each wildcard and each release, and for each call of a team with a limit. A sweep scans
 * all pending changes. For more than about ten thousand registrations, use SQLite.
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

/** Keeps registrations in the order of registration, which is also the order of their IDs. */
function createTable() {
  const byDomain = new Map<string, StoredRegistration>()
  let ordered: StoredRegistration[] = []
  const createId = createUuidGenerator()
  /** The earliest time that a new ID may contain, because new IDs must sort after all imported ones. */
  let firstTime = 0

  function add(stored: StoredRegistration): void {
    byDomain.set(stored.domain, stored)
    ordered.push(stored)
  }

  return {
    ordered: (): readonly StoredRegistration[] => ordered,
    findByDomain: (domains: readonly string[]) => domains.flatMap(domain => byDomain.get(domain) ?? []),
    findById(id: string): StoredRegistration | undefined {
      const stored = ordered[findIndex(ordered, id)]
      return stored?.domainId === id ? stored : undefined
    },
    count: (teamId: string | undefined): number =>
      teamId === undefined ? ordered.length : ordered.filter(stored => stored.teamId === teamId).length,
    create(teamId: string, names: readonly Name[]): readonly StoredRegistration[] {
      const createdAt = new Date()
      const time = Math.max(createdAt.getTime(), firstTime)
      const created = names.map(({ domain, registrableDomain }) => ({
        domainId: createId(time),
        domain,
        registrableDomain,
        teamId,
        createdAt,
      }))
      created.forEach(add)
      return created
    },
    import(all: readonly StoredRegistration[]): void {
      all.forEach(add)
      for (const { domainId } of all) firstTime = Math.max(firstTime, timeOfUuid(domainId) + 1)
      ordered.sort((one, other) => (one.domainId < other.domainId ? -1 : 1))
    },
    remove(all: ReadonlySet<StoredRegistration>): void {
      for (const { domain } of all) byDomain.delete(domain)
      ordered = ordered.filter(stored => !all.has(stored))
    },
  }
}

/** Creates the backend of a memory store. Each of its steps is atomic, because each is synchronous. */
export function createMemoryBackend(): StoreBackend {
  const table = createTable()
  const outbox = createMemoryOutbox()

  const toRegistration = (stored: StoredRegistration): Registration => ({
    ...stored,
    synchronized: !outbox.has(stored.domainId),
  })

  function find({ teamId, domains, bases, needsCount }: LookUp): LookUpResult {
    const all = bases.length === 0 ? [] : table.ordered()
    const isOwn = (stored: StoredRegistration) => stored.teamId === teamId
    const ownFirst = [...all.filter(isOwn), ...all.filter(stored => !isOwn(stored))]
    return {
      registrations: table.findByDomain(domains).map(toRegistration),
      below: bases.map(base => findBelow(base, ownFirst, teamId)),
      ...(needsCount && { teamCount: table.count(teamId) }),
    }
  }

  function findOwn(teamId: string, { names, domainIds }: ReleaseKeys): readonly StoredRegistration[] {
    const byDomain = table.findByDomain(names.map(({ domain }) => domain))
    const found = new Set([...byDomain, ...domainIds.flatMap(id => table.findById(id) ?? [])])
    return [...found].filter(stored => stored.teamId === teamId)
  }

  return {
    outbox,
    find,
    get(domainId) {
      const found = table.findById(domainId)
      return found ? toRegistration(found) : null
    },
    toDomainId: toUuid,

    register(step) {
      const { teamId, lease } = step
      const found = find(step)
      const { created, waiting } = step.decide(found)
      const newcomers = table.create(teamId, created)
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
      table.remove(new Set(own))
      return released
    },

    transfer({ from, to, needsCount, decide }, keys, { lease, isPushed }) {
      const own = findOwn(from, keys)
      const registrations = own.map(toRegistration)
      const found = { registrations, ...(needsCount && { teamCount: table.count(to) }) }
      if (!decide(found)) return { found, saved: [] }
      table.remove(new Set(own))
      const created = table.create(to, own)
      for (const [index, former] of registrations.entries()) {
        const registration = toRegistration(created[index] as StoredRegistration)
        if (isPushed || !former.synchronized) outbox.transfer(former, registration, former.synchronized ? 0 : lease)
      }
      return { found, saved: created.map(toRegistration) }
    },

    import({ domainIds, decide, ...question }) {
      const takenIds = domainIds.filter(id => table.findById(id) || outbox.has(id))
      const findings = { ...find(question), takenIds }
      const given = decide(findings)
      const waiting = given.filter(({ synchronized }) => !synchronized)
      table.import(given.map(({ synchronized: _, ...stored }) => stored))
      for (const registration of waiting) outbox.add(registration, 'registered', 0)
      return findings
    },

    list: page =>
      listPage(page.domain === undefined ? table.ordered() : table.findByDomain([page.domain]), page).map(
        toRegistration,
      ),
    count: table.count,
  }
}

/** @param ownFirst The calling team's registrations, then all others. */
function findBelow(base: string, ownFirst: readonly StoredRegistration[], teamId: string): NamesBelow {
  const end = `.${base}`
  let below = NOTHING_BELOW
  for (const stored of ownFirst) {
    if (!stored.domain.endsWith(end)) continue
    if (isParted(stored, base)) {
      if (below.behindSuffixes.length < FOUND_BEHIND_SUFFIXES)
        below = { ...below, behindSuffixes: [...below.behindSuffixes, stored] }
    } else below = addBelow(below, stored, teamId)
    if (below.ownCount === COUNTED_AT_LEAST || below.heldByOthers) break
  }
  return below
}

/** Returns the index of the first registration whose ID is equal to or greater than the given ID. */
function findIndex(ordered: readonly StoredRegistration[], id: string): number {
  let [low, high] = [0, ordered.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ordered[middle] as StoredRegistration).domainId < id) low = middle + 1
    else high = middle
  }
  return low
}

/** Lists a page. The scan starts at the cursor, so all pages together visit each registration only once. */
function listPage(ordered: readonly StoredRegistration[], page: ListPage): StoredRegistration[] {
  const { teamId, after, limit, order, below } = page
  if (below !== undefined) {
    const listed = ordered.filter(stored => teamId === undefined || stored.teamId === teamId)
    return listBelow(listed, below, after).slice(0, limit)
  }
  const step = order === 'oldest' ? 1 : -1
  const first = order === 'oldest' ? 0 : ordered.length - 1
  // The registration at the cursor is not on the page.
  const start = after === undefined ? first : findIndex(ordered, after) + Math.min(step, 0)
  const listed: StoredRegistration[] = []
  for (let index = start; listed.length < limit; index += step) {
    const stored = ordered[index]
    if (!stored) break
    if (isOnPage(page, stored)) listed.push(stored)
  }
  return listed
}

/** Lists the registrations below a base in the order of their paths, after the given name. */
function listBelow(all: readonly StoredRegistration[], base: string, start: string | undefined): StoredRegistration[] {
  const { secondLevelDomain, after, before } = keysBelow(base, start)
  return all
    .map(stored => ({ stored, key: toKey(stored.domain) }))
    .filter(({ key }) => key.secondLevelDomain === secondLevelDomain && key.path > after && key.path < before)
    .sort((one, other) => (one.key.path < other.key.path ? -1 : 1))
    .map(({ stored }) => stored)
}
