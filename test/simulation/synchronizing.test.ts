import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSynchronizer } from '../../src/registry/outbox.ts'
import { startSynchronizing } from '../../src/start-synchronizing.ts'
import { counts } from '../counts.ts'
import { openInMemory, openInSqlite } from './registries.ts'
import { type SynchronizingParts, simulateSynchronizing } from './synchronizing.ts'
import { installVirtualTime } from './virtual-clock.ts'

/** One seed to replay, with a trace; without it many of them, from `FIRST` on. */
const { SEED, FIRST = '1' } = process.env

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

const sound: SynchronizingParts = { createSynchronizer, startSynchronizing, open: openInMemory() }

test.runIf(SEED)('replays one schedule (skipped unless SEED names it)', async () => {
  const trace = (line: string) => void process.stdout.write(`${line}\n`)
  expect(await simulateSynchronizing({ ...sound, seed: Number(SEED), trace })).toBeNull()
})

describe.skipIf(SEED)('whatever fails, dies or gets lost', { timeout: 900_000 }, () => {
  test('what is watched is what is registered in the end, and nothing waits for what is refused', async () => {
    const happened = await simulateMany(counts.pushSchedules, sound)
    expect(happenings.filter(event => !happened.has(event))).toEqual([])
    expect([...happened.keys()].filter(event => !happenings.includes(event))).toEqual([])
  })

  test('so it is in SQLite', async () => {
    await simulateMany(counts.pushSchedulesInSqlite, { ...sound, open: openInSqlite })
  })

  async function simulateMany(schedules: number, parts: SynchronizingParts): Promise<ReadonlyMap<string, number>> {
    const start = performance.now()
    const happened = new Map<string, number>()
    const count = (event: string) => void happened.set(event, (happened.get(event) ?? 0) + 1)
    const first = Number(FIRST)
    for (let seed = first; seed < first + schedules; seed += 1) {
      const violation = await simulateSynchronizing({ ...parts, seed, count })
      if (!violation) continue
      const { invariant, detail } = violation
      const replay = `SEED=${seed} npx vitest run test/simulation/synchronizing`
      expect.fail(`"${invariant}" does not hold: ${detail}\nReplay: ${replay}`)
    }
    const summary = [...happened].sort(([, one], [, other]) => other - one).map(([event, times]) => `${event} ${times}`)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    console.log(`${schedules} schedules from ${first} on in ${seconds} s: ${summary.join(', ')}`)
    return happened
  }
})
