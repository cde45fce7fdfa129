import type { StoreOutbox } from '../outbox/contract.ts'
import { ancestorsOf, type Name } from '../rules/name.ts'
import {
  type ImportFindings,
  type ImportRequest,
  type LookUp,
  type LookUpResult,
  type NamesBelow,
  NOTHING_BELOW,
  type Registration,
  type SavedRegistrations,
} from '../rules/registration.ts'
import { createUuidGenerator, timeOfUuid } from '../runtime/uuid.ts'
import { isOnPage, type ListPage, type ReleaseKeys } from '../store/arguments.ts'
import type { TransferRequest, TransferredRegistrations } from '../store/contract.ts'
import type { RegistrationStep, ReleaseRecording } from '../store/managed-store.ts'
import { keysBelow, toKey } from '../store/name-key.ts'
import { type NameRow, toRegistration } from '../store/rows.ts'
import type { PreparedStatements } from './statements.ts'

/** Looks up, saves, lists and counts registrations. Functions that write must be called within a transaction. */
export function createRegistrations(statements: PreparedStatements, outbox: StoreOutbox) {
  const createId = createUuidGenerator()

  function find({ teamId, domains, bases, counted }: LookUp): LookUpResult {
    return {
      registrations: domains.flatMap(domain => statements.findName(domain).map(toRegistration)),
      below: bases.map(base => findBelow(statements, base, teamId)),
      ...(counted && { held: count(teamId) }),
    }
  }

  function get(domainId: string): Registration | null {
    const [row] = statements.findId(domainId)
    return row ? toRegistration(row) : null
  }

  function register({ decide, lease, ...lookUp }: RegistrationStep): SavedRegistrations {
    const found = find(lookUp)
    const { created, waiting } = decide(found)
    const saved = save(lookUp.teamId, created, lease === null)
    lookUp.willSave?.(saved.map(({ domainId }) => domainId))
    if (lease !== null) {
      for (const registration of saved) outbox.add(registration, 'registered', lease)
      outbox.lease(waiting, lease)
    }
    return { found, saved }
  }

  function save(teamId: string, names: readonly Name[], synchronized: boolean): Registration[] {
    if (names.length === 0) return []
    const createdAt = new Date()
    const time = findTime(statements, createdAt.getTime())
    return names.map(({ domain, registrableDomain }) => {
      const saved = { domainId: createId(time), domain, registrableDomain, teamId, synchronized, createdAt }
      insert(saved)
      return saved
    })
  }

  function insert({ domainId, domain, registrableDomain, teamId, createdAt }: Registration): void {
    const { secondLevelDomain, path } = toKey(domain)
    const time = createdAt.getTime()
    statements.insertName(domainId, domain, registrableDomain, secondLevelDomain, path, teamId, time)
  }

  function importAll({ domainIds, decide, ...question }: ImportRequest): ImportFindings {
    const isTaken = (id: string) => statements.findId(id).length > 0 || statements.findChange(id).length > 0
    const findings = { ...find(question), takenIds: domainIds.filter(isTaken) }
    for (const registration of decide(findings)) {
      insert(registration)
      if (!registration.synchronized) outbox.add(registration, 'registered', 0)
    }
    return findings
  }

  const count = (teamId: string | undefined) =>
    (teamId === undefined ? statements.count() : statements.countOfTeam(teamId))[0]?.count ?? 0

  const list = (page: ListPage) => listPage(statements, page).map(toRegistration)

  return { find, get, register, importAll, list, count }
}

/** Releases and transfers; see {@link createRegistrations}. */
export function createReleases(statements: PreparedStatements, outbox: StoreOutbox) {
  const createId = createUuidGenerator()

  function release(teamId: string, keys: ReleaseKeys, { lease, isPushed }: ReleaseRecording): readonly Registration[] {
    const isMonitored = isPushed || statements.findMonitor().length > 0
    const released = findHeld(teamId, keys)
    for (const registration of released) {
      statements.deleteName(registration.domainId)
      if (!registration.synchronized) outbox.add(registration, 'released', lease)
      else if (isMonitored) outbox.add(registration, 'released', 0)
    }
    return released
  }

  function findHeld(teamId: string, { names, domainIds }: ReleaseKeys): readonly Registration[] {
    const byName = names.flatMap(({ domain }) => statements.findName(domain))
    const found = [...byName, ...domainIds.flatMap(domainId => statements.findId(domainId))]
    const held = new Map(found.filter(row => row.teamId === teamId).map(row => [row.domainId, row]))
    return [...held.values()].map(toRegistration)
  }

  /** Updates each row instead of replacing it, so the application's rows that refer to these rows are not deleted. */
  function transfer(
    { from, to, counted, decide }: TransferRequest,
    keys: ReleaseKeys,
    { lease, isPushed }: ReleaseRecording,
  ): TransferredRegistrations {
    const registrations = findHeld(from, keys)
    const found = { registrations, ...(counted && { held: statements.countOfTeam(to)[0]?.count ?? 0 }) }
    if (registrations.length === 0 || !decide(found)) return { found, saved: [] }
    const isMonitored = isPushed || statements.findMonitor().length > 0
    const createdAt = new Date()
    const time = findTime(statements, createdAt.getTime())
    const saved = registrations.map(former => {
      const synchronized = former.synchronized && !isMonitored
      const registration = { ...former, domainId: createId(time), teamId: to, synchronized, createdAt }
      statements.transferName(registration.domainId, to, createdAt.getTime(), former.domainId)
      if (!synchronized) outbox.transfer(former, registration, former.synchronized ? 0 : lease)
      return registration
    })
    return { found, saved }
  }

  return { release, transfer }
}

/**
 * Returns the time for a new ID, which is later than the time in the last ID. Writers take turns, so IDs sort in the
 * order of registration even if the clocks of several processes disagree.
 */
function findTime(statements: PreparedStatements, now: number): number {
  const [row] = statements.findLastId()
  return row?.lastId ? Math.max(now, timeOfUuid(row.lastId) + 1) : now
}

function findBelow(statements: PreparedStatements, base: string, teamId: string): NamesBelow {
  const { secondLevelDomain, after, before } = keysBelow(base)
  const above = JSON.stringify([base, ...ancestorsOf(base)])
  const ownCount = statements.countOwnWithin(above, teamId, after, before)[0]?.count ?? 0
  if (ownCount > 0) {
    const ownDomains = statements.findOwnWithin(above, teamId, after, before).map(({ domain }) => domain)
    return { ...NOTHING_BELOW, ownDomains, ownCount }
  }
  if (statements.findWithin(above, after, before).length > 0) return { ...NOTHING_BELOW, heldByOthers: true }
  // All remaining names below the base are separated from the base by a public suffix.
  return { ...NOTHING_BELOW, behindSuffixes: statements.findBehindSuffixes(secondLevelDomain, after, before) }
}

function listPage(statements: PreparedStatements, page: ListPage): readonly NameRow[] {
  const { teamId, after, limit, order, domain, below } = page
  if (domain !== undefined) {
    const found = statements.findName(domain).filter(row => isOnPage(page, row))
    return found.slice(0, limit)
  }
  const [team, ofTeam] = teamId === undefined ? ([[], ''] as const) : ([[teamId], 'OfTeam'] as const)
  const select = (what: 'Below' | 'Newest' | 'Oldest', ...start: readonly string[]) =>
    statements[`list${what}${ofTeam}`](...team, ...start, limit)
  if (below !== undefined) {
    const keys = keysBelow(below, after)
    return select('Below', keys.secondLevelDomain, keys.after, keys.before)
  }
  return order === 'newest' ? select('Newest', after ?? AFTER_ALL_IDS) : select('Oldest', after ?? '')
}

/** Sorts after every ID, because IDs have only hexadecimal digits and hyphens. */
const AFTER_ALL_IDS = 'g'
