import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { createPostgresKeyStore } from '../../src/postgres/index.ts'
import { compile } from '../compile.ts'
import { readUntil } from '../read-until.ts'
import { findPgBouncer, startPgBouncer } from './pgbouncer.ts'
import { openDatabase } from './server.ts'

const program = findPgBouncer()

/** What Supabase grants to the roles of its API: everything in `public`, from the start. */
const ROLE = `supabase_api_${process.pid}`
const grants = `CREATE ROLE ${ROLE}; GRANT USAGE ON SCHEMA public TO ${ROLE};
  ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO ${ROLE}`

test.skipIf(!program)(
  'examples/supabase.ts serves calls through a pooler in transaction mode, and shows the API no rows',
  async () => {
    const server = await openDatabase()
    const bouncer = await startPgBouncer(program ?? { path: '', version: '' }, server.config)
    const pool = server.createPool()
    await pool.query(grants)
    const { user, password, database } = server.config
    const child = spawn(process.execPath, [await compile('examples/supabase.ts')], {
      cwd: new URL('../..', import.meta.url),
      env: {
        ...process.env,
        PORT: '0',
        DATABASE_URL: `postgres://${user}:${password}@127.0.0.1:${bouncer.port}/${database}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const printed = await readUntil(child, /port \d+\n/)
      const [, port] = /port (\d+)\n/.exec(printed()) ?? []
      await pool.query('INSERT INTO teams (id, organization_id) VALUES (1, 10)')
      const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
      const scopes = ['domains:create', 'domains:read']
      await createPostgresKeyStore({ database: pool }).addKey({ hash, type: 'team', ownerId: '1', scopes })
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      const url = `http://127.0.0.1:${port}/v1/domains`
      // More calls at once than the pooler has sessions.
      const calls = Array.from({ length: 12 }, async (_, call) => {
        const body = JSON.stringify({ domains: [`www.call-${call}.com`, 'www.example.com'] })
        return (await fetch(url, { method: 'POST', headers, body })).status
      })
      expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
      const { data } = await (await fetch(url, { headers })).json()
      expect(data.domains).toHaveLength(13)
      expect(printed()).toContain('registered www.example.com')

      const client = await pool.connect()
      try {
        await client.query(`SET ROLE ${ROLE}`)
        expect((await client.query('SELECT FROM public.teams')).rowCount).toBe(0)
        await expect(client.query('SELECT FROM domain_registration.names')).rejects.toMatchObject({ code: '42501' })
      } finally {
        client.release(true)
      }
    } finally {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
      await pool.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`)
      await bouncer.stop()
      await server.stop()
    }
  },
)
