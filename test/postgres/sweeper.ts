/** A process of its own that sweeps until nothing is left: run by `sweeps.test.ts`. */
import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'

const LIMIT = 10

async function sweep(config: PoolConfig): Promise<string[]> {
  const pool = new Pool({ ...config, max: 2, pipeline: true })
  const pushed: string[] = []
  const store = createPostgresStore({
    pool,
    findTeam: () => null,
    synchronize: changes => void pushed.push(...changes.map(({ kind, domainId }) => `${kind} ${domainId}`)),
  })
  await store.countPending()
  process.send?.('ready')
  await new Promise(resolve => process.once('message', resolve))
  while ((await store.countPending()) > 0) await store.synchronizePending({ limit: LIMIT })
  await pool.end()
  return pushed
}

process.once('message', async (config: PoolConfig) => {
  process.send?.(await sweep(config), () => process.disconnect?.())
})
