import type { Awaitable } from '../awaitable.ts'
import { requireTimeLimit } from '../deadline.ts'
import { requireOptions } from '../options.ts'
import { readListOptions } from '../registry/host-arguments.ts'
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
import { DEFAULT_TIME_LIMIT, type DriverOptions, toDatabase } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { createReclassifier, type Reclassification } from './reclassify.ts'
import { createRegister } from './register.ts'
import { createRelease } from './release.ts'
import { toRegistration } from './rows.ts'
import { type PostgresSchemaOptions, toTables } from './schema.ts'
import { createStatements } from './statements.ts'
import { createTransact, type Transaction } from './transaction.ts'

/** Options of {@link createPostgresStore}. */
export interface PostgresStoreOptions extends PostgresSchemaOptions, DriverOptions {
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
  /**
   * Milliseconds for each transaction, including the wait for a connection and for locks, and retries after conflicts.
   * Default 10,000.
   */
  timeLimit?: number | undefined
}

/** Sorts before all IDs. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/** A store in PostgreSQL, with methods for the host. */
export interface PostgresStore extends DomainStore {
  /**
   * Sweeps: pushes the waiting changes that are due, the oldest first. {@link startSynchronizing} calls this in a loop.
   * Refused changes are retried with exponential backoff, up to an hour. Processes that share the database share the
   * work.
   *
   * @throws {TypeError} for an option that is wrong or does not exist.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the changes that wait to be pushed, registrations and releases. For alerts. */
  countPending(): Promise<number>
  /**
   * Lists registrations page by page, in the order in which they were made. The cost depends on the page alone.
   *
   * @returns At most `limit`; fewer on the last page.
   * @throws {TypeError} for an option that is wrong or does not exist.
   * @throws if `after` is no `domainId`.
   */
  list(options?: ListOptions): Promise<readonly Registration[]>
  /**
   * Releases registrations of a team in one transaction, so that the names are free again. Names that the team does not
   * hold are ignored. The next sweep tells the monitor; see {@link startSynchronizing}.
   *
   * @param domains In any spelling that {@link classifyHostname} accepts. On Citus they may have at most 21,844
   *   registrable domains: split a longer list into calls.
   * @returns The released registrations.
   * @throws {TypeError} for an ID that is no string, or domains that are no list.
   * @throws {RangeError} for more registrable domains on Citus. Nothing is released then.
   */
  release(teamId: string, domains: readonly string[]): Promise<readonly Registration[]>
  /**
   * Applies a newer Public Suffix List to the stored names. Run it once after each upgrade of `tldts`, when all
   * processes have the new version. Until then a name whose registrable domain has changed is not found, and could be
   * registered a second time.
   *
   * It walks the whole table in small transactions, and blocks others no longer than one of them. It may be stopped and
   * run again at any time.
   */
  reclassify(): Promise<Reclassification>
}

/**
 * Makes a store in PostgreSQL (14 or later) or PGlite, for any number of processes that share one database. Create the
 * tables first; see {@link migrate}.
 *
 * A call is one transaction in READ COMMITTED. It claims its registrable domains, so that calls which share none do not
 * wait for each other. Conflicts with other transactions are retried within {@link PostgresStoreOptions.timeLimit}.
 *
 * See docs/postgres.md for drivers, poolers, sizing, partitions, Citus, and upgrades of the suffix list.
 *
 * @example
 * const pool = new pg.Pool({ connectionString, pipeline: true })
 * await migrate({ pool })
 * const store = createPostgresStore({ pool, findTeam: id => myTeams.find(id) })
 */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  const { findTeam, synchronize: push, onError, timeLimit = DEFAULT_TIME_LIMIT } = options
  const { synchronizeTimeLimit = DEFAULT_SYNCHRONIZE_TIME_LIMIT } = options
  if (typeof findTeam !== 'function')
    throw new TypeError('The option "findTeam" must be a function from an ID to a team')
  requireTimeLimit('timeLimit', timeLimit)
  requireOptions({ synchronize: push, synchronizeTimeLimit, onError }, synchronizationRules)
  const database = toDatabase(options)
  const { isInHostTransaction } = database
  const transact = createTransact(database, createStatements(toTables(options)), timeLimit)
  const leaseTime = leaseFor(synchronizeTimeLimit)
  const outbox = createOutbox(transact, leaseTime)
  const synchronizer = push && createSynchronizer({ push, timeLimit: synchronizeTimeLimit, onError }, outbox)
  const lease = push ? leaseTime : null

  return {
    findTeam,
    // The host may still roll back, so nothing is pushed before a sweep.
    register: createRegister(transact, lease && isInHostTransaction ? 0 : lease),
    ...(synchronizer &&
      (isInHostTransaction ? { synchronizesLater: true } : { synchronize: synchronizer.synchronize })),

    async synchronizePending(sweep) {
      if (!synchronizer) return { synchronized: 0, failed: 0 }
      if (isInHostTransaction) {
        throw new Error(
          'In a transaction of yours nothing is pushed: sweep with a store on a pool, once you have committed',
        )
      }
      return synchronizer.synchronizePending(sweep)
    },

    countPending: outbox.count,

    async list(options) {
      const { teamId, after = FIRST, limit } = readListOptions(options)
      const find = ({ send, statements }: Transaction) =>
        teamId === undefined ? send(statements.listAll, after, limit) : send(statements.listTeam, after, limit, teamId)
      return transact({ find, save: ({ rows }) => rows.map(toRegistration) })
    },

    release: createRelease(transact, lease),
    reclassify: createReclassifier(transact),
  }
}
