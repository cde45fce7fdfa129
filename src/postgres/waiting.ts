import { requireOptions } from '../options.ts'
import { readBoolean, readInteger, toWaitingName } from '../sql/rows.ts'
import type { WaitingStore } from '../store/waiting.ts'
import {
  DEFAULT_TRANSACTION_TIME_LIMIT,
  type DriverOptions,
  driverRules,
  toDatabase,
} from './drivers/driver-options.ts'
import { type PostgresSchemaOptions, schemaRule, toTables } from './schema.ts'
import { toArrays } from './statements/sql.ts'
import { createStatements, OVER } from './statements/waiting.ts'
import { createTransact } from './transaction.ts'

/** Options of {@link createPostgresWaitingStore}. */
export interface PostgresWaitingStoreOptions extends PostgresSchemaOptions, DriverOptions {
  /** Milliseconds for each call, including the wait for a connection. Default 10,000. */
  timeLimit?: number | undefined
}

/**
 * Creates a store of names that wait, in PostgreSQL. Create its table first; see {@link migrate}. With your own
 * transaction as `database`, names are kept if you commit it.
 *
 * @throws {TypeError} if an option is missing, invalid or unknown.
 *
 * @example
 * const waiting = createPostgresWaitingStore({ database })
 * app.use(domainsRouter({ store, keys, checkNames, waiting }))
 * const retrying = startRetrying({ store, waiting, checkNames })
 */
export function createPostgresWaitingStore(options: PostgresWaitingStoreOptions): WaitingStore {
  requireOptions(options, { ...driverRules, schema: schemaRule })
  const { timeLimit = DEFAULT_TRANSACTION_TIME_LIMIT } = options
  const database = toDatabase(options, 'waiting')
  const tables = toTables(options)
  const transact = createTransact(database, () => createStatements(tables), timeLimit)
  const toLock = (teamId: string) => `${tables.waiting} ${teamId}`

  return {
    isInTransaction: database.isInTransaction,
    keep: (teamId, names, { wait, keepFor, most }) =>
      transact(async ({ send, write, token, statements }) => {
        const rows = names.map(({ refusal, ...name }) => ({ ...name, refusal: JSON.stringify(refusal) }))
        const values = toArrays(rows, 'domain', 'registrableDomain', 'refusal')
        await send(statements.lockTeam, toLock(teamId))
        const kept = write(statements.keep, token, teamId, ...values, wait, keepFor, most)
        const [stats] = await send(statements.findOverdue)
        return { kept: (await kept).map(toWaitingName), overdue: readInteger(stats?.overdue) }
      }),
    remove: (teamId, domains) =>
      transact(async ({ send, write, token, statements }) => {
        await send(statements.lockTeam, toLock(teamId))
        return toDomains(await write(statements.remove, token, teamId, domains))
      }),
    take: ({ limit, lease }) =>
      transact(async ({ write, statements }) => {
        const rows = await write(statements.take, limit, lease, `take ${tables.waiting} `)
        return rows.map(({ isLast, ...row }) => ({ ...toWaitingName(row), isLast: readBoolean(isLast) }))
      }),
    settle: (teamId, tried, { registrableDomains, lease } = NONE) =>
      transact(async ({ send, write, token, statements }) => {
        const rows = tried.map(({ domain, tries, until: end, ...outcome }) => {
          const taken = { domain, tries, until: String(end.getTime()) }
          if (outcome.isOver) return { ...taken, wait: OVER, refusal: '' }
          const { wait, refusal } = outcome
          return { ...taken, wait, refusal: refusal ? JSON.stringify(refusal) : '' }
        })
        const values = toArrays(rows, 'domain', 'tries', 'until', 'wait', 'refusal')
        await send(statements.lockTeam, toLock(teamId))
        const settled = write(statements.settle, token, teamId, ...values)
        if (registrableDomains.length > 0) void write(statements.hasten, token, teamId, registrableDomains, lease)
        return toDomains(await settled)
      }),
    list: teamId => transact(async ({ send, statements }) => (await send(statements.list, teamId)).map(toWaitingName)),
    stats: () =>
      transact(async ({ send, statements }) => {
        const [stats] = await send(statements.count)
        return { count: readInteger(stats?.count), overdue: readInteger(stats?.overdue) }
      }),
  }
}

const NONE = { registrableDomains: [], lease: 0 }

const toDomains = (rows: readonly { readonly domain: string }[]) => rows.map(({ domain }) => domain)
