import type { Awaitable } from '../awaitable.ts'
import { classifyHostname } from '../hostname/classify.ts'
import { isFunction, type Rules, requireOptions } from '../options.ts'
import { readListOptions, requireRelease } from '../registry/host-arguments.ts'
import {
  createSynchronizer,
  DEFAULT_SYNCHRONIZE_TIME_LIMIT,
  leaseFor,
  synchronizationRules,
} from '../registry/outbox.ts'
import type {
  Change,
  DomainStore,
  ListOptions,
  Registration,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
  Team,
} from '../registry/store.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { toPath } from './path.ts'
import { createRegister, toRegistration } from './register.ts'
import { prepareAll } from './statements.ts'
import { takeTurn } from './turns.ts'

/** Options of {@link createSqliteStore}. */
export interface SqliteStoreOptions extends SqliteConnectionOptions {
  /** Finds a team among yours; see {@link DomainStore.findTeam}. */
  findTeam: (teamId: string) => Awaitable<Team | null>
  /**
   * Pushes changes to your monitor. It must be idempotent on `domainId` and `kind`, since a change may be pushed twice.
   * While it rejects, calls that registered something answer 503. Default: registrations need no push.
   */
  synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
  /**
   * Milliseconds after which a push counts as failed, and will be repeated even if it goes through later. Default
   * 30,000.
   */
  synchronizeTimeLimit?: number | undefined
  /** Called with each change that could not be pushed. Default: failures are not reported. */
  onError?: SynchronizationErrorHandler | undefined
}

const storeRules: Rules = {
  ...connectionRules,
  ...synchronizationRules,
  findTeam: { holds: isFunction, expected: 'a function from an ID to a team' },
}

/** A store in SQLite, with methods for the host. */
export interface SqliteStore extends DomainStore {
  /**
   * Releases registrations of a team in one transaction, so that the names are free again. Names that the team does not
   * hold are ignored. The next sweep tells the monitor; see {@link startSynchronizing}.
   *
   * @param domains In any spelling that {@link classifyHostname} accepts.
   * @returns The released registrations.
   * @throws {TypeError} for an ID that is no string, or domains that are no list.
   */
  release(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
  /**
   * Lists registrations page by page, in the order in which they were made. The cost depends on the page alone.
   *
   * @returns At most `limit`; fewer on the last page.
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  list(options?: ListOptions): Awaitable<readonly Registration[]>
  /**
   * Sweeps: pushes the waiting changes that are due, the oldest first. {@link startSynchronizing} calls this in a loop.
   * Refused changes are retried with exponential backoff, up to an hour. Processes that share the file share the work.
   *
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the changes that wait to be pushed, registrations and releases. For alerts. */
  countPending(): Awaitable<number>
}

/**
 * Makes a store in a SQLite database: durable without a server. Creates its tables if they are missing.
 *
 * Each call is one synchronous transaction. Any number of processes on one machine may share the file; they take turns
 * to write. SQLite does not work over network file systems (sqlite.org/useovernet.html).
 *
 * @throws {TypeError} for an option that cannot be used.
 * @throws {Error} when the database cannot be used, and says why.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 *
 * const database = new DatabaseSync('registrations.db')
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
    release(teamId, domains) {
      requireRelease(teamId, domains)
      return transact(() => domains.flatMap(domain => releaseOne(teamId, domain)))
    },
    list(options) {
      const { teamId, after = '', limit } = readListOptions(options)
      return ask(() => {
        const rows = teamId === undefined ? statements.list(after, limit) : statements.listOfTeam(teamId, after, limit)
        return rows.map(toRegistration)
      })
    },
    ...(synchronizer && { synchronize: synchronizer.synchronize }),
    synchronizePending: synchronizer?.synchronizePending ?? (async () => ({ synchronized: 0, failed: 0 })),
    countPending: () => ask(outbox.count),
  }
}
