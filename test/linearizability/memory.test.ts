import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { createRandom } from '../simulation/random.ts'
import { findFault } from './history.ts'
import { type Client, createMonitor, type Monitor, race } from './race.ts'

/** More by hand: `SEED=7 ROUNDS=1000 npx vitest run test/linearizability`. */
const { SEED = String(Date.now() % 1_000_000), ROUNDS = '250' } = process.env
const CALLS = 40

test(`${ROUNDS} races in memory, each explained by an order of its calls (seed ${SEED})`, async () => {
  const random = createRandom(Number(SEED))
  let time = 0
  const now = () => ++time
  const calling = new AsyncLocalStorage<Monitor>()
  const counts = new Map<string, number>()
  for (let round = 1; round <= Number(ROUNDS); round += 1) {
    const store = createMemoryStore({ synchronize: async changes => calling.getStore()?.push(changes) })
    const clients = ['A', 'B', 'C', 'D', 'E', 'F'].map((name): Client => {
      const monitor = createMonitor(random, now)
      return {
        name,
        monitor,
        store: {
          register: store.register,
          release: store.release,
          synchronize: registrations => calling.run(monitor, async () => store.synchronize?.(registrations)),
          synchronizePending: options => calling.run(monitor, () => store.synchronizePending(options)),
        },
      }
    })
    const registrableDomains = ['a.com', 'b.github.io']
    const { deeds, failures } = await race({ clients, random, now, registrableDomains, misplaced: [], calls: CALLS })
    expect(failures).toEqual([])
    expect(findFault({ initial: [], deeds }, registrableDomains)).toBeNull()
    for (const { operation } of deeds) counts.set(operation.kind, (counts.get(operation.kind) ?? 0) + 1)
  }
  for (const kind of ['register', 'release', 'look', 'mark']) {
    expect(counts.get(kind), kind).toBeGreaterThan(Number(ROUNDS))
  }
})
