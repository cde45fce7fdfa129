/** A server process of its own that registers names as fast as it can: run by `processes.test.ts`. */
import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { registerDomains } from '../../src/register-domains.ts'
import type { DomainResult } from '../../src/wire/response.ts'

export interface RacerTask {
  readonly config: PoolConfig
  readonly teamId: string
  /** The hostnames of each call; calls are made four at a time. */
  readonly calls: readonly (readonly string[])[]
}

export interface RacerReport {
  readonly results: readonly DomainResult[]
  readonly errors: readonly string[]
}

const AT_ONCE = 4

async function race({ config, teamId, calls }: RacerTask): Promise<RacerReport> {
  const pool = new Pool({ ...config, max: AT_ONCE, pipeline: true })
  const store = createPostgresStore({
    database: pool,
    findTeam: id => ({ id, organizationId: '1', state: 'active' }),
    timeLimit: 20_000,
  })
  await migrate({ database: pool })
  process.send?.('ready')
  await new Promise(resolve => process.once('message', resolve))

  const results: DomainResult[] = []
  const errors: string[] = []
  const remaining = calls.values()
  async function work(): Promise<void> {
    for (const domains of remaining) {
      const keyContext = { type: 'team', teamId, scopes: ['domains:create'] } as const
      const { data } = await registerDomains(keyContext, { domains }, store, {
        onError: cause => errors.push(String(cause)),
      })
      results.push(...data.results)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await pool.end()
  return { results, errors }
}

process.once('message', async (task: RacerTask) => {
  // A long report takes a while to get through.
  process.send?.(await race(task), () => process.disconnect?.())
})
