import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSynchronizer } from '../../src/registry/outbox.ts'
import { startSynchronizing } from '../../src/start-synchronizing.ts'
import type { OutboxBreach } from './outbox-model.ts'
import { type SynchronizingInvariant, type SynchronizingSimulation, simulateSynchronizing } from './synchronizing.ts'
import { installVirtualTime } from './virtual-clock.ts'

/** One seed to replay, with a trace; without it all of them. */
const { SEED, SCHEDULES = '800' } = process.env

let restoreTime = () => {}
beforeAll(() => {
  restoreTime = installVirtualTime()
})
afterAll(() => restoreTime())

/** Everything that has to happen at least once, lest the simulation prove nothing. */
const happenings = [
  ...['the database fails', 'a failed push', 'half a push', 'a slow push', 'a push without an answer', 'a refusal'],
  ...['a crash', 'somebody dies', 'a clock jumps', 'a release', 'a call answered 200', 'a call answered 503'],
  ...['few refusals', 'many refusals'],
]

test.runIf(SEED)('replays one schedule (skipped unless SEED names it)', async () => {
  const trace = (line: string) => void process.stdout.write(`${line}\n`)
  expect(await simulateSynchronizing({ seed: Number(SEED), createSynchronizer, startSynchronizing, trace })).toBeNull()
})

describe.skipIf(SEED)('whatever fails, dies or gets lost', () => {
  test('what is watched is what is registered in the end, and nothing waits for what is refused', {
    timeout: 900_000,
  }, async () => {
    const start = performance.now()
    const counts = new Map<string, number>()
    const count = (event: string) => void counts.set(event, (counts.get(event) ?? 0) + 1)
    for (let seed = 1; seed <= Number(SCHEDULES); seed += 1) {
      const violation = await simulateSynchronizing({ seed, createSynchronizer, startSynchronizing, count })
      if (!violation) continue
      const { invariant, detail } = violation
      expect.fail(
        `"${invariant}" does not hold: ${detail}\nReplay: SEED=${seed} npx vitest run test/simulation/synchronizing`,
      )
    }
    const summary = [...counts].sort(([, one], [, other]) => other - one).map(([event, times]) => `${event} ${times}`)
    console.log(`${SCHEDULES} schedules in ${((performance.now() - start) / 1000).toFixed(1)} s: ${summary.join(', ')}`)
    expect(happenings.filter(event => !counts.has(event))).toEqual([])
    expect([...counts.keys()].filter(event => !happenings.includes(event))).toEqual([])
  })
})

const breaches: readonly (readonly [OutboxBreach, SynchronizingInvariant])[] = [
  ['never ends a lease', 'what is watched is what is registered'],
  ['takes without a lease', 'sweeps share the work'],
  ['does not record releases', 'what is watched is what is registered'],
  ['lets a release overtake a push', 'no release overtakes its registration'],
  ['forgets a release that came during a push', 'what is watched is what is registered'],
  ['puts nothing off', 'what is refused is tried more and more rarely'],
  ['takes the newest first and only a few', 'nothing waits behind something that fails'],
]

type SplitModule = typeof import('../../src/registry/split.ts')

const mutations: readonly {
  mistake: string
  invariant: SynchronizingInvariant
  split: SplitModule['splitUntilAlone']
}[] = [
  {
    mistake: 'a push that fails is not split',
    invariant: 'nothing waits behind something that fails',
    async split(items, { attempt }) {
      try {
        if (items.length > 0) await attempt(items)
        return { refused: [], untried: [], lastCause: undefined }
      } catch (cause) {
        return { refused: items.map(item => ({ item, cause })), untried: [], lastCause: undefined }
      }
    },
  },
  {
    mistake: 'one that is refused ends the sweep',
    invariant: 'nothing waits behind something that fails',
    async split(items, { attempt }) {
      for (const [index, item] of items.entries()) {
        try {
          await attempt([item])
        } catch (cause) {
          return { refused: [{ item, cause }], untried: items.slice(index + 1), lastCause: cause }
        }
      }
      return { refused: [], untried: [], lastCause: undefined }
    },
  },
]

describe.skipIf(SEED)('the simulation notices when', { timeout: 120_000 }, () => {
  afterEach(() => {
    vi.doUnmock('../../src/registry/split.ts')
    vi.resetModules()
  })

  test.each(breaches)('the store %s: "%s"', async (breach, invariant) => {
    await expectViolation(breach, invariant, { createSynchronizer, startSynchronizing, breach })
  })

  test.each(mutations)('$mistake: "$invariant"', async ({ mistake, invariant, split }) => {
    vi.resetModules()
    vi.doMock('../../src/registry/split.ts', async original => ({
      ...(await original<SplitModule>()),
      splitUntilAlone: split,
    }))
    const mutated = await import('../../src/registry/outbox.ts')
    await expectViolation(mistake, invariant, { createSynchronizer: mutated.createSynchronizer, startSynchronizing })
  })

  /** Some early seed must show the mistake, by the invariant meant for it. */
  async function expectViolation(
    mistake: string,
    expected: SynchronizingInvariant,
    simulation: Omit<SynchronizingSimulation, 'seed'>,
  ) {
    const others = new Map<string, number>()
    for (let seed = 1; seed <= 800; seed += 1) {
      const violation = await simulateSynchronizing({ seed, ...simulation })
      if (violation?.invariant === expected) return
      if (violation) others.set(violation.invariant, others.get(violation.invariant) ?? seed)
    }
    expect.fail(`${mistake} went unnoticed by "${expected}"; others: ${JSON.stringify([...others])}`)
  }
})
