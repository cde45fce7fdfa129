// npm install domain-registration koa
import { Readable } from 'node:stream'
import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import Koa from 'koa'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }) as const
const handle = domainsHandler({ store, authenticate })

const app = new Koa()
app.use(async (context, next) => {
  const { path, search, method, req } = context
  // A Request cannot have the method TRACE.
  if (!/^\/v1\/domains\/?$/.test(path) || method === 'TRACE') return next()
  const headers = new Headers()
  // Of several Authorization headers, Koa's own headers contain only the first.
  for (let index = 0; index < req.rawHeaders.length; index += 2)
    headers.append(String(req.rawHeaders[index]), String(req.rawHeaders[index + 1]))
  const body = method === 'GET' || method === 'HEAD' ? null : (Readable.toWeb(req) as BodyInit)
  const init = { method, headers, body, duplex: 'half' }
  // Not context.URL, which is empty if the Host header is not valid.
  context.body = await handle(new Request(`http://localhost${path}${search}`, init), context)
})
app.listen(process.env.PORT ?? 3000).on('listening', () => console.log('POST /v1/domains')) // POST /v1/domains
