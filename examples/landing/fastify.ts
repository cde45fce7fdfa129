import { createMemoryStore } from 'domain-registration'
import { domainsPlugin } from 'domain-registration/fastify'
import fastify from 'fastify'

const store = createMemoryStore({
  teams: [{ id: '1', organizationId: '10', state: 'active' }],
})
const app = fastify().register(domainsPlugin, {
  store,
  operations: ['create', 'preview', 'list'],
  authenticate: () => ({
    type: 'team',
    teamId: '1',
    scopes: ['domains:create', 'domains:read'],
  }),
})
await app.listen({ port: 3000 })
