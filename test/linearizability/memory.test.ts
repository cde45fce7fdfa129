import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from '../simulation/random.ts'
import { findFault } from './history.ts'
import { type Client, createMonitor, type Monitor, race } from './race.ts'

const CALLS = 40

test(`${counts.races} races in memory, each explained by an order of its calls (seed ${seed})`, async () => {
  const random = createRandom(seed)
  let time = 0
  const now = () => ++time
  const calling = new AsyncLocalStorage<Monitor>()
  const happened = new Map<string, number>()
  for (let round = 1; round <= counts.races; round += 1) {
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
    for (const { operation } of deeds) happened.set(operation.kind, (happened.get(operation.kind) ?? 0) + 1)
  }
  for (const kind of ['register', 'release', 'look', 'mark']) {
    expect(happened.get(kind), kind).toBeGreaterThan(counts.races)
  }
})
