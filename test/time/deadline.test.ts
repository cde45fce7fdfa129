import { expect, test } from 'vitest'
import { createMemoryStore, registerDomains } from '../../src/index.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import {
  CALL_TIME_LIMIT,
  createDeadline,
  runWithin,
  TimeLimitError,
  timeLimitRule,
  waitForStore,
} from '../../src/time/deadline.ts'
import { team1, teams } from '../fixtures.ts'

const database = {
  connect() {
    throw new Error('Nothing should be done')
  },
}
const store = {
  findTeam() {
    throw new Error('Nothing should be done')
  },
  register: () => ({ found: { registrations: [], below: [] }, saved: [] }),
}
const findTeam = () => teams[0]

/** Every function with a time limit, except handlers: see test/http/options.test.ts. */
const takers: readonly (readonly [what: string, option: string, take: (limit: number) => unknown])[] = [
  ['registerDomains', 'timeLimit', timeLimit => registerDomains(team1, { domains: ['a.com'] }, store, { timeLimit })],
  [
    'createMemoryStore',
    'synchronizeTimeLimit',
    synchronizeTimeLimit => createMemoryStore({ synchronize() {}, synchronizeTimeLimit }),
  ],
  ['createPostgresStore', 'timeLimit', timeLimit => createPostgresStore({ database, findTeam, timeLimit })],
  [
    'createPostgresStore',
    'synchronizeTimeLimit',
    synchronizeTimeLimit => createPostgresStore({ database, findTeam, synchronizeTimeLimit }),
  ],
  ['createPostgresKeyStore', 'timeLimit', timeLimit => createPostgresKeyStore({ database, timeLimit })],
  ['migrate', 'timeLimit', timeLimit => migrate({ database, timeLimit })],
]

test.each(takers)('%s rejects an invalid `%s` before any work, and says what to pass', async (_, option, take) => {
  await expect((async () => take(Number.NaN))()).rejects.toThrow(
    new TypeError(
      `The option "${option}" must be a number of milliseconds above 0 and at most 2147483647, ` +
        'such as 30000; it is NaN',
    ),
  )
})

const hostile = { [Symbol.toPrimitive]: () => expect.unreachable('A time limit is never converted') }
test.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY, 2 ** 31, '30', null, hostile])(
  '%o is not a valid time limit',
  limit => expect(timeLimitRule.holds(limit, {})).toBe(false),
)

test.each([1, 0.5, 30_000, 2 ** 31 - 1])('%s ms is a valid time limit', limit => {
  expect(timeLimitRule.holds(limit, {})).toBe(true)
})

test.each([
  [
    'a wait lasts until the whole configured time limit has passed, its error states only this limit',
    20,
    20,
    undefined,
    'the time limit of 20 ms',
  ],
  [
    'a wait begins late and times out, its error states the time that was left and the configured time limit',
    20,
    30_000,
    undefined,
    '20 ms, a part of the time limit of 30000 ms',
  ],
  [
    "a step times out before the call does, the error states both the step's limit and the configured time limit",
    30_000,
    30_000,
    20,
    '20 ms, a part of the time limit of 30000 ms',
  ],
  [
    'a wait begins late and times out, its error rounds the time that was left, but not the configured time limit',
    20.4,
    30_000.5,
    undefined,
    '20 ms, a part of the time limit of 30000.5 ms',
  ],
  [
    'the configured time limit passes before the longer limit of a step, the error states only the former',
    20,
    20,
    30_000,
    'the time limit of 20 ms',
  ],
])('if %s', async (_, milliseconds, timeLimit, step, expected) => {
  const waiting = createDeadline(milliseconds, timeLimit).wait(new Promise(() => {}), step)
  await expect(waiting).rejects.toThrow(new TimeLimitError(`No response within ${expected}`))
})

test('the remaining time is 0, not negative, once the time limit has passed', async () => {
  expect(createDeadline(30_000).remaining()).toBeGreaterThan(0)
  const deadline = createDeadline(5)
  await new Promise(resolve => setTimeout(resolve, 10))
  expect(deadline.remaining()).toBe(0)
})

test('a call exceeds its time limit only to wait for a store in a transaction of the application', async () => {
  const late = () => new Promise(resolve => setTimeout(resolve, 30, 'late'))
  expect(await waitForStore({ isInTransaction: true }, late(), createDeadline(5))).toBe('late')
  await expect(waitForStore({}, late(), createDeadline(5))).rejects.toThrow(TimeLimitError)
  await expect(waitForStore({}, late(), createDeadline(30_000), 5)).rejects.toThrow('5 ms, a part of')
})

test('the default time limit of a call is 30 seconds', () => expect(CALL_TIME_LIMIT).toBe(30_000))

test('a wait for a thenable whose `then` throws rejects immediately, and leaves no timer behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length
  const before = timers()
  // biome-ignore lint/suspicious/noThenProperty: a store may return a thenable
  const thenable = { then: () => JSON.parse('no JSON') }
  await expect(createDeadline(50_000).wait(thenable as never)).rejects.toThrow('JSON')
  expect(timers()).toBe(before)
})

const never = () => new Promise<never>(() => {})
const message = 'No answer'

test('if the work ends in time, runWithin returns its value or throws its error, and leaves no timer', async () => {
  const { signal } = new AbortController()
  const counts: number[] = []
  const counted = Object.assign(signal, {
    addEventListener: () => counts.push(1),
    removeEventListener: () => counts.push(-1),
  }) as unknown as AbortSignal
  const timers = () => process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length
  const before = timers()
  const limits = { milliseconds: 50_000, message, signal: counted }
  expect(await runWithin(limits, () => 7)).toBe(7)
  await expect(runWithin(limits, () => JSON.parse('no JSON'))).rejects.toThrow('JSON')
  expect(timers()).toBe(before)
  expect(counts).toEqual([1, -1, 1, -1])
})

test('work that ignores its signal is abandoned at the time limit', async () => {
  let seen: AbortSignal | undefined
  const running = runWithin({ milliseconds: 5, message }, signal => {
    seen = signal
    return never()
  })
  await expect(running).rejects.toThrow(new TimeLimitError(message))
  expect(seen?.reason).toEqual(new TimeLimitError(message))
})

test("if the caller's signal aborts, runWithin rejects with its reason and aborts the work's signal", async () => {
  const outer = new AbortController()
  const running = runWithin({ milliseconds: 50_000, message, signal: outer.signal }, signal => {
    outer.abort(new Error('stopped'))
    expect(signal.reason).toEqual(new Error('stopped'))
    throw new Error('too late')
  })
  await expect(running).rejects.toThrow('stopped')
})

test("work does not start if the caller's signal is already aborted", async () => {
  const limits = { milliseconds: 50_000, message, signal: AbortSignal.abort(new Error('stopped')) }
  await expect(runWithin(limits, () => expect.unreachable('It is not begun'))).rejects.toThrow('stopped')
})
