import { DurableObject } from 'cloudflare:workers'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'

export class Registry extends DurableObject {
  store = createSqliteStore({ database: this.ctx.storage, findTeam: () => null })
  keys = createSqliteKeyStore({ database: this.ctx.storage })
}
