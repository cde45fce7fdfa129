import type { Awaitable } from '../awaitable.ts'
import { requireTimeLimit } from '../deadline.ts'
import { requireOptions } from '../options.ts'
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
import { DEFAULT_TIME_LIMIT, type DriverOptions, toDatabase } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { createReclassifier, type Reclassification } from './reclassify.ts'
import { createRegister } from './register.ts'
import { createRelease } from './release.ts'
import { toRegistration } from './rows.ts'
import { type PostgresSchemaOptions, toTables } from './schema.ts'
import { createStatements } from './statements.ts'
import { createTransact, type Transaction } from './transaction.ts'

/** What {@link createPostgresStore} takes. */
export interface PostgresStoreOptions extends PostgresSchemaOptions, DriverOptions {
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
  /**
   * Milliseconds for each piece of work in the database: waiting for a connection, for locks, and for statements, with
   * all that is tried again after a conflict. Default 10,000.
   */
  timeLimit?: number | undefined
}

/** No ID is less. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/** A store in PostgreSQL, with what a host needs beside it. */
export interface PostgresStore extends DomainStore {
  /**
   * Pushes the changes that wait and are due, the oldest first: a sweep. {@link startSynchronizing} calls it again and
   * again. What is refused is tried again later and later, up to an hour. Processes that share the database share the
   * work.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /** Counts the changes that wait to be pushed, registrations and releases. For an alert. */
  countPending(): Promise<number>
  /**
   * Lists registrations in the order of registration, by page: of one team or of all. What a page costs depends on its
   * length, not on how much is registered.
   *
   * @throws if `after` is no `domainId`.
   */
  list(options?: ListOptions): Promise<readonly Registration[]>
  /**
   * Gives up registrations of a team, so that the names are free again. Names that the team does not hold are passed
   * over. The monitor learns of it by the next sweep; see {@link startSynchronizing}.
   *
   * @param domains In any spelling that registers them. All are given up in one transaction. On Citus they are of at
   *   most 21,844 registrable domains: split a longer list into calls.
   * @returns What was given up.
   * @throws {RangeError} if there are more registrable domains on Citus. Nothing is given up then.
   */
  release(teamId: string, domains: readonly string[]): Promise<readonly Registration[]>
  /**
   * Puts right what a newer Public Suffix List says of names that are stored: run it once each time that the installed
   * `tldts` has changed, after all processes have the new one. A name whose registrable domain is another one now is
   * not found until then, and could be registered a second time.
   *
   * Walks the whole table in small transactions, and disturbs nobody for longer than one takes. It may be stopped and
   * begun again at any time, and changes nothing the second time.
   */
  reclassify(): Promise<Reclassification>
}

/**
 * Makes a store in PostgreSQL (14 or later) or PGlite, for any number of processes that share one database. The tables
 * must be there: see {@link migrate}.
 *
 * A call is one transaction in READ COMMITTED. It claims its registrable domains, so that calls which share none do not
 * wait for each other. Conflicts with other transactions are retried within {@link PostgresStoreOptions.timeLimit}.
 *
 * docs/postgres.md tells of drivers, poolers, sizing, partitions, Citus, and upgrading the suffix list.
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
    // What the host may still take back is pushed by nobody.
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

    async list({ teamId, after = FIRST, limit = DEFAULT_PAGE_SIZE } = {}) {
      const find = ({ send, statements }: Transaction) =>
        teamId === undefined ? send(statements.listAll, after, limit) : send(statements.listTeam, after, limit, teamId)
      return (await transact({ find, save: found => found })).map(toRegistration)
    },

    release: createRelease(transact, lease),
    reclassify: createReclassifier(transact),
  }
}
