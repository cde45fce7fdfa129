import { PGlite } from '@electric-sql/pglite'
import { generateApiKey, startSynchronizing } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import express from 'express'
import pg from 'pg'

// A PostgreSQL server serves any number of processes like this one. Without a server, this program uses PGlite, which
// is PostgreSQL inside the process. The data of PGlite is in a folder that only one process may open. The data survives
// a restart of the process. But PGlite does not flush to disk, so a power cut may lose the last changes.
const { DATABASE_URL, DATA_FOLDER = 'data', PORT = '3000' } = process.env
const pool = DATABASE_URL
  ? new pg.Pool({ connectionString: DATABASE_URL, pipeline: true, connectionTimeoutMillis: 5000 })
  : new PGlite(DATA_FOLDER)
if (pool instanceof pg.Pool) pool.on('error', ({ message }) => console.error(message)) // errors of idle connections
await migrate({ database: pool })

const teams = new Map([['1', { id: '1', organizationId: '10', state: 'active' } as const]])
const store = createPostgresStore({
  database: pool,
  findTeam: id => teams.get(id) ?? null,
  synchronize(changes) {
    // Replace this with your monitor.
    for (const { kind, domain } of changes) console.log(kind, domain)
  },
})

const keys = createPostgresKeyStore({ database: pool })
const { key, hash } = await generateApiKey({ type: 'team', id: '1' }) // for the printed call; revoked at the end
await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })

let isStopping = false
const app = express()
app.use((_request, response, next) => {
  // Otherwise a load balancer keeps its connections, and goes on calling until the process is killed.
  if (isStopping) response.set('Connection', 'close')
  next()
})
app.get('/ready', (_request, response) => void response.sendStatus(isStopping ? 503 : 204))
app.use(domainsRouter({ store, keys }))
const server = app.listen(PORT).on('listening', () => {
  const { port } = server.address() as { port: number }
  console.log(`Listening on port ${port}. Try it:
curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"domains":["www.example.com","*.example.org","localhost"]}'`)
})

// Pushes releases. Also pushes registrations whose push failed, or whose process ended before the push.
const synchronizing = startSynchronizing(store)

async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  const limit = setTimeout(() => server.closeAllConnections(), 5000)
  await new Promise(resolve => server.close(resolve))
  clearTimeout(limit)
  await synchronizing.stop({ timeLimit: 5000 })
  await keys.revokeKey(hash)
  await (pool instanceof pg.Pool ? pool.end() : pool.close())
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
