import type { Awaitable } from '../awaitable.ts'
import { createDeadline, isTimeLimit, TIME_LIMIT } from '../deadline.ts'
import { classifyHostname } from '../hostname/classify.ts'
import { isFunction, optional, type Rules, requireOptions } from '../options.ts'
import { toChange } from '../registry/outbox.ts'
import type {
  Change,
  DomainStore,
  Registered,
  Registration,
  RegistrationRequest,
  SweepOptions,
  SweepResult,
  Team,
} from '../registry/store.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { toPath } from './path.ts'
import { createRegister, toRegistration } from './register.ts'
import { prepareAll } from './statements.ts'
import { takeTurn } from './turns.ts'

export interface SqliteStoreOptions extends SqliteConnectionOptions {
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
}

const storeRules: Rules = {
  ...connectionRules,
  findTeam: { holds: isFunction, expected: 'a function from an ID to a team' },
  synchronize: { holds: optional(isFunction), expected: 'a function that takes registrations' },
  synchronizeTimeLimit: { holds: optional(isTimeLimit), expected: TIME_LIMIT },
}

const DEFAULT_SYNCHRONIZE_TIME_LIMIT = 30_000

/** A store in SQLite, with what a host needs beside it. */
export interface SqliteStore extends DomainStore {
  register(request: RegistrationRequest): Awaitable<Registered>
  /**
   * Pushes what is saved and not yet synchronized, oldest first: for a timer of the host, so that nothing waits for a
   * caller to retry.
   *
   * @returns How many registrations were pushed.
   */
  synchronizePending(options?: SweepOptions): Promise<SweepResult>
  /**
   * Gives up registrations of a team, so that the names are free again. Names that the team does not hold are passed
   * over.
   *
   * @param domains In any spelling that registers them. All are given up in one transaction.
   * @returns What was given up.
   */
  release(teamId: string, domains: readonly string[]): Awaitable<readonly Registration[]>
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
  const { findTeam, synchronize: push } = options
  const { synchronizeTimeLimit = DEFAULT_SYNCHRONIZE_TIME_LIMIT } = options
  const { driver, timeLimit } = connect(options)
  const statements = prepareAll(driver)
  const register = createRegister(statements, push === undefined)

  const transact = <T>(work: () => T) => takeTurn(timeLimit, () => driver.transact(work))

  async function pushAndMark(registrations: readonly Registration[]): Promise<void> {
    await createDeadline(synchronizeTimeLimit).wait(push?.(registrations.map(each => toChange(each, 'registered'))))
    await transact(() => {
      for (const { domainId } of registrations) statements.markSynchronized(domainId)
    })
  }

  return {
    findTeam,
    register: request => transact(() => register(request)),
    ...(push && { synchronize: pushAndMark }),

    async synchronizePending({ limit = 1000 } = {}) {
      if (!push) return { synchronized: 0, failed: 0 }
      const rows = await takeTurn(timeLimit, () => statements.findPending(limit))
      if (rows.length > 0) await pushAndMark(rows.map(toRegistration))
      return { synchronized: rows.length, failed: 0 }
    },

    release: (teamId, domains) =>
      transact(() =>
        domains.flatMap(domain => {
          const hostname = classifyHostname(domain)
          if (!hostname.valid) return []
          const [row] = statements.findName(hostname.registrableDomain, toPath(hostname))
          if (row?.team_id !== teamId) return []
          statements.deleteName(row.domain_id)
          return [toRegistration(row)]
        }),
      ),
  }
}
