// npm install domain-registration elysia srvx; on Bun, app.listen(3000) in place of srvx
import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { Elysia } from 'elysia'
import { serve } from 'srvx'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }) as const
const handle = domainsHandler({ store, authenticate })

const app = new Elysia()
// Without parse: 'none', Elysia reads the body before the handler does.
app.all('/v1/domains', ({ request, store }) => handle(request, store), { parse: 'none' })
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) })
