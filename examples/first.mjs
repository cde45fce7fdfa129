import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

const port = process.env.PORT ?? 3000
const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })

const app = express().use(domainsRouter({ store, keys }))
app.listen(port).on('listening', () => {
  console.log(`curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"domains":["www.example.com","*.example.org","localhost"]}'`)
})
