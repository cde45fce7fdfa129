/** A process of its own that races against others: run by `postgres.test.ts`. */
import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { createRandom } from '../simulation/random.ts'
import { findTeam, type Race, race } from './race.ts'

export interface RacerTask {
  readonly config: PoolConfig
  readonly seed: number
  readonly names: readonly string[]
}

/** What changes from one race to the next. */
export type Round = Pick<Race, 'registrableDomains' | 'calls'>

process.once('message', ({ seed, config, names }: RacerTask) => {
  const random = createRandom(seed)
  const pool = new Pool({ ...config, max: names.length })
  // Its connections are cut when a test has failed.
  pool.on('error', () => {})
  const store = createPostgresStore({ database: pool, findTeam })
  const clients = names.map(name => ({ name, store }))
  process.on('message', async (round: Round) => {
    process.send?.(await race({ clients, random, ...round }).catch(String))
  })
  process.send?.('ready')
})
process.once('disconnect', () => process.exit())
