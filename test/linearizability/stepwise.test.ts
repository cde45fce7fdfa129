import { expect, test } from 'vitest'
import { createRandom } from '../simulation/random.ts'
import { findFault, type History } from './history.ts'
import { type Client, createMonitor, misplace, race } from './race.ts'
import { createStepwiseStores, type Flaw } from './stepwise-store.ts'

/** Whether the checker sees what it is for: in a store that is sound, nothing; in one with a flaw, that. */

const ROUNDS = 100
const CALLS = 40

const REGISTRABLE_DOMAINS = ['a.com', 'b.com', 'c.github.io']

async function runRound(seed: number, flaw?: Flaw, registrableDomains = REGISTRABLE_DOMAINS): Promise<History> {
  const random = createRandom(seed)
  let time = 0
  const now = () => ++time
  const createStore = createStepwiseStores(random, flaw)
  const clients = ['A', 'B', 'C', 'D', 'E', 'F'].map((name): Client => {
    const monitor = createMonitor(random, now)
    return { name, monitor, store: createStore(monitor.push) }
  })
  const misplaced = await misplace(
    createStore(async () => {}),
    random,
    registrableDomains,
  )
  const { deeds, failures } = await race({ clients, random, now, registrableDomains, misplaced, calls: CALLS })
  expect(failures).toEqual([])
  return { initial: misplaced, deeds }
}

test('a store with locks on registrable domains behaves as if calls came one after another', async () => {
  const kinds = new Map<string, number>()
  for (let seed = 1; seed <= ROUNDS; seed += 1) {
    const history = await runRound(seed)
    for (const registrableDomain of REGISTRABLE_DOMAINS) {
      expect(findFault(history, [registrableDomain]), `seed ${seed}`).toBeNull()
    }
    // A call over two of them is one step.
    expect(findFault(history, REGISTRABLE_DOMAINS.slice(0, 2)), `seed ${seed}`).toBeNull()
    for (const { operation } of history.deeds) kinds.set(operation.kind, (kinds.get(operation.kind) ?? 0) + 1)
  }
  for (const kind of ['register', 'release', 'look', 'mark', 'put right'])
    expect(kinds.get(kind), kind).toBeGreaterThan(ROUNDS)
})

const flaws: readonly Flaw[] = [
  'has no row locks',
  'looks up outside the locks',
  'deletes without an ID',
  'releases one name at a time',
  'upserts in reclassify',
  'marks by name',
  'marks before the push',
]

test.each(flaws)('the checker notices in one registrable domain when the store %s', async flaw => {
  for (let seed = 1; seed <= ROUNDS; seed += 1) {
    const history = await runRound(seed, flaw)
    if (REGISTRABLE_DOMAINS.some(registrableDomain => findFault(history, [registrableDomain]))) return
  }
  expect.fail('It went unnoticed')
})

test('the checker notices in two registrable domains, not in one, when the store releases one at a time', async () => {
  const both = ['a.com', 'b.com']
  let faults = 0
  for (let seed = 1; seed <= ROUNDS; seed += 1) {
    const history = await runRound(seed, 'releases one registrable domain at a time', both)
    for (const registrableDomain of both) expect(findFault(history, [registrableDomain]), `seed ${seed}`).toBeNull()
    if (findFault(history, both)) faults += 1
  }
  expect(faults).toBeGreaterThan(0)
})
