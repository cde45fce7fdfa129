import { requireOptions } from '../options.ts'
import { ancestorsOf, isWildcard, type Name } from '../rules/name.ts'
import type { ImportFindings, LookUpResult, Registration } from '../rules/registration.ts'
import { createUuidGenerator } from '../runtime/uuid.ts'
import { toListQuery } from '../sql/list-query.ts'
import { readInteger, toRegistration } from '../sql/rows.ts'
import { isOnPage, type ListPage, type ReleaseKeys, toUuid } from '../store/arguments.ts'
import type {
  ImportRequest,
  LookUp,
  SavedRegistrations,
  TransferRequest,
  TransferredRegistrations,
} from '../store/contract.ts'
import {
  createManagedStore,
  type ManagedStore,
  type ManagedStoreOptions,
  managedStoreRules,
  type RegistrationStep,
  type ReleaseRecording,
  type StoreBackend,
} from '../store/managed-store.ts'
import { keysBelow, toKey, toWildcardKeys } from '../store/name-key.ts'
import { createDeadline } from '../time/deadline.ts'
import {
  DEFAULT_TRANSACTION_TIME_LIMIT,
  type DriverOptions,
  driverRules,
  toDatabase,
} from './drivers/driver-options.ts'
import type { Isolation } from './engines/settings.ts'
import { addChanges, createOutbox, followNothing, sort, toNamed } from './outbox.ts'
import { type Call, createQueue, type RunCalls } from './queue.ts'
import { type PostgresSchemaOptions, schemaRule, toTables } from './schema.ts'
import { toArrayLiteral, toArrays } from './statements/sql.ts'
import { createStatements, type Statements } from './statements/store.ts'
import { createTransact, lock, lockOfTeam, type Transact, type TransactionWith, unlock } from './transaction.ts'

/** Options of {@link createPostgresStore}. */
export interface PostgresStoreOptions extends PostgresSchemaOptions, DriverOptions, ManagedStoreOptions {
  /**
   * Milliseconds for each transaction, including waits for a connection and for locks, and retries after conflicts.
   * Default 10,000.
   */
  timeLimit?: number | undefined
}

/** A store in PostgreSQL. */
export interface PostgresStore extends ManagedStore {
  /**
   * Returns how many names of calls wait for PostgreSQL in this process, or are in a transaction, for metrics. Calls of
   * a team that has 10,000 of them fail at once.
   */
  queueLength(): number
}

/**
 * Creates a store in PostgreSQL (tested on 15 and 18) or PGlite, for any number of processes that share one database.
 * Create the tables first; see {@link migrate}.
 *
 * A call runs in one transaction in READ COMMITTED. It locks the registrable domains of its names, so calls without a
 * common registrable domain do not wait for each other. Under load, small calls share transactions, and teams take
 * turns. After a conflict with another transaction, the call is retried, until
 * {@link PostgresStoreOptions.timeLimit} is reached.
 *
 * See docs/postgres.md for drivers and poolers, and docs/orm.md for a call in your own
 * transaction.
 *
 * @throws {TypeError} if an option is invalid or unknown.
 *
 * @example
 * const database = new pg.Pool({ connectionString, pipeline: true })
 * await migrate({ database })
 * const store = createPostgresStore({ database, findTeam: id => myTeams.find(id) })
 */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  requireOptions(options, { ...managedStoreRules, ...driverRules, schema: schemaRule })
  const { schema, database: driver, preparedStatements, timeLimit = DEFAULT_TRANSACTION_TIME_LIMIT, ...rest } = options
  const database = toDatabase({ database: driver, preparedStatements }, 'store')
  const tables = toTables({ schema })
  const transact = createTransact(database, engine => createStatements(tables, engine), timeLimit)
  const { isInTransaction } = database
  const { queueLength, ...registrations } = createRegistrations(transact, { isInTransaction, timeLimit })
  const store = createManagedStore({ ...registrations, outbox: createOutbox(transact), isInTransaction }, rest)
  return Object.assign(store, { queueLength })
}

type StoreTransaction = TransactionWith<Statements>

/** The work of a call: names to register, or anything else, which shares no transaction. */
type Work = RegistrationStep | OtherWork

interface OtherWork {
  readonly isolation?: Isolation
  perform(transaction: StoreTransaction): Promise<unknown>
}

/** Looks up, saves and deletes registrations, each in one transaction, which calls that register may share. */
function createRegistrations(
  transact: Transact<Statements>,
  { isInTransaction, timeLimit: longest }: { readonly isInTransaction: boolean; readonly timeLimit: number },
): Omit<StoreBackend, 'outbox'> & Pick<PostgresStore, 'queueLength'> {
  const createId = createUuidGenerator()
  /** Then the names of several calls would only involve more servers. True until the engine is known. */
  let isDistributed = true

  const runCalls: RunCalls<Work> = (calls, limits, join) => {
    const [{ work }] = calls as readonly [Call<Work>]
    if ('perform' in work)
      return transact(async transaction => [await work.perform(transaction)], { ...limits, isolation: work.isolation })
    const toSteps = (some: typeof calls) => some.map(call => call.work as RegistrationStep)
    return transact(transaction => {
      isDistributed = transaction.engine.isDistributed
      return register(transaction, toSteps(calls), createId, () => toSteps(join()))
    }, limits)
  }

  const queue = createQueue(runCalls)
  async function run<T>(call: {
    /** Absent if the call is not one of a team. */
    readonly teamId?: string | undefined
    readonly locks?: readonly string[]
    readonly names: number
    readonly size?: number
    readonly timeLimit?: number
    readonly work: Work
  }): Promise<T> {
    const { teamId = '', locks = [], size = Number.POSITIVE_INFINITY, timeLimit = longest } = call
    const deadline = createDeadline(Math.min(timeLimit, longest), longest)
    const queued = { ...call, teamId, locks, size, deadline }
    // Calls in an application's transaction must run in the order in which they were made.
    if (!isInTransaction) return queue.run(queued) as Promise<T>
    const [result] = await runCalls([queued], { deadline, patience: deadline.remaining() }, () => [])
    return result as T
  }

  /** Waits in the queue too, where the teams take turns, rather than in the line of the pool. */
  const read = <T>(names: number, teamId: string | undefined, perform: (transaction: StoreTransaction) => Promise<T>) =>
    run<T>({ teamId, names, work: { perform } })

  /**
   * Finds the registrable domains to lock for a team's names; `null` if the team has registered none of the names.
   *
   * This lookup runs in its own transaction, before the transaction that locks. In a single transaction, a shard could
   * move between the first statement on the shard and the lock. The rest of the transaction would then go to the former
   * server of the shard, and deletions there would be lost.
   */
  async function findLocks(teamId: string, keys: ReleaseKeys): Promise<readonly string[] | null> {
    const names = countKeys(keys)
    if (names === 0) return null
    const own = await read(names, teamId, transaction => findOwn(transaction, teamId, keys))
    if (own.size === 0) return null
    // Locks the registrable domains of unregistered names too: the team might register one of these names in another
    // call before this call holds the locks, and this call would then release or transfer it as well.
    const locked = [...keys.names, ...own.values()].map(each => each.registrableDomain)
    return distinct(locked).sort()
  }

  return {
    queueLength: () => queue.length,
    toDomainId: toUuid,
    register(step) {
      const { teamId, timeLimit, domains, bases, needsCount } = step
      // In a shared transaction, only the names that others save there are added to the findings.
      const isSharing = bases.length === 0 && !needsCount && !isDistributed
      const names = domains.length
      return run({ teamId, locks: locksOf(step), names, timeLimit, ...(isSharing && { size: names }), work: step })
    },
    find: question =>
      run({
        teamId: question.teamId,
        names: question.domains.length,
        // This transaction locks nothing. With snapshot isolation, all its lookups see the same state.
        work: { perform: transaction => find(transaction, question), isolation: 'repeatable read' },
      }),
    get: domainId =>
      read(1, undefined, async ({ send, statements }) => {
        const [row] = await send(statements.findById, [domainId])
        return row ? toRegistration(row) : null
      }),
    async release(teamId, keys, recording) {
      const registrableDomains = await findLocks(teamId, keys)
      if (!registrableDomains) return []
      const releasing = { teamId, keys, registrableDomains, ...recording }
      const names = countKeys(keys)
      return run({
        teamId,
        locks: registrableDomains,
        names,
        work: { perform: transaction => release(transaction, releasing) },
      })
    },
    async transfer(request, keys, recording) {
      const registrableDomains = await findLocks(request.from, keys)
      if (!registrableDomains) return { found: { registrations: [] }, saved: [] }
      const transferring = { ...request, keys, ...recording, createId, registrableDomains }
      const locks = locksOf({ ...transferring, teamId: request.to })
      const names = countKeys(keys)
      return run({
        teamId: request.from,
        locks,
        names,
        work: { perform: transaction => transfer(transaction, transferring) },
      })
    },
    import: request =>
      run({
        teamId: request.teamId,
        locks: request.registrableDomains,
        names: request.domainIds.length,
        work: { perform: transaction => importAll(transaction, request) },
      }),
    list: page => read(1, page.teamId, transaction => list(transaction, page)),
    count: teamId =>
      read(1, teamId, async ({ send, statements }) => {
        const counting = teamId === undefined ? send(statements.count) : send(statements.countOfTeam, teamId)
        return readInteger((await counting)[0]?.count)
      }),
  }
}

const countKeys = ({ names, domainIds }: ReleaseKeys) => names.length + domainIds.length

/**
 * Returns the locks that a call needs. If a team has a limit, its calls also lock the team, so they run one after
 * another.
 */
const locksOf = ({
  teamId,
  registrableDomains,
  needsCount,
}: Pick<RegistrationStep, 'teamId' | 'registrableDomains' | 'needsCount'>) =>
  needsCount ? [lockOfTeam(teamId), ...registrableDomains] : registrableDomains

/**
 * Locks registrable domains, looks up names, and saves those of each call. A call finds what those before it save.
 *
 * @param join Returns calls for the same registrable domains that came while the transaction waited for its locks.
 */
async function register(
  transaction: StoreTransaction,
  steps: readonly RegistrationStep[],
  createId: () => string,
  join: () => readonly RegistrationStep[],
): Promise<readonly SavedRegistrations[]> {
  const [first] = steps as readonly [RegistrationStep]
  const findFor = (some: readonly RegistrationStep[]) =>
    find(transaction, {
      ...first,
      domains: distinct(some.flatMap(({ domains }) => domains)),
      covered: distinct(some.flatMap(({ covered = [] }) => covered)),
    })
  // The lookups are sent together with the lock statement, but run after it. So they see the rows that were saved while
  // the lock statement waited.
  lock(transaction, distinct(steps.flatMap(locksOf)).sort())
  const found = await findFor(steps)
  const joining = join()
  const more = joining.length > 0 ? (await findFor(joining)).registrations : []
  const byDomain = new Map([...found.registrations, ...more].map(registration => [registration.domain, registration]))
  const wildcards = [...byDomain.values()].filter(({ domain }) => isWildcard(domain))
  const pending: Registration[] = []
  const results = [...steps, ...joining].map(step => {
    const exactly = step.domains.flatMap(domain => byDomain.get(domain) ?? [])
    const findings = { ...found, registrations: distinct([...exactly, ...wildcards]) }
    const { created, waiting } = step.decide(findings)
    const saved = toRegistrations(step, created, createId)
    for (const registration of saved) byDomain.set(registration.domain, registration)
    pending.push(...waiting)
    return { found: findings, saved }
  })
  const saved = results.flatMap(result => result.saved)
  insertNames(transaction, saved)
  const { lease } = first
  if (lease !== null) {
    addChanges(transaction, 'registered', saved, () => lease)
    const { write, statements } = transaction
    if (pending.length > 0) void write(statements.lease, ...toNamed(transaction, sort(pending), [lease]))
  }
  return results
}

const distinct = <Item>(items: readonly Item[]) => [...new Set(items)]

function toRegistrations(
  { teamId, registrableDomains, lease, willSave }: RegistrationStep,
  names: readonly Name[],
  createId: () => string,
): readonly Registration[] {
  if (names.some(({ registrableDomain }) => !registrableDomains.includes(registrableDomain)))
    throw new TypeError('decide returned a name in a registrable domain that is not locked')
  const createdAt = new Date()
  const registrations = names.map(({ domain, registrableDomain }) => ({
    domainId: createId(),
    domain,
    registrableDomain,
    teamId,
    synchronized: lease === null,
    createdAt,
  }))
  willSave?.(registrations.map(({ domainId }) => domainId))
  return registrations
}

function insertNames({ write, token, statements }: StoreTransaction, saved: readonly Registration[]): void {
  if (saved.length === 0) return
  const rows = saved.map(registration => ({ registration, key: toKey(registration.domain) }))
  void write(...statements.insertNames(token, rows))
}

async function find(
  transaction: StoreTransaction,
  { teamId, domains, covered, bases, needsCount }: LookUp,
): Promise<LookUpResult> {
  const { send, statements, engine } = transaction
  const finding = findByDomain(transaction, domains, covered)
  const counting = needsCount ? send(statements.countOfTeam, teamId) : undefined
  const findingBelow = engine.group(bases).map(some => {
    // If no public suffix separates a name from a base, the registrable domain of the name is the base or a name above
    // the base.
    const ranges = some.map(base => ({ ...keysBelow(base), within: toArrayLiteral([base, ...ancestorsOf(base)]) }))
    return send(statements.findBelow, ...toArrays(ranges, 'secondLevelDomain', 'after', 'before', 'within'), teamId)
  })
  const registrations = await finding
  const below = (await Promise.all(findingBelow)).flat()
  return {
    registrations,
    below: below.map(row => JSON.parse(row.below)),
    ...(counting && { teamCount: readInteger((await counting)[0]?.count) }),
  }
}

/** Names with more wildcards above them are cut by the server. For other names, that would take it longer. */
const MOST_CUT_HERE = 8

/** Returns the registrations of these names, and the wildcards above `covered`, each once. */
async function findByDomain(
  { send, statements }: StoreTransaction,
  domains: readonly string[],
  covered: readonly string[] = [],
): Promise<readonly Registration[]> {
  const above = toWildcardKeys(covered)
  const near = above
    .filter(({ cuts }) => cuts.length <= MOST_CUT_HERE)
    .flatMap(({ secondLevelDomain, path, cuts }) =>
      cuts.map(cut => ({ secondLevelDomain, path: `${path.slice(0, cut)}.*` })),
    )
  const deep = above
    .filter(({ cuts }) => cuts.length > MOST_CUT_HERE)
    .map(({ secondLevelDomain, path, cuts }) => ({ secondLevelDomain, path, cuts: `{${cuts}}` }))
  const found = await Promise.all([
    send(statements.findByDomain, ...toArrays([...domains.map(toKey), ...near], 'secondLevelDomain', 'path')),
    deep.length > 0 ? send(statements.findWildcards, ...toArrays(deep, 'secondLevelDomain', 'path', 'cuts')) : [],
  ])
  return [...new Map(found.flat().map(row => [row.domainId, row])).values()].map(toRegistration)
}

/** Locks registrable domains, looks up names and IDs, decides which rows to save, and saves them. */
async function importAll(
  transaction: StoreTransaction,
  { registrableDomains, domainIds, decide, ...question }: ImportRequest,
): Promise<ImportFindings> {
  const { send, statements } = transaction
  lock(transaction, registrableDomains)
  const findingIds = [send(statements.findTakenIds, domainIds), send(statements.findPendingIds, domainIds)]
  const [found, ...taken] = await Promise.all([find(transaction, question), ...findingIds])
  const findings = { ...found, takenIds: taken.flat().map(row => row.domainId) }
  const saved = decide(findings)
  insertNames(transaction, saved)
  const pending = saved.filter(({ synchronized }) => !synchronized)
  addChanges(transaction, 'registered', pending, () => 0)
  return findings
}

interface Releasing extends ReleaseRecording {
  readonly teamId: string
  readonly keys: ReleaseKeys
  readonly registrableDomains: readonly string[]
}

/** Locks registrable domains, looks up names, deletes them, records the changes, and deletes the lock rows. */
async function release(
  transaction: StoreTransaction,
  { teamId, keys, registrableDomains, lease, isPushed }: Releasing,
): Promise<readonly Registration[]> {
  const { send, write, statements } = transaction
  lock(transaction, registrableDomains)
  const own = await findOwn(transaction, teamId, keys)
  const ids = toNamed(transaction, sort([...own.values()]))
  const deleting = write(statements.deleteNames, ...ids)
  const replaced = new Set((await write(statements.replace, ...ids)).map(row => row.domainId))
  const released = (await deleting).flatMap(row => own.get(row.domainId) ?? [])
  const deleted = new Set(released.map(({ domainId }) => domainId))
  const kept = [...own.keys()].filter(domainId => !deleted.has(domainId))
  if (kept.length > 0 && (await send(statements.findTakenIds, kept)).length > 0)
    throw new Error('A trigger skipped a row, so nothing was released')
  // This query runs after the pending registrations were deleted. A push records that there is a monitor before it
  // removes a registration from the outbox. So if a push has already removed one of these registrations, the query
  // finds that record.
  const isMonitored = isPushed || (await send(statements.findMonitor)).length > 0
  const recorded = isMonitored ? released : released.filter(({ domainId }) => replaced.has(domainId))
  followNothing(
    transaction,
    released.filter(({ domainId }) => replaced.has(domainId)),
  )
  // A release that replaces a pending registration is due only after the lease, because a push of that registration may
  // be under way.
  addChanges(transaction, 'released', recorded, ({ domainId }) => (replaced.has(domainId) ? lease : 0))
  unlock(transaction, registrableDomains)
  return released
}

interface Transferring extends TransferRequest, ReleaseRecording {
  readonly keys: ReleaseKeys
  readonly registrableDomains: readonly string[]
  createId(): string
}

/**
 * Locks registrable domains, looks up names, transfers them to the other team if `decide` agrees, records the changes,
 * and deletes the lock rows.
 */
async function transfer(
  transaction: StoreTransaction,
  { from, to, needsCount, decide, keys, lease, isPushed, registrableDomains, createId }: Transferring,
): Promise<TransferredRegistrations> {
  const { send, write, statements } = transaction
  lock(transaction, locksOf({ teamId: to, registrableDomains, needsCount }))
  const counting = needsCount ? send(statements.countOfTeam, to) : undefined
  const registrations = sort([...(await findOwn(transaction, from, keys)).values()])
  const found = { registrations, ...(counting && { teamCount: readInteger((await counting)[0]?.count) }) }
  if (registrations.length === 0 || !decide(found)) return { found, saved: [] }
  const created = new Map(registrations.map(({ domainId }) => [domainId, createId()]))
  const toNext = ({ domainId }: Registration) => created.get(domainId) as string
  const createdAt = new Date()
  const transferring = write(
    statements.transferNames,
    ...toNamed(transaction, registrations, [registrations.map(toNext), to, createdAt.getTime()]),
  )
  const replaced = new Set(
    (await write(statements.replace, ...toNamed(transaction, registrations))).map(row => row.domainId),
  )
  if ((await transferring).length !== registrations.length)
    throw new Error('A trigger skipped a row, so nothing was transferred')
  const isMonitored = isPushed || (await send(statements.findMonitor)).length > 0
  const isRecorded = ({ domainId }: Registration) => isMonitored || replaced.has(domainId)
  const recorded = registrations.filter(isRecorded)
  const chained = recorded.filter(({ domainId }) => replaced.has(domainId))
  if (chained.length > 0) void write(statements.follow, ...toNamed(transaction, chained, [chained.map(toNext)]))
  const toWait = ({ domainId }: Registration) => (replaced.has(domainId) ? lease : 0)
  addChanges(transaction, 'released', recorded, toWait, toNext)
  const toTransferred = (each: Registration) => ({ ...each, domainId: toNext(each), teamId: to, createdAt })
  addChanges(transaction, 'registered', recorded.map(toTransferred), () => 0)
  unlock(transaction, registrableDomains)
  const saved = registrations.map(each => ({ ...toTransferred(each), synchronized: !isRecorded(each) }))
  return { found, saved }
}

/** Returns the team's registrations that have one of these names or IDs, keyed by ID. */
async function findOwn(
  transaction: StoreTransaction,
  teamId: string,
  { names, domainIds }: ReleaseKeys,
): Promise<ReadonlyMap<string, Registration>> {
  const { send, statements } = transaction
  const domains = names.map(({ domain }) => domain)
  const found = await Promise.all([
    findByDomain(transaction, domains),
    // If tables are distributed, a lookup by ID alone queries all shards.
    domainIds.length > 0 ? send(statements.findById, domainIds).then(rows => rows.map(toRegistration)) : [],
  ])
  const own = found.flat().filter(registration => registration.teamId === teamId)
  return new Map(own.map(registration => [registration.domainId, registration]))
}

async function list(transaction: StoreTransaction, page: ListPage): Promise<readonly Registration[]> {
  const { send, statements } = transaction
  const { teamId, limit, domain } = page
  if (domain !== undefined) {
    const found = await findByDomain(transaction, [domain])
    return found.filter(registration => isOnPage(page, registration)).slice(0, limit)
  }
  const { name, start } = toListQuery(page)
  const team = teamId === undefined ? [] : [teamId]
  return (await send(statements[name], ...start, limit, ...team)).map(toRegistration)
}
