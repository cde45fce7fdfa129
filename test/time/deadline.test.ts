import { describe, expect, test } from 'vitest'
import { createMemoryStore, registerDomains } from '../../src/index.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import {
  CALL_TIME_LIMIT,
  createDeadline,
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

describe.each(takers)('%s: as the option `%s`,', (_, option, take) => {
  const hostile = { [Symbol.toPrimitive]: () => expect.unreachable('A time limit is never converted') }
  test.each([
    ['NaN', Number.NaN, 'NaN'],
    ['0', 0, '0'],
    ['-1', -1, '-1'],
    ['Infinity', Number.POSITIVE_INFINITY, 'Infinity'],
    ['2 ** 31', 2 ** 31, '2147483648'],
    ['"30"', '30' as never, '"30"'],
    ['null', null as never, 'object'],
    ['an object', hostile as never, 'object'],
  ])('%s is rejected before any work, and the error says what to pass', async (_, limit, described) => {
    await expect((async () => take(limit))()).rejects.toThrow(
      new TypeError(
        `The option "${option}" must be a number of milliseconds above 0 and at most 2147483647, ` +
          `such as 30000; it is ${described}`,
      ),
    )
  })
})

test.each([1, 0.5, 30_000, 2 ** 31 - 1])('%s ms is a valid time limit', limit => {
  expect(timeLimitRule.holds(limit, {})).toBe(true)
})

test.each([
  ['if all of it has passed', 20, 20, undefined, 'the time limit of 20 ms'],
  ['even if the call had only a part of it left', 20, 30_000, undefined, '20 ms, a part of the time limit of 30000 ms'],
  ['if the shorter limit of one step has passed', 30_000, 30_000, 20, '20 ms, a part of the time limit of 30000 ms'],
  [
    'and rounds the part that has passed to milliseconds',
    20.4,
    30_000.5,
    undefined,
    '20 ms, a part of the time limit of 30000.5 ms',
  ],
  ['if it passes before the longer limit of one step', 20, 20, 30_000, 'the time limit of 20 ms'],
])('the error names the configured time limit, %s', async (_, milliseconds, timeLimit, step, expected) => {
  const waiting = createDeadline(milliseconds, timeLimit).wait(new Promise(() => {}), step)
  await expect(waiting).rejects.toThrow(new TimeLimitError(`No response within ${expected}`))
})

test('the remaining time is 0, and not less, once the time limit has passed', async () => {
  expect(createDeadline(30_000).remaining()).toBeGreaterThan(0)
  const deadline = createDeadline(5)
  await new Promise(resolve => setTimeout(resolve, 10))
  expect(deadline.remaining()).toBe(0)
})

test('a call waits longer than its time limit only for a store in a transaction of the application', async () => {
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
