import { DurableObject } from 'cloudflare:workers'
import { createSqliteKeyStore, sqliteSchema } from 'domain-registration/sqlite'
import { runSuite } from './suite.js'

const tables = [...sqliteSchema().matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(([, table]) => table)

/** There is only one database, so its tables are dropped before each store is created. */
export class Registry extends DurableObject {
  async runSuite() {
    const { storage } = this.ctx
    const open = () => {
      for (const table of tables) storage.sql.exec(`DROP TABLE IF EXISTS ${table}`)
      return storage
    }
    return runSuite(open, () => {})
  }

  async addKey(record) {
    await createSqliteKeyStore({ database: this.ctx.storage }).addKey(record)
  }

  findKey(hash) {
    return createSqliteKeyStore({ database: this.ctx.storage }).findKey(hash)
  }
}

export default {
  async fetch(request, { REGISTRY }) {
    const registry = REGISTRY.get(REGISTRY.idFromName('one'))
    if (new URL(request.url).pathname === '/suite') return Response.json(await registry.runSuite())
    const hash = 'a'.repeat(64)
    await registry.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
    return Response.json(await registry.findKey(hash))
  },
}
