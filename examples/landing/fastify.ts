import { createMemoryStore } from 'domain-registration'
import { domainsPlugin } from 'domain-registration/fastify'
import fastify from 'fastify'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read'] }) as const
const operations = ['create', 'preview', 'list'] as const
await fastify().register(domainsPlugin, { store, authenticate, operations }).listen({ port: 3000 })
