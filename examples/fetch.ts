import { serve } from '@hono/node-server'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { Hono } from 'hono'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'organization', id: '10' })
await keys.addKey({ hash, type: 'organization', ownerId: '10', scopes: ['domains:create'] })

const handle = domainsHandler({ store, keys })
const app = new Hono({ strict: false }) // also accepts a trailing slash
app.post('/v1/domains', context => handle(context.req.raw))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, ({ port }) => {
  console.log(`Organization key: ${key}\nTry it:
curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"team_id":"1","domains":["www.example.com","*.example.org","localhost"]}'`)
})
