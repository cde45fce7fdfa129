import { requireOptions } from '../options.ts'
import { toUuid } from '../store/arguments.ts'
import {
  createManagedStore,
  type ManagedStore,
  type ManagedStoreOptions,
  managedStoreRules,
  type StoreBackend,
} from '../store/managed-store.ts'
import { connect, connectionRules, type SqliteConnectionOptions } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { createRegistrations, createReleases } from './registrations.ts'
import { statements as all, prepareAll } from './statements.ts'

/** Options of {@link createSqliteStore}. */
export interface SqliteStoreOptions extends SqliteConnectionOptions, ManagedStoreOptions {}

/** A store in SQLite. */
export interface SqliteStore extends ManagedStore {}

/**
 * Creates a store in a SQLite database. The store is durable, and needs no database server. The store creates its
 * tables if they are missing.
 *
 * Each call is one synchronous transaction. Any number of processes on one machine may share the file; only one of them
 * writes at a time. SQLite does not work over network file systems (sqlite.org/useovernet.html).
 *
 * @throws {TypeError} if an option is missing, invalid or unknown.
 * @throws {Error} if the database cannot be used; the message says why.
 *
 * @example
 * import { DatabaseSync } from 'node:sqlite'
 *
 * const database = new DatabaseSync('registrations.db')
 * const store = createSqliteStore({ database, findTeam: id => myTeams.find(id) })
 */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  requireOptions(options, { ...connectionRules, ...managedStoreRules })
  const { database, timeLimit, synchronous, ...managed } = options
  return createManagedStore(createSqliteBackend({ database, timeLimit, synchronous }), managed)
}

/** Creates the backend of {@link createSqliteStore}. */
export function createSqliteBackend(options: SqliteConnectionOptions): StoreBackend {
  const connection = connect(options)
  const { ask, transact } = connection
  const statements = prepareAll(connection.driver, all)
  const outbox = createOutbox(statements, connection)
  const { find, get, register, importAll, list, count } = createRegistrations(statements, outbox)
  const { release, transfer } = createReleases(statements, outbox)
  return {
    register: step => transact(() => register(step), step.timeLimit),
    find: question => ask(() => find(question)),
    get: domainId => ask(() => get(domainId)),
    release: (teamId, keys, recording) => transact(() => release(teamId, keys, recording)),
    transfer: (...request) => transact(() => transfer(...request)),
    import: request => transact(() => importAll(request)),
    list: page => ask(() => list(page)),
    count: teamId => ask(() => count(teamId)),
    toDomainId: toUuid,
    outbox,
  }
}
