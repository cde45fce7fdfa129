import type { Awaitable } from '../awaitable.ts'
import { createDeadline, requireTimeLimit } from '../deadline.ts'
import { toChange } from '../registry/outbox.ts'
import {
  type Change,
  DEFAULT_PAGE_SIZE,
  type DomainStore,
  type ListOptions,
  type Registration,
  type SweepOptions,
  type SweepResult,
  type Team,
} from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import { toPlaceholders } from './claim.ts'
import { type DriverOptions, type Send, toDatabase } from './connection.ts'
import { claimAndFind } from './find.ts'
import { toKey } from './path.ts'
import { createReclassifier, type Reclassification } from './reclassify.ts'
import { createRegister } from './register.ts'
import { createRelease } from './release.ts'
import { takeBack } from './remove.ts'
import { toRegistration } from './rows.ts'
import { type PostgresSchemaOptions, toTables } from './schema.ts'
import { createStatements } from './statements.ts'
import { createTransact } from './transaction.ts'

export interface PostgresStoreOptions extends PostgresSchemaOptions, DriverOptions {
  /** Finds a team where you keep them; see {@link DomainStore.findTeam}. */
  findTeam: (teamId: string) => Awaitable<Team | null>
  /**
   * Pushes registrations to what does the monitoring. May be called again with the same ones: it must be idempotent on
   * `domainId`. While it rejects, calls that registered something answer 503. Without it there is nothing to push to.
   */
  synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
  /**
   * Milliseconds after which a push counts as failed. It may go through all the same, and is made again. Default
   * 30,000.
   */
  synchronizeTimeLimit?: number | undefined
  /**
   * Milliseconds for each piece of work in the database: waiting for a connection, for locks, and for statements, with
   * all that is tried again after a conflict. Default 10,000.
   */
  timeLimit?: number | undefined
}

const DEFAULT_SYNCHRONIZE_TIME_LIMIT = 30_000
const DEFAULT_TIME_LIMIT = 10_000
/** No ID is less. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/** A store in PostgreSQL, with what a host needs beside it. */
export interface PostgresStore extends DomainStore {
  /**
   * Pushes what is saved and not yet synchronized, oldest first: for a timer of the host, so that nothing waits for a
   * caller to retry. Many processes may do so at once, and may then push the same twice.
   *
   * @returns How many registrations were pushed.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /**
   * Lists registrations in the order of registration, by page: of one team or of all. What a page costs depends on its
   * length, not on how much is registered.
   *
   * @throws if `after` is no `domainId`.
   */
  list(options?: ListOptions): Promise<readonly Registration[]>
  /**
   * Gives up registrations of a team, so that the names are free again. Names that the team does not hold are passed
   * over.
   *
   * @param domains In any spelling that registers them. All are given up in one transaction.
   * @returns What was given up.
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
 * A call is one transaction in READ COMMITTED. It locks the rows of its registrable domains, so that calls which share
 * none do not wait for each other. Conflicts with other transactions are retried within
 * {@link PostgresStoreOptions.timeLimit}.
 *
 * docs/postgres.md tells of drivers, poolers, sizing, partitions, Citus, and upgrading the suffix list.
 *
 * @example
 * const pool = new pg.Pool({ connectionString, pipeline: true })
 * await migrate({ pool })
 * const store = createPostgresStore({ pool, findTeam: id => myTeams.find(id) })
 */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  const { findTeam, synchronize: push, timeLimit = DEFAULT_TIME_LIMIT } = options
  const { synchronizeTimeLimit = DEFAULT_SYNCHRONIZE_TIME_LIMIT } = options
  if (typeof findTeam !== 'function')
    throw new TypeError('The option "findTeam" must be a function from an ID to a team')
  requireTimeLimit('timeLimit', timeLimit)
  requireTimeLimit('synchronizeTimeLimit', synchronizeTimeLimit)
  const database = toDatabase(options)
  const statements = createStatements(toTables(options))
  const transact = createTransact(database, timeLimit)
  const lease = push ? synchronizeTimeLimit * 2 : null

  async function markSynchronized(registrations: readonly Registration[]): Promise<void> {
    await transact({
      find: (send, engine) => claimAndFind(send, statements, toPlaceholders(registrations), {}, engine),
      save({ fresh }, send) {
        const keys = registrations.map(toKey)
        void send(
          statements.markSynchronized,
          toArrayLiteral(keys.map(({ registrableDomain }) => registrableDomain)),
          toArrayLiteral(keys.map(({ path }) => path)),
          toArrayLiteral(registrations.map(({ domainId }) => domainId)),
        )
        takeBack(send, statements, fresh)
      },
    })
  }

  async function pushAndMark(registrations: readonly Registration[]): Promise<void> {
    await createDeadline(synchronizeTimeLimit).wait(push?.(registrations.map(each => toChange(each, 'registered'))))
    await markSynchronized(registrations)
  }

  return {
    findTeam,
    register: createRegister({ transact, statements, lease }),
    // What the host may still take back is pushed by nobody.
    ...(push && (database.isInHostTransaction ? { synchronizesLater: true } : { synchronize: pushAndMark })),

    async synchronizePending({ limit = 1000 } = {}) {
      if (!push) return { synchronized: 0, failed: 0 }
      if (database.isInHostTransaction) {
        throw new Error(
          'In a transaction of yours nothing is pushed: sweep with a store on a pool, once you have committed',
        )
      }
      const rows = await transact({ find: send => send(statements.findPending, limit), save: found => found })
      if (rows.length > 0) await pushAndMark(rows.map(toRegistration))
      return { synchronized: rows.length, failed: 0 }
    },

    async list({ teamId, after = FIRST, limit = DEFAULT_PAGE_SIZE } = {}) {
      const find = (send: Send) =>
        teamId === undefined ? send(statements.listAll, after, limit) : send(statements.listTeam, after, limit, teamId)
      return (await transact({ find, save: found => found })).map(toRegistration)
    },

    release: createRelease(transact, statements),
    reclassify: createReclassifier(transact, statements),
  }
}
