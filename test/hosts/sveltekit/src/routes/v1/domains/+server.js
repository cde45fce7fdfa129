import { createMemoryKeyStore, createMemoryStore, hashApiKey } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { createWebhook } from 'domain-registration/webhook'
import { env } from '$env/dynamic/private'

export const trailingSlash = 'ignore'
let handle

/** Creates the handler at the first request, because a build loads this module without the server's environment. */
export async function POST({ request }) {
  handle ??= make()
  return (await handle)(request)
}

async function make() {
  const keys = createMemoryKeyStore()
  keys.addKey({ hash: await hashApiKey(env.API_KEY), type: 'team', ownerId: '1', scopes: ['domains:create'] })
  const synchronize = createWebhook({ url: env.MONITOR_URL, secret: env.WEBHOOK_SECRET })
  const teams = [{ id: '1', organizationId: '10', state: 'active' }]
  return domainsHandler({ store: createMemoryStore({ teams, synchronize }), keys })
}
