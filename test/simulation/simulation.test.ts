import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'
import { counts, isLong } from '../counts.ts'
import { brokenOutboxes } from '../exploration/broken-outboxes.ts'
import { families, rejected, spellings } from './rules.ts'
import { simulate } from './simulate.ts'
import { installVirtualTime } from './virtual-clock.ts'

/** The only seed to run, with a trace. Without this variable, all seeds are run. */
const { SEED } = process.env

/** The number of schedules for a broken store: as many as `npm test` runs for a correct one. */
const SCHEDULES_OF_BROKEN = 250

let restoreTime = () => {}
beforeAll(() => {
  restoreTime = installVirtualTime()
})
afterAll(() => restoreTime())

/** The events that must all happen at least once; otherwise the simulation would prove nothing. */
const happenings = [
  ...['a slow statement', 'a statement fails', 'a statement without an answer', 'an answer is lost'],
  ...['a slow push', 'a failed push', 'half a push', 'a push without an answer', 'a refusal'],
  ...['an unavailable monitor'],
  ...['a crash', 'a clock jumps', 'a release', 'a transfer', 'an import', 'few refusals', 'many refusals'],
  ...['a call answered 200', 'a call answered 403', 'a call answered 500', 'a call answered 503'],
  ...['created', 'existing', 'wildcard_conflict', 'subdomain_conflict', 'domain_already_licensed', 'internal_error'],
  ...['wildcard_conflict', 'subdomain_conflict', 'domain_already_licensed', 'domain_has_another_id', 'id_is_taken'].map(
    code => `import: ${code}`,
  ),
  ...new Set(rejected.map(([, code]) => code)),
]

test('the hostnames of the simulation are classified as its model assumes', () => {
  for (const { domain, registrableDomain } of families.flat()) {
    for (const spell of spellings) {
      expect(classifyHostname(spell(domain))).toMatchObject({ valid: true, domain, registrableDomain })
    }
  }
  for (const [input, code] of rejected) expect(classifyHostname(input)).toMatchObject({ valid: false, code })
})

test.runIf(SEED)('the schedule of SEED passes (skipped unless SEED is set)', async () => {
  const trace = (line: string) => void process.stdout.write(`${line}\n`)
  expect(await simulate({ seed: Number(SEED), trace })).toBeNull()
})

describe.skipIf(SEED)('under random failures, crashes and lost messages,', () => {
  test('every response is correct, and in the end exactly the registered names are watched', {
    timeout: 600_000,
  }, async () => {
    const start = Date.now()
    const happened = new Map<string, number>()
    const count = (event: string) => void happened.set(event, (happened.get(event) ?? 0) + 1)
    for (let seed = 1; seed <= counts.schedules; seed += 1) {
      const violation = await simulate({ seed, count })
      if (violation) expect.fail(`${violation}\nReplay: SEED=${seed} npx vitest run test/simulation`)
    }
    const summary = [...happened].sort(([, one], [, other]) => other - one).map(([event, times]) => `${event} ${times}`)
    console.log(`${counts.schedules} schedules in ${(Date.now() - start) / 1000} s: ${summary.join(', ')}`)
    expect([...happened.keys()].toSorted()).toEqual(happenings.toSorted())
  })

  test
    .runIf(isLong)
    .each(
      brokenOutboxes.map(each => [each.isFoundBySimulation ? 'catches' : 'does not catch', each.breaks, each] as const),
    )(
    'the simulation %s a store that %s',
    { timeout: 600_000 },
    async (_outcome, _breaks, { createBackend, isFoundBySimulation }) => {
      let violation: string | null = null
      for (let seed = 1; seed <= SCHEDULES_OF_BROKEN && !violation; seed += 1)
        violation = await simulate({ seed, createBackend })
      expect(violation !== null).toBe(isFoundBySimulation)
    },
  )

  test('the same seed gives the same schedule', async () => {
    async function traceOf(seed: number) {
      const lines: string[] = []
      await simulate({ seed, trace: line => void lines.push(line) })
      return lines
    }
    for (let seed = 1; seed <= 20; seed += 1) {
      const lines = await traceOf(seed)
      expect(lines.length).toBeGreaterThan(5)
      expect(await traceOf(seed)).toEqual(lines)
    }
  })
})
