import type { PostgresBridge } from 'domain-registration/postgres'
import { CompiledQuery, type Kysely } from 'kysely'

/** Pass it the Kysely of your pool: `createPostgresStore({ database: bridgeKysely(db), findTeam })`. */
export const bridgeKysely = (db: Kysely<unknown>): PostgresBridge => ({
  query: (text, values) => db.executeQuery(CompiledQuery.raw(text, values)),
  transaction: work => db.transaction().execute(transaction => work(bridgeKysely(transaction))),
})
