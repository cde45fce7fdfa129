/** What becomes of names that have no result after their call, and what is sent next. */
import { expect, test } from 'vitest'
import {
  afterCall,
  afterSend,
  decide,
  initialState,
  type Part,
  type PlacedName,
  policy,
  type RunState,
} from '../../src/client/plan.ts'

const place = (names: readonly string[]) => names.map((name, index) => ({ name, place: index }))
const part = (change: Partial<Part> = {}): Part => ({
  ...{ names: place(['a', 'b', 'c']), turn: 'again', dueAt: 0, failures: 1, successesBefore: 0 },
  ...change,
})
const failures = {
  refusal: { status: 401, code: 'unauthorized', message: 'No.', mayPass: false },
  'service failure': { status: 503, code: 'domain_registration_unavailable', message: 'Later.', mayPass: true },
  'lost response': { code: 'unreachable', message: 'Lost.', mayPass: true },
}
const now = 1_000_000
/** The parts that are left after a call has failed. */
function fail(failure: keyof typeof failures, failed: Part, state: Partial<RunState> = {}) {
  const outcome = { results: [], failure: failures[failure] }
  const after = afterCall({ ...initialState, ...state }, failed, outcome, { patience: 1000, now })
  return after.parts.map(({ names, turn, probe }) => {
    const words = `${names.map(({ name }) => name).join('')} ${turn}`
    return probe ? `${words}, of which ${probe.name} is sent` : words
  })
}
const works = { successes: 1 }
const one = place(['a'])
const parts = (count: number, dueAt = now) => ({ parts: Array.from({ length: count }, () => part({ dueAt })) })

test.each<[what: string, parts: string[], expected: string[]]>([
  ['a refusal', fail('refusal', part()), ['abc given up']],
  ['a first failure', fail('service failure', part({ turn: 'first' })), ['abc again']],
  ['another failure while other calls succeed', fail('service failure', part(), works), ['ab again', 'c again']],
  [
    'the failure of one name while other calls succeed',
    fail('service failure', part({ names: one }), works),
    ['a last'],
  ],
  ['another failure while no call succeeds', fail('service failure', part()), ['abc again, of which c is sent']],
  [
    'one more failure while no call succeeds',
    fail('service failure', part({ failures: 2, probe: place(['a', 'b', 'c'])[2] })),
    ['abc again, of which a is sent'],
  ],
  ['the failure of one name while no call succeeds', fail('service failure', part({ names: one })), ['a again']],
  ['lost responses', fail('lost response', part(), works), ['abc again']],
  [
    'the failure of one name that was put off',
    fail('service failure', part({ names: one, turn: 'last' })),
    ['a given up'],
  ],
  [
    'a lost response for one name that was put off',
    fail('lost response', part({ names: one, turn: 'last' })),
    ['a last'],
  ],
])('after %s, the parts are right', (_, after, expected) => {
  expect(after).toEqual(expected)
})

test('each row of the policy decides something', () => {
  const rows = policy.map(({ fault, turn, names }) => `${fault} ${turn} ${names}`)
  expect(new Set(rows).size).toBe(policy.length)
  const isCovered = (row: (typeof policy)[number], by: (typeof policy)[number]) =>
    (['fault', 'turn', 'names'] as const).every(field => by[field] === 'any' || by[field] === row[field])
  for (const [index, row] of policy.entries()) expect(policy.slice(0, index).some(by => isCovered(row, by))).toBe(false)
})

const last = part({ turn: 'last' })
const atEnd = { next: undefined, isAtEnd: true }
const idle = { hasRoom: true, isIdle: true }

test.each<[what: string, state: Partial<RunState>, situation: Partial<Parameters<typeof decide>[1]>, move: string]>([
  ['new names are sent', {}, {}, 'n first'],
  ['a part that is due comes before new names', parts(1), {}, 'abc again'],
  ['after a failure, new names come first', { ...parts(1), failingSince: now }, {}, 'n first'],
  [
    'after failures of new names too, a part that is due comes first',
    { ...parts(1), failingSince: now, newFailures: 4 },
    {},
    'abc again',
  ],
  ['new names come before a part that is not due', parts(1, now + 1), {}, 'n first'],
  ['new names come before one that is put off', { parts: [last] }, {}, 'n first'],
  ['a name that is put off comes at the end', { parts: [last], ...atEnd }, {}, 'abc last'],
  [
    'a part that is not due comes before one that is put off',
    { parts: [last, part({ dueAt: now + 5 })], ...atEnd },
    {},
    '5',
  ],
  ['while all calls fail, no new names are sent', { ...parts(1, now + 5), newFailures: 4, failingSince: now }, {}, '5'],
  ['while 200 parts wait, no new names are sent', parts(200, now + 5), {}, '5'],
  ['without room, nothing is sent', parts(1), { hasRoom: false }, 'Infinity'],
  ['after the end, nothing is sent', { ...parts(1), isOver: true }, {}, 'Infinity'],
  ['after the end, the run ends once it is idle', { isOver: true }, idle, 'end'],
  ['if all is done, the run ends', atEnd, idle, 'end'],
  ['while names are read, the run waits', { next: undefined }, idle, 'Infinity'],
  ['if a retry would come too late, the run ends', { ...parts(1, now + 1001), ...atEnd }, idle, 'end'],
  ['if a retry comes in time, the run waits for it', { ...parts(1, now + 1000), ...atEnd }, idle, '1000'],
  [
    'if all have a result or were given up, the run ends',
    { parts: [part({ turn: 'given up' })], ...atEnd },
    idle,
    'end',
  ],
])('%s', (_, state, situation, expected) => {
  const move = decide(
    { ...initialState, next: place(['n']), ...state },
    { hasRoom: true, isIdle: false, concurrency: 4, patience: 1000, now, ...situation },
  )
  expect(typeof move === 'object' ? `${move.names.map(({ name }) => name).join('')} ${move.turn}` : `${move}`).toBe(
    expected,
  )
})

test('after a name that was sent alone succeeded, the other names of its part are due, and halved if they fail', () => {
  const [a, b, c] = place(['a', 'b', 'c']) as [PlacedName, PlacedName, PlacedName]
  const outcome = { results: [{ result: 'registered', place: b.place }] }
  const { parts, successes } = afterCall(initialState, part({ probe: b }), outcome, { patience: 1000, now })
  expect(parts).toEqual([part({ names: [a, c], probe: undefined, dueAt: now })])
  expect(fail('service failure', parts[0] as Part, { successes })).toEqual(['a again', 'c again'])
})

test('a part that is sent is no longer in the state', () => {
  const again = part()
  const state = { ...initialState, parts: [again, last], next: place(['n', 'm']) }
  expect(afterSend(state, again).parts).toEqual([last])
  expect(afterSend(state, last).parts).toEqual([again])
  expect(afterSend(state, part({ turn: 'first', names: state.next }))).toMatchObject({ next: undefined, taken: 2 })
})
