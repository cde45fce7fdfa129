import { startSynchronizing, type Team } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'
import express from 'express'
import postgres from 'postgres'

// Supabase, through its pooler in transaction mode: "Connect", "Transaction pooler", port 6543. There, a statement with
// a name may reach a session that does not know it.
const { DATABASE_URL = '', PORT = '3000' } = process.env
const sql = postgres(DATABASE_URL, { prepare: false, fetch_types: false, connect_timeout: 5 })

// The package's tables are in the schema `domain_registration`. Leave it out of "Exposed schemas", and grant nothing in
// it to `anon` and `authenticated`: Supabase's API then does not serve it. Without row-level security, the API would
// serve this table in `public`.
await migrate({ database: sql })
await sql`CREATE TABLE IF NOT EXISTS public.teams (
  id integer PRIMARY KEY, organization_id integer NOT NULL, state text NOT NULL DEFAULT 'active')`
await sql`ALTER TABLE public.teams ENABLE ROW LEVEL SECURITY`

async function findTeam(id: string): Promise<Team | null> {
  if (!/^[0-9]{1,9}$/.test(id)) return null // an integer column has no longer IDs
  const [team] = await sql<Team[]>`
    SELECT id::text, organization_id::text AS "organizationId", state FROM public.teams WHERE id = ${id}`
  return team ?? null
}

const database = { database: sql, preparedStatements: false }
const store = createPostgresStore({
  ...database,
  findTeam,
  // Replace this with your monitor.
  synchronize: changes => console.log(changes.map(({ kind, domain }) => `${kind} ${domain}`).join('\n')),
})
startSynchronizing(store)
const keys = createPostgresKeyStore(database) // npx domain-registration keys create --team 1

const app = express().use(domainsRouter({ store, keys, operations: ['create', 'list', 'delete'] }))
const server = app.listen(PORT).on('listening', () => {
  console.log('Listening on port', (server.address() as { port: number }).port)
})
