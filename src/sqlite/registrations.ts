import type { RegistrationStep, StoreBackend } from '../registry/managed-store.ts'
import type { Name } from '../registry/name.ts'
import { rangeBelow, toKey } from '../registry/path.ts'
import {
  type ListedRegistration,
  type LookUp,
  type LookUpResult,
  type NamesBelow,
  NOTHING_BELOW,
  type Registration,
  type SavedRegistrations,
} from '../registry/store.ts'
import type { ListPage } from '../registry/store-arguments.ts'
import { createUuidGenerator } from '../uuid.ts'
import type { SqliteOutbox } from './outbox.ts'
import type { NameRow, Statements } from './statements.ts'

/** Looks up, saves and deletes registrations. Each function that writes is to be called in a transaction. */
export function createRegistrations(statements: Statements, outbox: SqliteOutbox) {
  const createId = createUuidGenerator()

  function find({ teamId, domains, bases }: LookUp): LookUpResult {
    return {
      registrations: domains.flatMap(domain => statements.findName(domain).map(toRegistration)),
      below: bases.map(base => findBelow(base, teamId)),
    }
  }

  function findBelow(base: string, teamId: string): NamesBelow {
    const { secondLevelDomain } = toKey(base)
    const { after, before } = rangeBelow(base)
    const own = [secondLevelDomain, teamId, after, before, base.length] as const
    const all = [secondLevelDomain, after, before, base.length] as const
    const [row] = statements.countOwnBelow(...own)
    if (row && row.count > 0) {
      const ownDomains = statements.findOwnBelow(...own).map(({ domain }) => domain)
      return { ...NOTHING_BELOW, ownDomains, ownCount: row.count }
    }
    if (statements.findBelow(...all).length > 0) return { ...NOTHING_BELOW, heldByOthers: true }
    const behindSuffixes = statements.findBehindSuffixes(...all)
    return {
      ...NOTHING_BELOW,
      behindSuffixes: behindSuffixes.map(row => ({ domain: row.domain, teamId: row.team_id })),
    }
  }

  function register({ decide, lease, ...lookUp }: RegistrationStep): SavedRegistrations {
    const found = find(lookUp)
    const { created, waiting } = decide(found)
    const saved = save(lookUp.teamId, created, lease === null)
    if (lease !== null) {
      for (const registration of saved) outbox.add(registration, 'registered', lease)
      outbox.lease(waiting, lease)
    }
    return { found, saved }
  }

  function save(teamId: string, names: readonly Name[], synchronized: boolean): Registration[] {
    if (names.length === 0) return []
    const now = Date.now()
    const time = findTime(now)
    return names.map(({ domain, registrableDomain }) => {
      const domainId = createId(time)
      const { secondLevelDomain, path } = toKey(domain)
      statements.insertName(domainId, domain, registrableDomain, secondLevelDomain, path, teamId, now)
      return { domainId, domain, registrableDomain, teamId, synchronized }
    })
  }

  /**
   * Returns a time after that of the last ID. Since writers take turns, IDs then sort in the order of registration,
   * even if the clocks of several processes disagree.
   */
  function findTime(now: number): number {
    const [row] = statements.findLastId()
    return row?.domain_id ? Math.max(now, timeOf(row.domain_id) + 1) : now
  }

  function release(
    teamId: string,
    { names, domainIds }: Parameters<StoreBackend['release']>[1],
    lease: number,
  ): Registration[] {
    function releaseOne([row]: readonly NameRow[]): Registration[] {
      if (row?.team_id !== teamId) return []
      const registration = toRegistration(row)
      statements.deleteName(row.domain_id)
      outbox.add(registration, 'released', registration.synchronized ? 0 : lease)
      return [registration]
    }
    return [
      ...names.flatMap(({ domain }) => releaseOne(statements.findName(domain))),
      ...domainIds.flatMap(id => releaseOne(statements.findId(id))),
    ]
  }

  function list({ teamId, after, limit, order, domain, below }: ListPage): ListedRegistration[] {
    if (domain !== undefined) {
      const isListed = (row: NameRow) => (teamId === undefined || row.team_id === teamId) && isAfter(row.domain_id)
      const isAfter = (id: string) => after === undefined || (order === 'newest' ? id < after : id > after)
      return statements.findName(domain).filter(isListed).slice(0, limit).map(toListed)
    }
    return findPage().map(toListed)

    function findPage(): readonly NameRow[] {
      if (below !== undefined) {
        const { secondLevelDomain } = toKey(below)
        const range = rangeBelow(below)
        const start = after === undefined || toKey(after).path < range.after ? range.after : toKey(after).path
        return teamId === undefined
          ? statements.listBelow(secondLevelDomain, start, range.before, limit)
          : statements.listOwnBelow(secondLevelDomain, teamId, start, range.before, limit)
      }
      const start = after ?? (order === 'newest' ? AFTER_ALL_IDS : '')
      if (teamId === undefined) return statements[order === 'newest' ? 'listNewest' : 'listOldest'](start, limit)
      return statements[order === 'newest' ? 'listNewestOfTeam' : 'listOldestOfTeam'](teamId, start, limit)
    }
  }

  const count = (teamId: string | undefined) =>
    (teamId === undefined ? statements.count() : statements.countOfTeam(teamId))[0]?.count ?? 0

  return { find, register, release, list, count }
}

/** IDs are hexadecimal digits and hyphens. */
const AFTER_ALL_IDS = 'g'

/** RFC 9562, section 5.7: a UUID of version 7 begins with the time in milliseconds. */
const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

const toRegistration = (row: NameRow): Registration => ({
  domainId: row.domain_id,
  domain: row.domain,
  registrableDomain: row.registrable_domain,
  teamId: row.team_id,
  synchronized: row.synchronized === 1,
})

const toListed = (row: NameRow): ListedRegistration => ({ ...toRegistration(row), createdAt: new Date(row.created_at) })
