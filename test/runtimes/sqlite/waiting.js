import { DurableObject } from 'cloudflare:workers'
import { retryWaiting } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { createSqliteStore, createSqliteWaitingStore } from 'domain-registration/sqlite'

const refusal = { code: 'invalid_domain', reason: 'not_approved', message: 'Somebody must approve it.', waits: true }

/** Names wait until they are approved. */
export class Registry extends DurableObject {
  approved = []
  waiting = createSqliteWaitingStore({ database: this.ctx.storage })
  store = createSqliteStore({
    database: this.ctx.storage,
    findTeam: id => ({ id, organizationId: '10', state: 'active' }),
  })
  checkNames = names => names.map(({ domain }) => (this.approved.includes(domain) ? null : refusal))
  handle = domainsHandler({
    store: this.store,
    waiting: this.waiting,
    checkNames: this.checkNames,
    authenticate: () => ({ type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read'] }),
    operations: ['create', 'waiting'],
  })

  fetch(request) {
    return this.handle(request)
  }

  approve(domain) {
    this.approved.push(domain)
  }

  pass(milliseconds) {
    this.ctx.storage.sql.exec('UPDATE domain_registration_waiting SET due = due - ?', milliseconds)
  }

  async retry() {
    const told = []
    const { store, waiting, checkNames } = this
    const signal = AbortSignal.timeout(10_000)
    const result = await retryWaiting({ store, waiting, checkNames, signal, onSettled: names => told.push(...names) })
    return { result, told }
  }
}

const worker = {
  async fetch(request, { REGISTRY }) {
    const registry = REGISTRY.get(REGISTRY.idFromName('registry'))
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/approve') await registry.approve(searchParams.get('domain'))
    else if (pathname === '/pass') await registry.pass(Number(searchParams.get('milliseconds')))
    else if (pathname === '/scheduled') return Response.json(await worker.scheduled({}, { REGISTRY }))
    else return registry.fetch(request)
    return new Response()
  },
  /** What a Worker's cron trigger calls. */
  scheduled: (_, { REGISTRY }) => REGISTRY.get(REGISTRY.idFromName('registry')).retry(),
}

export default worker
