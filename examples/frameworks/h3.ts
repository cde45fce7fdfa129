// npm install domain-registration h3
import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { H3, serve } from 'h3'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }) as const
const handle = domainsHandler({ store, authenticate })

const app = new H3()
app.all('/v1/domains', event => handle(event.req, event.context))
serve(app, { port: Number(process.env.PORT ?? 3000) })
