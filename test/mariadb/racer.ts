/** A process of its own that races against others: run by `mariadb.test.ts`. */
import { createPool, type PoolOptions } from 'mysql2/promise'
import { createMariadbStore } from '../../examples/mariadb-store.ts'
import { findTeam, race } from '../linearizability/race.ts'
import type { Round } from '../linearizability/racer.ts'
import { createRandom } from '../simulation/random.ts'

export interface RacerTask {
  readonly config: PoolOptions
  readonly seed: number
  readonly names: readonly string[]
}

process.once('message', ({ config, seed, names }: RacerTask) => {
  const random = createRandom(seed)
  const database = createPool({ ...config, connectionLimit: names.length })
  const store = createMariadbStore({ database, findTeam })
  const clients = names.map(name => ({ name, store }))
  process.on('message', async (round: Round) => {
    process.send?.(await race({ clients, random, ...round }).catch(String))
  })
  process.send?.('ready')
})
process.once('disconnect', () => process.exit())
