import { toKey } from '../registry/path.ts'
import { createDeadline } from '../time/deadline.ts'
import type { Database, Transaction } from './database.ts'
import { type Engine, findEngine, type Isolation, toSettings } from './engine.ts'
import { createNameStatements } from './name-statements.ts'
import { createOutboxStatements } from './outbox-statements.ts'
import { createQueues } from './queues.ts'
import { retryConflicts } from './retry.ts'
import type { Tables } from './schema.ts'

/** All statements of the store, in the form that the given engine needs. */
export const createStatements = (tables: Tables, engine: Engine) => ({
  ...createNameStatements(tables, engine),
  ...createOutboxStatements(tables, engine),
})

export type Statements = ReturnType<typeof createStatements>

/** A transaction with the statements that it can send. */
export interface StoreTransaction extends Transaction {
  readonly statements: Statements
  readonly engine: Engine
}

/** Runs a transaction, and retries it after a conflict while there is time. */
export type Transact = <T>(
  work: (transaction: StoreTransaction) => Promise<T>,
  options?: {
    readonly timeLimit?: number
    readonly isolation?: Isolation
    /** The registrable domains that the transaction will lock, in ascending order. */
    readonly claims?: readonly string[]
  },
) => Promise<T>

/**
 * The server's share of the remaining time. It is less than 1, so that the server times out before the deadline, and
 * the connection can be kept.
 */
const SERVER_SHARE = 0.9

/** @param longest The time limit of each transaction, in milliseconds. */
export function createTransact(database: Database, tables: Tables, longest: number): Transact {
  let known: { readonly engine: Engine; readonly statements: Statements } | undefined
  const queues = createQueues()
  return async (work, { timeLimit = longest, isolation = 'read committed', claims = [] } = {}) => {
    const deadline = createDeadline(Math.min(timeLimit, longest), longest)
    const attempt = async () => {
      if (!known) {
        const engine = await findEngine(database, deadline)
        known = { engine, statements: createStatements(tables, engine) }
      }
      const { engine, statements } = known
      const settings = toSettings(engine, deadline.remaining() * SERVER_SHARE, isolation)
      return database.transact(deadline, settings, ({ ask, change }) => work({ ask, change, statements, engine }))
    }
    // Calls in an application's transaction must run in the order in which they were made. If they waited in these
    // queues, a call for another registrable domain would overtake them.
    const queued = database.isInTransaction ? [] : claims
    return queues.run(queued, deadline, () => retryConflicts(deadline, attempt))
  }
}

/**
 * Locks registrable domains until the end of the transaction.
 *
 * @param registrableDomains In ascending order of code units. The first one may be a team's lock, see {@link
 *   lockOfTeam}.
 */
export function claim({ ask, statements }: StoreTransaction, registrableDomains: readonly string[]): Promise<unknown> {
  if (registrableDomains.length === 0) return Promise.resolve()
  return ask(...statements.claim(registrableDomains.map(toLock)))
}

/**
 * Returns the name of a team's lock, which makes the team's calls run one after another. The name sorts before all
 * registrable domains, because it begins with `#`, which sorts before all characters of hostnames.
 */
export const lockOfTeam = (teamId: string): string => `#${teamId}`

/**
 * Deletes the lock rows of registrable domains that this transaction has locked. This must be the last statement of the
 * transaction.
 */
export function unlock({ change, statements }: StoreTransaction, registrableDomains: readonly string[]): void {
  void change(statements.unlock, registrableDomains.map(toSecondLevelDomain), registrableDomains)
}

const toSecondLevelDomain = (domain: string) => toKey(domain).secondLevelDomain
const toLock = (registrableDomain: string) => [toSecondLevelDomain(registrableDomain), registrableDomain]
