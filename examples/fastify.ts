import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsPlugin } from 'domain-registration/fastify'
import fastify from 'fastify'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'organization', id: '10' })
await keys.addKey({ hash, type: 'organization', ownerId: '10', scopes: ['domains:create'] })

const app = fastify()
app.register(domainsPlugin, { store, keys })
await app.listen({ port: Number(process.env.PORT ?? 3000) })

const { port } = app.server.address() as { port: number }
console.log(`Organization key: ${key}\nTry it:
curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"team_id":"1","domains":["www.example.com","*.example.org","localhost"]}'`)
