import type { Awaitable } from '../awaitable.ts'
import { classifyHostname } from '../hostname/classify.ts'
import { isFunction, type Rules, requireOptions } from '../options.ts'
import {
  createSynchronizer,
  DEFAULT_SYNCHRONIZE_TIME_LIMIT,
  leaseFor,
  synchronizationRules,
} from '../registry/outbox.ts'
import {
  type Change,
  DEFAULT_PAGE_SIZE,
  type DomainStore,
  type ListOptions,
  type Registration,
  type SweepOptions,
  type SweepResult,
  type SynchronizationErrorHandler,
  type Team,
} from '../registry/store.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { toPath } from './path.ts'
import { createRegister, toRegistration } from './register.ts'
import { prepareAll } from './statements.ts'
import { takeTurn } from './turns.ts'

/** What {@link createSqliteStore} takes. */
export interface SqliteStoreOptions extends SqliteConnectionOptions {
  /** Finds a team where you keep them; see {@link DomainStore.findTeam}. */
  findTeam: (teamId: string) => Awaitable<Team | null>
  /**
   * Pushes changes to what does the monitoring. It must be idempotent on `domainId` and `kind`: the same change may
   * come again. While it rejects, calls that registered something answer 503. Without it there is nothing to push to.
   */
  synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
  /**
   * Milliseconds after which a push counts as failed. It may go through all the same, and is made again. Default
   * 30,000.
   */
  synchronizeTimeLimit?: number | undefined
  /** Learns of changes that could not be pushed. Default: nobody does. */
  onError?: SynchronizationErrorHandler | undefined
}

const storeRules: Rules = {
  ...connectionRules,
  ...synchronizationRules,
  findTeam: { holds: isFunction, expected: 'a function from an ID to a team' },
}

/** A store in SQLite, with what a host needs beside it. */
export interface SqliteStore extends DomainStore {
  /**
   * Gives up registrations of a team, so that the names are free again. Names that the team does not hold are passed
   * over. The monitor learns of it by the next sweep; see {@link startSynchronizing}.
   *
   * @param domains In any spelling that registers them. All are given up in one transaction.
   * @returns What was given up.
   */
  release(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  /**
   * Lists registrations in the order in which they were made, a page at a time.
   *
   * @returns At most `limit`; fewer where these are the last. The cost depends on the page, not on what is held.
   */
  list(options?: ListOptions): Awaitable<readonly Registration[]>
  /**
   * Pushes the changes that wait and are due, the oldest first: a sweep. {@link startSynchronizing} calls it again and
   * again. What is refused is tried again later and later, up to an hour. Processes that share the file share the work.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the changes that wait to be pushed, registrations and releases. For an alert. */
  countPending(): Awaitable<number>
}

/**
 * Makes a store in a SQLite database: durable without a server. Makes its tables if they are not there.
 *
 * A call is one synchronous transaction. Any number of processes on one machine may share the file, and take turns when
 * they write; SQLite does not work over network file systems (sqlite.org/useovernet.html).
 *
 * @throws {TypeError} for an option that cannot be used.
 * @throws {Error} when the database cannot be used, and says why.
 *
 * @example
 * const database = new DatabaseSync('registrations.db') // of node:sqlite
 * const store = createSqliteStore({ database, findTeam: id => myTeams.find(id) })
 */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  requireOptions(options, storeRules)
  const { findTeam, synchronize: push, onError } = options
  const { synchronizeTimeLimit: pushTimeLimit = DEFAULT_SYNCHRONIZE_TIME_LIMIT } = options
  const { driver, timeLimit } = connect(options)
  const statements = prepareAll(driver)
  const ask = <T>(work: () => T) => takeTurn(timeLimit, work)
  const transact = <T>(work: () => T) => takeTurn(timeLimit, () => driver.transact(work))
  const outbox = createOutbox(statements, transact, leaseFor(pushTimeLimit))
  const synchronizer = push && createSynchronizer({ push, timeLimit: pushTimeLimit, onError }, outbox)
  const register = createRegister(statements, push && outbox)

  function releaseOne(teamId: string, domain: string): Registration[] {
    const hostname = classifyHostname(domain)
    if (!hostname.valid) return []
    const [row] = statements.findName(hostname.registrableDomain, toPath(hostname))
    if (row?.team_id !== teamId) return []
    const registration = toRegistration(row)
    statements.deleteName(row.domain_id)
    if (push) outbox.addReleased(registration)
    return [registration]
  }

  return {
    findTeam,
    register: request => transact(() => register(request)),
    release: (teamId, domains) => transact(() => domains.flatMap(domain => releaseOne(teamId, domain))),
    list: ({ teamId, after = '', limit = DEFAULT_PAGE_SIZE } = {}) =>
      ask(() => {
        const rows = teamId === undefined ? statements.list(after, limit) : statements.listOfTeam(teamId, after, limit)
        return rows.map(toRegistration)
      }),
    ...(synchronizer && { synchronize: synchronizer.synchronize }),
    synchronizePending: synchronizer?.synchronizePending ?? (async () => ({ synchronized: 0, failed: 0 })),
    countPending: () => ask(outbox.count),
  }
}
