/** The recipes of docs/recipes, each called as its host calls it. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import * as nest from './nest.js'

async function issueKey(keys) {
  const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
  keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
  return { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
}

const body = '{"domains":["www.example.com"]}'

test('NestJS takes the router as middleware', async () => {
  const headers = await issueKey(nest.keys)
  const app = await nest.createApp()
  await app.listen(0, '127.0.0.1')
  try {
    const url = await app.getUrl()
    for (const path of ['/v1/domains', '/v1/domains/']) {
      const response = await fetch(url + path, { method: 'POST', headers, body })
      assert.equal(response.status, 200)
    }
    assert.equal((await fetch(`${url}/v1/domains`, { method: 'POST', body })).status, 401)
    assert.equal((await fetch(`${url}/other`, { method: 'POST', headers, body })).status, 404)
  } finally {
    await app.close()
  }
})

/** How hosts that speak `fetch` call what a route exports. */
const callers = {
  'Next.js, a route handler': (handle, request) => handle(request, { params: Promise.resolve({}) }),
  'SvelteKit, +server.ts': (handle, request) => (({ request }) => handle(request))({ request, params: {}, locals: {} }),
  'Workers, with waitUntil': async (handle, request) => {
    const waited = []
    const worker = {
      fetch(request, _env, context) {
        const answer = handle(request)
        context.waitUntil(answer)
        return answer
      },
    }
    const response = await worker.fetch(request, {}, { waitUntil: promise => waited.push(promise) })
    assert.equal(waited.length, 1)
    return response
  },
}

for (const [name, call] of Object.entries(callers)) {
  test(`${name} calls the handler`, async () => {
    const keys = createMemoryKeyStore()
    const headers = await issueKey(keys)
    const handle = domainsHandler({
      store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
      keys,
    })
    const url = 'https://host.test/v1/domains'
    assert.equal((await call(handle, new Request(url, { method: 'POST', headers, body }))).status, 200)
    assert.equal((await call(handle, new Request(url))).status, 405)
  })
}
