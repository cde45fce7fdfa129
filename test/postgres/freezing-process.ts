/**
 * A process that registers names, and freezes when the database has saved them, before the process knows it;
 * `connections.test.ts` runs it.
 */
import { Pool, type PoolConfig } from 'pg'
import { registerDomains } from '../../src/index.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import type { Change } from '../../src/rules/registration.ts'

const [, , config = ''] = process.argv
const pool = new Pool(JSON.parse(config) as PoolConfig)
const pushed: Change[] = []
const store = createPostgresStore({
  database: {
    query: (text, values) => pool.query(text, values),
    async transaction(work) {
      const client = await pool.connect()
      await client.query('BEGIN')
      const result = await work({ query: (text, values) => client.query(text, values) })
      await client.query('COMMIT')
      client.release()
      const { rowCount } = await pool.query('SELECT FROM domain_registration.names')
      if (rowCount) process.kill(process.pid, 'SIGSTOP')
      return result
    },
  },
  findTeam: id => ({ id, organizationId: '10', state: 'active' }),
  synchronize: changes => void pushed.push(...changes),
  synchronizeTimeLimit: 200,
})

const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
const outcome = await registerDomains(keyContext, { domains: ['example.com'] }, store).then(
  () => 'registered',
  error => error.code,
)
await pool.end()
process.send?.({ outcome, pushed }, () => process.disconnect())
