/**
 * A process that takes part in a race, run by `racers.ts`. The parameter of the process is a module with `openStore`.
 */
import { createRandom } from '../random.ts'
import { type Race, type RacedStore, race } from './race.ts'

export interface RacerTask {
  /** How to connect to the database. */
  readonly config: object
  readonly seed: number
  /** The name of each client of this process. All clients call at the same time. */
  readonly names: readonly string[]
}

/** The settings that change from one race to the next. */
export type Round = Pick<Race, 'registrableDomains' | 'calls'>

process.once('message', async ({ seed, config, names }: RacerTask) => {
  const random = createRandom(seed)
  const { openStore } = await import(process.argv[2] ?? '')
  const store: RacedStore = openStore(config)
  const clients = names.map(name => ({ name, store }))
  process.on('message', async (round: Round) => {
    process.send?.(await race({ clients, random, ...round }).catch(String))
  })
  process.send?.('ready')
})
process.once('disconnect', () => process.exit())
