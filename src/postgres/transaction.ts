import { toKey } from '../store/name-key.ts'
import { createDeadline, type Deadline } from '../time/deadline.ts'
import type { Database, Transaction } from './drivers/database.ts'
import { hasCode } from './drivers/failures.ts'
import type { Engine } from './engines/engine.ts'
import { findEngine } from './engines/find-engine.ts'
import { type Isolation, toSettings } from './engines/settings.ts'
import type { Lock, LockStatements } from './statements/locks.ts'
import { toArrays } from './statements/sql.ts'

/** A transaction with the statements that it can send. */
export interface TransactionWith<Statements> extends Transaction {
  readonly statements: Statements
  readonly engine: Engine
}

/** Runs a transaction, and retries it after a conflict while there is time. */
export type Transact<Statements> = <T>(
  work: (transaction: TransactionWith<Statements>) => Promise<T>,
  options?: {
    readonly deadline?: Deadline
    readonly isolation?: Isolation | undefined
    /** For how many milliseconds the transaction may wait for one lock. Default: nearly until the deadline. */
    readonly patience?: number
  },
) => Promise<T>

/**
 * The server's share of the remaining time. It is less than 1, so that the server times out before the deadline, and
 * the connection can be kept.
 */
const SERVER_SHARE = 0.9

/**
 * @param createStatements Returns the statements in the form that the server's engine needs.
 * @param longest The time limit of each transaction, in milliseconds.
 */
export function createTransact<Statements>(
  database: Database,
  createStatements: (engine: Engine) => Statements,
  longest: number,
): Transact<Statements> {
  let known: { readonly engine: Engine; readonly statements: Statements } | undefined
  return async (work, { deadline = createDeadline(longest), isolation = 'read committed', patience } = {}) => {
    const attempt = async () => {
      if (!known) {
        const engine = await findEngine(database, deadline)
        known = { engine, statements: createStatements(engine) }
      }
      const { engine, statements } = known
      const settings = toSettings(engine, deadline.remaining() * SERVER_SHARE, isolation, patience)
      return database.transact(deadline, settings, ({ send, write, token }) =>
        work({ send, write, token, statements, engine }),
      )
    }
    return retryConflicts(deadline, attempt)
  }
}

/**
 * Locks registrable domains until the end of the transaction.
 *
 * @param registrableDomains In ascending order of code units. The first one may be a team's lock, see {@link
 *   lockOfTeam}.
 */
export function lock(
  { send, statements }: TransactionWith<LockStatements>,
  registrableDomains: readonly string[],
): void {
  if (registrableDomains.length > 0) void send(...statements.lock(null, registrableDomains.map(toLock)))
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
export function unlock(
  { write, token, statements }: TransactionWith<LockStatements>,
  registrableDomains: readonly string[],
): void {
  const locks = registrableDomains.map(toLock)
  void write(statements.unlock, token, ...toArrays(locks, 'secondLevelDomain', 'registrableDomain'))
}

const toLock = (registrableDomain: string): Lock => ({
  secondLevelDomain: toKey(registrableDomain).secondLevelDomain,
  registrableDomain,
})

/**
 * The SQLSTATEs of failures that save nothing, and after which a retry may succeed (PostgreSQL documentation, appendix
 * A).
 */
const conflicts = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '25P03', // idle_in_transaction_session_timeout; postgres.js reports it to the next transaction as well
])

/**
 * unique_violation. Either the call violates one of the application's constraints, or another process has just
 * registered the name. The lock does not prevent this if the other process uses another version of the Public Suffix
 * List, because that process then locks another registrable domain.
 */
const duplicate = new Set(['23505'])

const MOST_DUPLICATES = 3

const FIRST_PAUSE = 5

const LONGEST_PAUSE = 200

/** Calls `work`, and repeats it after each conflict while there is time, with exponential backoff and jitter. */
export async function retryConflicts<T>(
  deadline: Deadline,
  work: () => Promise<T>,
  isConflict: (error: unknown, attempt: number) => boolean = isRetryable,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const pause = Math.random() * Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
      if (!isConflict(error, attempt) || deadline.remaining() <= pause) throw error
      await new Promise(resolve => setTimeout(resolve, pause))
    }
  }
}

const isRetryable = (error: unknown, attempt: number) =>
  hasCode(error, conflicts) || (attempt < MOST_DUPLICATES && hasCode(error, duplicate))
