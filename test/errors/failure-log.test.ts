import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFailureLog, describeError, type FailureRecord } from '../../src/errors/failure-log.ts'

const registering = { step: 'registering names', operation: 'create', teamId: '7', count: 100 }
const MINUTE = 60_000

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 5, 678) }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function open() {
  const records: FailureRecord[] = []
  const log = createFailureLog()
  const write = (record: FailureRecord) => void records.push(record)
  return {
    records,
    fail: (error: unknown, domain?: string) => log(error, registering, { write, ...(domain && { domain }) }),
  }
}

const describeAll = (...errors: unknown[]) => {
  const { records, fail } = open()
  for (const error of errors) fail(error)
  return records.map(({ error }) => error)
}

test('each failure is logged as a line with time, package, step, team, count and causes, followed by its stack', () => {
  const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
  const cause = Object.assign(new Error('could not extend file\nHINT: Check free disk space.'), { code: '53100' })
  createFailureLog()(new Error('The store failed', { cause }), { ...registering, requestId: 'r-1' })
  const [line, ...stack] = String(shown.mock.calls[0]?.[0]).split('\n')
  expect(line).toBe(
    '2026-01-02T03:04:05.678Z domain-registration: registering names failed (create, request r-1, team 7, ' +
      '100 names): Error: The store failed; cause: Error: could not extend file (53100); ' +
      'see node_modules/domain-registration/docs/runbook.md',
  )
  expect(stack.length).toBeGreaterThan(0)
  for (const frame of stack) expect(frame).toMatch(/^ {4}at /)
})

test.each([
  ['that forges facts', 'r1, team 9, 1 name): nothing happened', 'r1?team?9?1?name?:?nothing?happened'],
  ['with characters that control a terminal', 'r\x1b[2J\n1\u202e', 'r?2J?1?'],
  ['of 12 kB', 'r'.repeat(12_000), 'r'.repeat(100)],
  ['of a load balancer', 'Root=1-67891233-abcdef012345678912345678', 'Root=1-67891233-abcdef012345678912345678'],
  ['in base64', 'a+b/c==', 'a+b/c=='],
])('an ID %s is logged as one short word', (_, id, shown) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  createFailureLog()(new Error('no'), { ...registering, requestId: id, teamId: id })
  expect(log.mock.calls[0]?.[0]).toContain(`failed (create, request ${shown}, team ${shown}, 100 names): Error: no`)
})

test('ten thousand equal failures in a minute become two log records, and the second says how many there were', () => {
  const { records, fail } = open()
  for (let index = 0; index < 10_000; index += 1) {
    fail(new Error(`connect ECONNREFUSED 127.0.0.1:${index}`))
    vi.advanceTimersByTime(5)
  }
  expect(records).toMatchObject([{ stack: expect.any(String) }])
  vi.advanceTimersByTime(MINUTE)
  expect(records).toHaveLength(2)
  expect(records[1]).toMatchObject({ more: 9_999, error: 'Error: connect ECONNREFUSED 127.0.0.1:9999' })
  expect(records[1]).not.toHaveProperty('stack')
})

test('ten thousand failures with different messages become only a few log records', () => {
  const { records, fail } = open()
  for (let index = 0; index < 10_000; index += 1) fail(new Error(`${'abc'[index % 3]}${'x'.repeat(index % 200)}`))
  vi.advanceTimersByTime(MINUTE)
  expect(records.length).toBeLessThanOrEqual(60)
})

test('a failure after a quiet minute is logged at once, with its stack again', () => {
  const { records, fail } = open()
  fail(new Error('no'))
  vi.advanceTimersByTime(MINUTE + 1)
  fail(new Error('no'))
  expect(records).toMatchObject([{ stack: expect.any(String) }, { stack: expect.any(String) }])
})

test('if timers do not run, the next failure after a minute says how many failures were not logged', () => {
  vi.stubGlobal('setTimeout', () => 0)
  const { records, fail } = open()
  for (const wait of [0, 1, 1, MINUTE + 1]) {
    vi.advanceTimersByTime(wait)
    fail(new Error('no'))
  }
  vi.unstubAllGlobals()
  expect(records.map(({ more }) => more)).toEqual([undefined, 3])
})

test('the log omits the hostname of a change, API keys, webhook secrets, and passwords in URLs', () => {
  const { records, fail } = open()
  const domain = 'shop.example.com'
  fail(new Error('postgres://me:secret@db:5432/x refused svc_team_42_abc123DEF and whsec_MfKQ9r8GKYq'))
  fail(new Error(`the monitor refuses ${domain}`), domain)
  fail(new Error('the monitor refuses other.example.com'), 'other.example.com')
  fail(`away: ${domain}\nsvc_team_42_abc123DEF`, domain)
  fail(Object.defineProperty(new Error(`no: ${domain}\nDETAIL: secret`), 'code', { get: raise }), domain)
  fail(Object.assign(new Error('bad code'), { code: `svc_team_42_abc123DEF ${'x'.repeat(1000)}`, monitor: {} }))
  fail(Object.assign(new Error(`bad: ${domain}`), { name: `Bad ${domain}`, code: `at ${domain}` }), domain)
  expect(records.map(({ error }) => error)).toEqual([
    'Error: postgres://db:5432/x refused svc_team_42_… and whsec_…',
    'Error: the monitor refuses …',
    'away: …',
    'Error: no: …',
    expect.stringMatching(/^Error: bad code \(svc_team_42_… x{200,255}\)$/),
    'Bad …: bad: … (at …)',
  ])
  expect(records.at(-2)).not.toHaveProperty('monitor')
})

test('the lines of a stack are logged without hostnames and secrets, and none is longer than 255 characters', () => {
  const { records, fail } = open()
  const stack = `Error: no\n  at shop.example.com\n    at svc_team_42_abc123DEF ${'x'.repeat(1000)}`
  fail(Object.assign(new Error('no'), { stack }), 'shop.example.com')
  expect(records[0]?.stack).toMatch(/^ {4}at …\n {4}at svc_team_42_… x{200,255}$/)
})

test('an AggregateError without a message is logged as the error it contains; all thrown values can be logged', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' })
  expect(describeAll(new AggregateError([refused]), 'a text', undefined, null, {})).toEqual([
    'Error: connect ECONNREFUSED ::1:5432',
    'a text',
    'undefined',
    'null',
    '[object Object]',
  ])
})

test('an error that is its own cause, or an AggregateError that contains only itself, is logged only once', () => {
  const error = new Error('round')
  error.cause = error
  const whole = new AggregateError([], '')
  whole.errors.push(whole)
  expect(describeAll(error)[0]).toMatch(/^Error: round; cause: /)
  expect(describeAll(whole)).toEqual(['AggregateError'])
})

test.each([
  ['without a prototype', Object.create(null), 'An error that cannot be read'],
  ['whose message is an object', Object.assign(new Error(), { message: { code: 7 } }), 'Error: [object Object]'],
  ['without a message', Object.assign(new Error('no'), { message: undefined }), 'Error: undefined'],
  ['whose name is a symbol', Object.assign(new Error('no'), { name: Symbol('no') }), 'An error that cannot be read'],
  ['whose stack is an array', Object.assign(new Error('no'), { stack: ['a line'] }), 'Error: no'],
  ['whose `errors` is null', Object.assign(new Error('no'), { errors: null, code: 'E1' }), 'Error: no (E1)'],
  ['whose `code` getter throws', Object.defineProperty(new Error('no'), 'code', { get: raise }), 'Error: no'],
])('the log includes a thrown value %s', (_, thrown, described) => {
  expect(describeAll(thrown)).toEqual([described])
})

function raise(): never {
  throw new Error('This getter throws')
}

test.each([
  ['@', 'postgres://me:a@b@db:5432/x', 'postgres://db:5432/x'],
  ['/', 'postgres://me:a/b@db:5432/x', 'postgres://db:5432/x'],
  ['//', '(see postgres://me:a//b@db:5432/x)', '(see postgres://db:5432/x)'],
  [' ', 'postgres://me:a b@db:5432/x', 'postgres://db:5432/x'],
  [':', 'postgres://me:1:a b@db:5432/x', 'postgres://db:5432/x'],
])('a password with "%s" in it is not logged', (_, said, logged) => {
  expect(describeError(new Error(said))).toBe(`Error: ${logged}`)
})

test.each([
  'https://monitor.example.com/users/@me responded with 404',
  'https://monitor.example.com:8443/users/@me responded with 404',
  'no host in "https://": ask ops@example.com',
])('the "@" in "%s" is no end of a password', said => {
  expect(describeError(new Error(said))).toBe(`Error: ${said}`)
})
