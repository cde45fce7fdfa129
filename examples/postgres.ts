import { PGlite } from '@electric-sql/pglite'
import { generateApiKey, startSynchronizing } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import express from 'express'
import pg from 'pg'

// A PostgreSQL server, for any number of processes like this one. Or, without one, PGlite: PostgreSQL within this
// process, with its data in a folder, which no second process may open. It outlives the process, but PGlite syncs no
// disk: after a power cut some of it may be gone.
const { DATABASE_URL, DATA_FOLDER = 'data', PORT = '3000' } = process.env
const pool = DATABASE_URL
  ? new pg.Pool({ connectionString: DATABASE_URL, pipeline: true, connectionTimeoutMillis: 5000 })
  : new PGlite(DATA_FOLDER)
if (pool instanceof pg.Pool) pool.on('error', ({ message }) => console.error(message)) // of idle connections
await migrate({ database: pool })

const teams = new Map([['1', { id: '1', organizationId: '10', state: 'active' } as const]])
const store = createPostgresStore({
  database: pool,
  findTeam: id => teams.get(id) ?? null,
  synchronize(changes) {
    // Stands for your monitoring.
    for (const { kind, domain } of changes) console.log(kind === 'registered' ? `Watching ${domain}` : `Not ${domain}`)
  },
})

const keys = createPostgresKeyStore({ database: pool })
const { key, hash } = await generateApiKey({ type: 'team', id: '1' }) // to try it with, until this process ends
await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })

const app = express()
app.use(domainsRouter({ store, keys }))
const server = app.listen(PORT, error => {
  if (error) throw error
  const { port } = server.address() as { port: number }
  console.log(`Listening on port ${port}. Try it, also after a restart:
curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' -d '{"domains":["www.example.com","*.example.org","localhost"]}'`)
})

// Pushes what was released, and what was saved and not pushed since the push failed or the process ended.
const synchronizing = startSynchronizing(store)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close(async () => {
      await synchronizing.stop()
      await keys.revokeKey(hash)
      await (pool instanceof pg.Pool ? pool.end() : pool.close())
    })
  })
}
