import type { PostgresBridge, PostgresTransaction } from 'domain-registration/postgres'
import { CompiledQuery, type Kysely } from 'kysely'

/** Takes your pool's Kysely instance: `createPostgresStore({ database: bridgeKysely(db), findTeam })`. */
export const bridgeKysely = <Db extends KyselyOverPool>(db: NoTransaction<Db>): PostgresBridge => ({
  ...withinKysely(db),
  transaction: work => db.transaction().execute(transaction => work(withinKysely(transaction))),
})

/** To register within your own transaction: `createPostgresStore({ database: withinKysely(trx), findTeam })`. */
export const withinKysely = (transaction: Executor): PostgresTransaction => ({
  // Plugins of yours would change the store's results.
  query: (text, values) => transaction.withoutPlugins().executeQuery(CompiledQuery.raw(text, values)),
})

interface Executor {
  withoutPlugins(): Pick<Kysely<unknown>, 'executeQuery'>
}

interface KyselyOverPool extends Executor {
  transaction(): { execute<T>(work: (transaction: Executor) => Promise<T>): Promise<T> }
}

/** Does not accept a transaction: it might be rolled back after its registrations were pushed to your monitor. */
type NoTransaction<Db> = Db extends { readonly isTransaction: true } ? never : Db
