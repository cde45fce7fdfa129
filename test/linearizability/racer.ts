/** A process of its own that races against others: run by `postgres.test.ts`. */
import type { PoolConfig } from 'pg'
import { createRandom } from '../simulation/random.ts'
import { createPostgresClients } from './postgres-clients.ts'
import { type Race, race } from './race.ts'

export interface RacerTask {
  readonly config: PoolConfig
  readonly seed: number
  readonly names: readonly string[]
  readonly isPipelined: boolean
}

/** What changes from one race to the next. */
export type Round = Pick<Race, 'registrableDomains' | 'misplaced' | 'calls'>

const now = () => Number(process.hrtime.bigint() / 1000n)

process.once('message', ({ seed, ...task }: RacerTask) => {
  const random = createRandom(seed)
  const { clients } = createPostgresClients({ ...task, random, now })
  process.on('message', async (round: Round) => {
    const { deeds, failures } = await race({ clients, random, now, ...round })
    process.send?.({ deeds, failures: failures.map(String) })
  })
  process.send?.('ready')
})
process.once('disconnect', () => process.exit())
