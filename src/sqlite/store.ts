import { requireOptions } from '../options.ts'
import { type LookUpResult, type NamesBelow, NOTHING_BELOW, type Registration } from '../rules/registration.ts'
import { createUuidGenerator, timeOfUuid } from '../runtime/uuid.ts'
import { toListQuery } from '../sql/list-query.ts'
import { type NameRow, toRegistration } from '../sql/rows.ts'
import { isOnPage, type ListPage, type ReleaseKeys, toUuid } from '../store/arguments.ts'
import type { LookUp } from '../store/contract.ts'
import {
  createManagedStore,
  type ManagedStore,
  type ManagedStoreOptions,
  managedStoreRules,
  type StoreBackend,
} from '../store/managed-store.ts'
import { keysBelow, lengthsWithin, toKey, toWildcardKeys } from '../store/name-key.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { statements as all, type PreparedStatements, prepareAll } from './statements.ts'

/** Options of {@link createSqliteStore}. */
export interface SqliteStoreOptions extends SqliteConnectionOptions, ManagedStoreOptions {}

/** A store in SQLite. */
export interface SqliteStore extends ManagedStore {}

/**
 * Creates a store in a SQLite database. The store is durable, and needs no database server. The store creates its
 * tables if they are missing.
 *
 * Each call is one synchronous transaction. Any number of processes on one machine may share the file; only one of them
 * writes at a time. SQLite does not work over network file systems (sqlite.org/useovernet.html).
 *
 * @throws {TypeError} if an option is missing, invalid or unknown.
 * @throws {Error} if the database cannot be used; the message says why.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 *
 * const database = new DatabaseSync('registrations.db')
 * const store = createSqliteStore({ database, findTeam: id => myTeams.find(id) })
 */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  requireOptions(options, { ...connectionRules, ...managedStoreRules })
  const { database, timeLimit, synchronous, ...managed } = options
  return createManagedStore(createSqliteBackend({ database, timeLimit, synchronous }), managed)
}

export function createSqliteBackend(options: SqliteConnectionOptions): StoreBackend {
  const connection = connect(options)
  const { read, transact } = connection
  const statements = prepareAll(connection.driver, all)
  const outbox = createOutbox(statements, connection)
  const createId = createUuidGenerator()

  const count = (teamId: string | undefined) =>
    (teamId === undefined ? statements.count() : statements.countOfTeam(teamId))[0]?.count ?? 0

  function find({ teamId, domains, covered = [], bases, needsCount }: LookUp): LookUpResult {
    const above = toWildcardKeys(covered).map(({ domain, secondLevelDomain, cuts }) => {
      return [domain, cuts.map(cut => secondLevelDomain.length + cut)]
    })
    const found = [
      ...statements.findByDomain(JSON.stringify(domains)),
      ...statements.findWildcards(JSON.stringify(Object.fromEntries(above))),
    ]
    return {
      registrations: [...new Map(found.map(row => [row.domainId, row])).values()].map(toRegistration),
      below: bases.map(base => findBelow(statements, base, teamId)),
      ...(needsCount && { teamCount: count(teamId) }),
    }
  }

  function findOwn(teamId: string, { names, domainIds }: ReleaseKeys): readonly Registration[] {
    const byDomain = statements.findByDomain(JSON.stringify(names.map(({ domain }) => domain)))
    const found = [...byDomain, ...domainIds.flatMap(domainId => statements.findById(domainId))]
    const own = new Map(found.filter(row => row.teamId === teamId).map(row => [row.domainId, row]))
    return [...own.values()].map(toRegistration)
  }

  function insert({ domainId, domain, registrableDomain, teamId, createdAt }: Registration): void {
    const { secondLevelDomain, path } = toKey(domain)
    const time = createdAt.getTime()
    statements.insertName(domainId, domain, registrableDomain, secondLevelDomain, path, teamId, time)
  }

  return {
    outbox,
    toDomainId: toUuid,

    register: ({ decide, lease, ...request }) =>
      transact(
        () => {
          const found = find(request)
          const { created, waiting } = decide(found)
          const createdAt = new Date()
          const time = created.length > 0 ? findTime(statements, createdAt.getTime()) : 0
          const saved = created.map(({ domain, registrableDomain }) => {
            const { teamId } = request
            const synchronized = lease === null
            return { domainId: createId(time), domain, registrableDomain, teamId, synchronized, createdAt }
          })
          saved.forEach(insert)
          request.willSave?.(saved.map(({ domainId }) => domainId))
          if (lease !== null) {
            for (const registration of saved) outbox.add(registration, 'registered', lease)
            outbox.lease(waiting, lease)
          }
          return { found, saved }
        },
        request.teamId,
        request.timeLimit,
      ),

    find: question => read(() => find(question)),

    get: domainId => read(() => statements.findById(domainId).map(toRegistration)[0] ?? null),

    release: (teamId, keys, { lease, isPushed }) =>
      transact(() => {
        const isMonitored = isPushed || statements.findMonitor().length > 0
        const released = findOwn(teamId, keys)
        for (const registration of released) {
          statements.deleteName(registration.domainId)
          if (!registration.synchronized) outbox.add(registration, 'released', lease)
          else if (isMonitored) outbox.add(registration, 'released', 0)
        }
        return released
      }, teamId),

    // Updates each row instead of replacing it, so the application's rows that refer to these rows are not deleted.
    transfer: ({ from, to, needsCount, decide }, keys, { lease, isPushed }) =>
      transact(() => {
        const registrations = findOwn(from, keys)
        const found = { registrations, ...(needsCount && { teamCount: count(to) }) }
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
      }, from),

    import: ({ domainIds, decide, ...question }) =>
      transact(() => {
        const isTaken = (id: string) => statements.findById(id).length > 0 || statements.findChange(id).length > 0
        const findings = { ...find(question), takenIds: domainIds.filter(isTaken) }
        for (const registration of decide(findings)) {
          insert(registration)
          if (!registration.synchronized) outbox.add(registration, 'registered', 0)
        }
        return findings
      }, question.teamId),

    list: page => read(() => listPage(statements, page).map(toRegistration)),
    count: teamId => read(() => count(teamId)),
  }
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
  const lengths = JSON.stringify(lengthsWithin(base))
  // All other names below the base are separated from the base by a public suffix.
  if (statements.findWithin(base, lengths, after, before).length === 0)
    return { ...NOTHING_BELOW, behindSuffixes: statements.findBehindSuffixes(secondLevelDomain, after, before) }
  const ownCount = statements.countOwnWithin(base, lengths, teamId, after, before)[0]?.count ?? 0
  if (ownCount === 0) return { ...NOTHING_BELOW, heldByOthers: true }
  const ownDomains = statements.findOwnWithin(base, lengths, teamId, after, before).map(({ domain }) => domain)
  return { ...NOTHING_BELOW, ownDomains, ownCount }
}

function listPage(statements: PreparedStatements, page: ListPage): readonly NameRow[] {
  const { teamId, limit, domain } = page
  if (domain !== undefined) {
    const found = statements.findByDomain(JSON.stringify([domain])).filter(row => isOnPage(page, row))
    return found.slice(0, limit)
  }
  const { name, start } = toListQuery(page)
  const team = teamId === undefined ? [] : [teamId]
  return statements[name](...team, ...start, limit)
}
