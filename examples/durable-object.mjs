import { DurableObject } from 'cloudflare:workers'
import { domainsHandler } from 'domain-registration/fetch'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'
import { createWebhook } from 'domain-registration/webhook'

export class Registry extends DurableObject {
  keys = createSqliteKeyStore({ database: this.ctx.storage })
  store = createSqliteStore({
    database: this.ctx.storage,
    findTeam: id => ({ id, organizationId: '10', state: 'active' }), // replace with your own lookup
    synchronize: createWebhook({ url: this.env.MONITOR_URL, secret: this.env.WEBHOOK_SECRET }),
  })
  handle = domainsHandler({ store: this.store, keys: this.keys, operations: ['create', 'delete'] })

  async fetch(request) {
    this.firstKey ??= this.addFirstKey()
    await this.firstKey
    // The alarm is set before anything is saved, so every saved change has an alarm.
    await this.wakeWithin(1000)
    return this.handle(request)
  }

  /** `FIRST_KEY_HASH`, a secret of the Worker, is the hash from `generateApiKey`. A key that is there stays as it is. */
  async addFirstKey() {
    const { FIRST_KEY_HASH: hash } = this.env
    const scopes = ['domains:create', 'domains:delete']
    if (hash) await this.keys.addKey({ hash, type: 'organization', ownerId: '10', scopes, label: 'first key' })
  }

  async alarm() {
    while ((await this.store.synchronizePending()).synchronized > 0);
    if ((await this.store.countPending()) > 0) await this.wakeWithin(10_000)
  }

  async wakeWithin(milliseconds) {
    const alarm = await this.ctx.storage.getAlarm()
    if (alarm === null) await this.ctx.storage.setAlarm(Date.now() + milliseconds)
  }
}

export default {
  fetch: (request, { REGISTRY }) => REGISTRY.get(REGISTRY.idFromName('registry')).fetch(request),
}
