import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { organization } from 'better-auth/plugins'
import { ApiError, type KeyContext } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'
import { createPostgresStore, migrate, type PostgresTransaction } from 'domain-registration/postgres'
import { createWebhook } from 'domain-registration/webhook'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'

/**
 * One registry for each process. Next.js loads this module several times (for routes, for pages, and after each edit
 * under `next dev`), so the registry is kept outside it; and it is made at the first request, because a build loads
 * every route without your secrets.
 */
export const getRegistry = () => (kept.registry ??= makeRegistry())
const kept = globalThis as { registry?: ReturnType<typeof makeRegistry> }

function makeRegistry() {
  const { DATABASE_URL, MONITOR_URL = '', WEBHOOK_SECRET = '' } = process.env
  const pool = new Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 10_000, query_timeout: 15_000 })
  pool.on('error', error => console.error(error))
  const auth = betterAuth({ database: pool, emailAndPassword: { enabled: true }, plugins: [organization()] })
  const synchronize = createWebhook({ url: MONITOR_URL, secret: WEBHOOK_SECRET })

  /** @param database The pool, or your transaction, in which `findTeam` must query too. */
  const createStore = (database: Pool | PostgresTransaction) =>
    createPostgresStore({
      database,
      async findTeam(id) {
        const { rows } = await database.query('SELECT id FROM organization WHERE id = $1', [id])
        return rows.length > 0 ? { id, organizationId: id, state: 'active' } : null
      },
      synchronize,
    })

  /** The active organization of whoever is logged in, as long as they belong to it. */
  async function authenticate(headers: Headers): Promise<KeyContext> {
    const session = await auth.api.getSession({ headers })
    if (!session) throw new ApiError('unauthorized', 'Log in first.')
    const { activeOrganizationId: teamId, userId } = session.session
    if (!teamId) throw new ApiError('no_organization', 'Choose an organization first.', { status: 403 })
    const text = 'SELECT role FROM member WHERE "organizationId" = $1 AND "userId" = $2'
    const { rows } = await pool.query<{ role: string }>(text, [teamId, userId])
    const [member] = rows
    if (!member) throw new ApiError('no_member', 'You do not belong to this organization.', { status: 403 })
    const scopes = member.role === 'member' ? ['domains:read'] : ['domains:create', 'domains:delete', 'domains:read']
    return { type: 'team', teamId, scopes }
  }

  const store = createStore(pool)
  return {
    ...{ auth, authenticate, createStore, store },
    db: drizzle(pool),
    handle: domainsHandler({
      store,
      authenticate: ({ raw }) => authenticate(raw.headers),
      operations: ['create', 'preview', 'delete', 'list'],
    }),
    async createTables(): Promise<void> {
      const { runMigrations } = await getMigrations(auth.options)
      await runMigrations()
      await migrate({ database: pool })
      await pool.query('CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY, team_id text NOT NULL)')
    },
  }
}
