import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMemoryOutbox } from '../../src/memory/memory-outbox.ts'
import { createMemoryStore, type MemoryStore } from '../../src/memory/memory-store.ts'
import type { Push, SynchronizationErrorHandler } from '../../src/outbox/contract.ts'
import { MonitorUnavailableError } from '../../src/outbox/contract.ts'
import { drawFirst, findRow, inOrder, type LineRow, lines, type PolicyRow, policy } from '../../src/outbox/policy.ts'
import { createSynchronizer, leaseFor } from '../../src/outbox/synchronizer.ts'
import type { Change, Registration } from '../../src/rules/registration.ts'
import { manyDomains, save, toDomains, toTestRegistration } from '../../src/testing/calls.ts'
import { createGate } from '../../src/testing/monitor.ts'

const TIME_LIMIT = 30_000
const LEASE = leaseFor(TIME_LIMIT)
const SOON = 5_000
const HOUR = 3_600_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

const toRegistration = (domain: string): Registration =>
  toTestRegistration(domain, { domainId: domain, synchronized: false, createdAt: new Date(0) })
const done = (synchronized: number, failed = 0) => ({ synchronized, failed })

/** An outbox with due changes, and a monitor that can be unavailable or refuse names. */
function open(domains: readonly string[] = [], random = (): number => 0, batchSize?: number) {
  const monitor = {
    isAway: false,
    /** The error of each failing push, if not the default. */
    failure: undefined as Error | undefined,
    refused: new Set<string>(),
    /** The domains of each push. */
    pushes: [] as string[][],
    accepted: [] as string[],
    push: ((changes: readonly Change[]) => {
      monitor.pushes.push(toDomains(changes))
      if (monitor.isAway) throw monitor.failure ?? new Error('unavailable')
      const refused = changes.find(({ domain }) => monitor.refused.has(domain))
      if (refused) throw monitor.failure ?? new Error(`no ${refused.domain}`)
      monitor.accepted.push(...toDomains(changes))
    }) as Push,
  }
  const outbox = createMemoryOutbox()
  const add = (...added: string[]) => {
    for (const domain of added) outbox.add(toRegistration(domain), 'registered', 0)
  }
  add(...domains)
  const synchronizer = createSynchronizer(
    { push: (...push) => monitor.push(...push), timeLimit: TIME_LIMIT, random, batchSize },
    outbox,
  )
  const told: [unknown, string | undefined][] = []
  const report: SynchronizationErrorHandler = (error, change) => void told.push([error, change?.domain])
  const sweep = (limit = 1000, signal?: AbortSignal) => synchronizer.sweep(limit, report, signal)
  const waits = async () =>
    Object.fromEntries(
      (await outbox.list(undefined, 1000)).map(({ domain, nextAttempt, refusals }) => [
        domain,
        [nextAttempt.getTime() - Date.now(), refusals],
      ]),
    )
  return { monitor, outbox, add, sweep, synchronizer, told, report, waits }
}

describe('a sweep', () => {
  test.each([
    ['a change that is always refused, even while others succeed', ['bad.com'], 1],
    ['a change that is always refused', ['bad.com'], 0],
    ['two changes that are always refused', ['bad.com', 'b2.com'], 0],
  ])('retries %s, with a backoff of up to an hour', async (_, domains, others) => {
    const { monitor, sweep, add, waits, told } = open(domains)
    for (const domain of domains) monitor.refused.add(domain)
    const seen: unknown[] = []
    for (let round = 0; round < 12; round += 1) {
      if (others > 0) add(`good${round}.com`)
      expect(await sweep()).toEqual(done(others, domains.length))
      const [wait, refusals] = (await waits())['bad.com'] as [number, number]
      seen.push(wait)
      expect(refusals).toBe(round + 1)
      await pass(wait)
    }
    expect(seen).toEqual(Array.from({ length: 12 }, (_, round) => Math.min(HOUR, SOON * 2 ** round)))
    expect(told).toHaveLength(12 * domains.length)
    expect(told).toContainEqual([new Error('no bad.com'), 'bad.com'])
  })

  test('shortens the wait before a retry at random, by at most half, so that retries are spread', async () => {
    let draws = 0
    const { monitor, sweep, waits } = open(['bad.com', 'good.com'], () => (draws++ % 2 ? 0.999 : 0.5))
    monitor.refused.add('bad.com')
    await sweep()
    const [wait] = (await waits())['bad.com'] as [number]
    expect(wait).toBeGreaterThanOrEqual(SOON / 2)
    expect(wait).toBeLessThan(SOON)
  })

  test('makes at most eight pushes if none is accepted, later ones three, until a change is accepted', async () => {
    const { monitor, sweep, told, waits, outbox } = open(manyDomains(64))
    monitor.isAway = true
    expect(await sweep()).toEqual(done(0, 64))
    expect(monitor.pushes.map(({ length }) => length)).toEqual([64, 32, 16, 8, 4, 2, 1, 1])
    for (let sweeps = 2; sweeps <= 20; sweeps += 1) {
      monitor.pushes = []
      await pass(SOON)
      expect(await sweep()).toEqual(done(0, 3))
      expect(monitor.pushes.map(({ length }) => length)).toEqual([1, 1, 1])
    }
    expect(Object.values(await waits()).every(([, refusals]) => (refusals ?? 9) <= 1)).toBe(true)
    expect(told).toEqual(Array(20).fill([new Error('unavailable'), undefined]))
    monitor.isAway = false
    await pass(SOON)
    expect(await sweep()).toEqual(done(64))
    expect((await outbox.stats()).count).toBe(0)
  })

  test('asks about other changes each time while none is accepted', async () => {
    const { monitor, sweep } = open(manyDomains(40), () => 0, 2)
    monitor.isAway = true
    for (let sweeps = 0; sweeps < 13; sweeps += 1) {
      await sweep()
      await pass(SOON)
    }
    expect(new Set(monitor.pushes.flat()).size).toBe(40)
  })

  test('makes smaller and smaller pushes if none is accepted, down to a single change', async () => {
    const { monitor, sweep } = open(manyDomains(1000), () => 0, 100)
    monitor.isAway = true
    await sweep()
    expect(monitor.pushes.map(({ length }) => length)).toEqual([100, 50, 25, 12, 6, 3, 1, 1])
  })

  test('pushes larger and larger batches again once a change is accepted', async () => {
    const { monitor, sweep } = open(manyDomains(16))
    monitor.isAway = true
    await sweep()
    monitor.isAway = false
    monitor.pushes = []
    await pass(SOON)
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep()
    expect(monitor.pushes.slice(0, 2).map(({ length }) => length)).toEqual([1, 2])
    expect(monitor.accepted).toHaveLength(16)
  })

  test('pushes each change alone after its second refusal, even while these pushes succeed', async () => {
    const { monitor, sweep, outbox } = open(['good.com', 'a.com', 'b.com', 'c.com'])
    for (const domain of ['a.com', 'b.com', 'c.com']) monitor.refused.add(domain)
    for (let sweeps = 0; sweeps < 2; sweeps += 1) {
      await sweep()
      await outbox.retry()
    }
    monitor.refused.clear()
    monitor.pushes = []
    expect(await sweep()).toEqual(done(3))
    expect(monitor.pushes.map(({ length }) => length)).toEqual([1, 1, 1])
  })

  test('saves the reason for each refusal with the refused change', async () => {
    const { monitor, sweep, outbox } = open(['a.com', 'b.com', 'c.com'])
    monitor.refused.add('a.com').add('c.com')
    expect(await sweep()).toEqual(done(1, 2))
    const failures = (await outbox.list(undefined, 10)).map(({ lastFailure }) => lastFailure)
    expect(failures).toEqual(['Error: no a.com', 'Error: no c.com'])
  })

  test('retries previously refused changes even if a hundred pushes of new changes fail', async () => {
    const refusedFirst = 0.99
    const { monitor, sweep, add } = open(['old.com', 'good.com'], () => refusedFirst)
    monitor.refused.add('old.com')
    await sweep()
    monitor.refused.delete('old.com')
    await pass(SOON)
    add(...manyDomains(400))
    for (const [index, domain] of manyDomains(400).entries()) if (index % 2) monitor.refused.add(domain)
    await sweep()
    expect(monitor.accepted).toContain('old.com')
  })

  test.each([
    ['the last', 1, [25_000, 25_000, 25_000]],
    ['an earlier', 3, [14_000, 14_000, 5_000, 14_000]],
  ])(
    'leaves changes to the next sweep, with no failure recorded, if a push as slow as %s one might not end in time',
    async (_, pushed, times) => {
      const { monitor, sweep, told, waits, outbox } = open(manyDomains(times.length), () => 0, 1)
      const left = times.length - pushed
      const { push } = monitor
      monitor.push = async (...call) => {
        await new Promise(resolve => setTimeout(resolve, times.shift()))
        return push(...call)
      }
      const sweeping = sweep()
      await pass(2 * TIME_LIMIT)
      expect(await sweeping).toEqual(done(pushed))
      expect(told).toEqual([])
      expect(Object.values(await waits())).toEqual(Array(left).fill([expect.any(Number), 0]))
      expect((await outbox.list(undefined, 10)).map(({ lastFailure }) => lastFailure)).toEqual(Array(left).fill(null))
    },
  )

  test('ends after a hundred failed pushes, and leaves the remaining changes to the next sweep', async () => {
    const { monitor, sweep, waits } = open(manyDomains(480), () => 0, 1)
    for (const [index, domain] of manyDomains(480).entries()) if (index % 4 === 1) monitor.refused.add(domain)
    const { synchronized, failed } = await sweep()
    expect(monitor.pushes.filter(pushed => pushed.some(domain => monitor.refused.has(domain)))).toHaveLength(100)
    expect([synchronized, failed]).toEqual([298, 100])
    expect(Object.values(await waits()).filter(([wait = 9]) => wait <= 0)).toHaveLength(82)
  })

  test('rejects if the store fails, and a later sweep pushes the changes once their lease has expired', async () => {
    const { sweep, outbox } = open(['a.com', 'b.com'])
    const { finish } = outbox
    outbox.finish = () => Promise.reject(new Error('no database'))
    await expect(sweep()).rejects.toThrow('no database')
    outbox.finish = finish
    expect(await sweep()).toEqual(done(0))
    await pass(LEASE)
    expect(await sweep()).toEqual(done(2))
  })
})

describe('a monitor that throws MonitorUnavailableError', () => {
  test('gets three pushes, then none for as long as the error asks, and no change counts as refused', async () => {
    const { monitor, sweep, told, waits, outbox } = open(manyDomains(10))
    const unavailable = new MonitorUnavailableError('maintenance', { retryAfter: 60_000 })
    const { push } = monitor
    monitor.push = changes => {
      monitor.pushes.push(toDomains(changes))
      throw unavailable
    }
    expect(await sweep()).toEqual({ ...done(0, 10), unavailable: { retryAfter: 60_000 } })
    await pass(59_999)
    expect(await sweep()).toEqual(done(0))
    expect(monitor.pushes.map(pushed => pushed.length)).toEqual([10, 5, 2])
    expect(told).toEqual([[unavailable, undefined]])
    expect((await outbox.list(undefined, 1))[0]?.lastFailure).toBe('MonitorUnavailableError: maintenance')
    expect(Object.values(await waits())).toEqual(Array(10).fill([1, 0]))
    monitor.push = push
    await pass(1)
    expect(await sweep()).toEqual(done(10))
  })

  test('only when a push contains a certain change counts as refusing it, and gets all other changes', async () => {
    const { monitor, sweep, told } = open(manyDomains(16))
    const { push } = monitor
    monitor.push = (changes, context) => {
      if (changes.some(({ domain }) => domain === 'n15.com')) throw new MonitorUnavailableError('504')
      return push(changes, context)
    }
    expect(await sweep()).toEqual(done(15, 1))
    expect(told).toEqual([[new MonitorUnavailableError('504'), 'n15.com']])
  })

  test.each([
    [undefined, 8, SOON],
    [0, 3, SOON],
    [-1, 8, SOON],
    [Number.NaN, 8, SOON],
    [Number.POSITIVE_INFINITY, 3, HOUR],
    [86_400_000, 3, HOUR],
  ])('with retryAfter %s gets %i of nine changes, and these again after %i ms', async (retryAfter, pushes, wait) => {
    const { monitor, sweep, waits } = open(manyDomains(9), () => 0, 1)
    const push = vi.fn(() => Promise.reject(new MonitorUnavailableError('unavailable', { retryAfter })))
    monitor.push = push
    await sweep()
    expect(push).toHaveBeenCalledTimes(pushes)
    expect(Object.values(await waits())).toEqual(manyDomains(9).map((_, index) => [index < pushes ? wait : 0, 0]))
  })

  test('with a Retry-After for one change delays only that change, like any other refusal', async () => {
    const { monitor, sweep, waits } = open(manyDomains(10), () => 0.9, 2)
    const { push } = monitor
    monitor.push = (changes, context) => {
      if (changes.some(({ domain }) => domain === 'n3.com'))
        throw new MonitorUnavailableError('the quota of a team', { retryAfter: 60_000 })
      return push(changes, context)
    }
    expect(await sweep()).toEqual(done(9, 1))
    expect(await waits()).toEqual({ 'n3.com': [60_000, 1] })
  })
})

/** For each row of the policy: how to get there. Returns the change about which the row decides. */
const situations: Readonly<Record<string, (opened: ReturnType<typeof open>) => Promise<string | undefined>>> = {
  'accepted any any': async ({ sweep, add }) => {
    add('a.com')
    await sweep()
    return 'a.com'
  },
  'denied alone yes any': async ({ sweep, add, monitor }) => {
    add('a.com', 'b.com')
    monitor.refused.add('b.com')
    await sweep()
    return 'b.com'
  },
  'denied alone no none': async ({ sweep, add, monitor }) => {
    add(...manyDomains(64))
    monitor.isAway = true
    await sweep()
    return monitor.pushes.at(-1)?.[0]
  },
  'denied alone no some': async ({ sweep, add, monitor, outbox }) => {
    add(...manyDomains(9))
    monitor.isAway = true
    const changes = await outbox.take({ lines: [{ line: 'new', limit: 9 }], lease: 0, lot: 0 })
    await outbox.postpone(changes.map(change => ({ change, wait: 0, refusals: 1 })))
    await sweep()
    return monitor.pushes.at(-1)?.[0]
  },
  'unavailable alone yes any': async ({ sweep, add, monitor }) => {
    add('a.com', 'b.com')
    monitor.refused.add('b.com')
    monitor.failure = new MonitorUnavailableError('503')
    await sweep()
    return 'b.com'
  },
  'unavailable alone no any': async ({ sweep, add, monitor }) => {
    add(...manyDomains(64))
    monitor.isAway = true
    monitor.failure = new MonitorUnavailableError('503')
    await sweep()
    return monitor.pushes.at(-1)?.[0]
  },
  'failed with others yes any': async ({ add, monitor, ...opened }) => {
    add(...manyDomains(1008))
    for (const domain of manyDomains(1008).slice(504)) monitor.refused.add(domain)
    await opened.sweep(1000)
    return monitor.pushes[3]?.[9]
  },
  'failed with others no any': async ({ sweep, add, monitor }) => {
    add(...manyDomains(64))
    monitor.isAway = true
    await sweep()
    return 'n0.com'
  },
  'not pushed any any': async ({ sweep, add, monitor }) => {
    add(...manyDomains(1000))
    monitor.isAway = true
    await sweep()
    return 'n999.com'
  },
}

describe('the policy for a change', () => {
  const waitOf = {
    never: undefined,
    'at once': 0,
    'after the first wait': SOON,
    'after the backoff': SOON,
  }

  test.each(policy.map(row => [`${row.answer} ${row.accepts} ${row.refusals}`, row] as const))(
    '"%s" is what becomes of it',
    async (situation, row) => {
      const opened = open([], () => 0, 168)
      const before = situation === 'denied alone no some' ? 1 : 0
      const domain = (await situations[situation]?.(opened)) ?? 'missing'
      const found = (await opened.waits())[domain]
      const refusals = before + Number(row.becomes === 'refused')
      expect(found).toEqual(row.becomes === 'delivered' ? undefined : [waitOf[row.due], refusals])
      const pending = (await opened.outbox.list(undefined, 2000)).find(each => each.domain === domain)
      const isReasonKnown = !['accepted', 'not pushed'].includes(row.answer)
      expect(Boolean(pending?.lastFailure)).toBe(isReasonKnown)
    },
  )

  test('has exactly one row for each change', () => {
    const answers = new Set(policy.map(({ answer }) => answer))
    for (const answer of answers)
      for (const accepts of [true, false])
        for (const refusals of [0, 1, 7]) {
          const isMatch = (row: PolicyRow) =>
            row.answer === answer &&
            row.accepts !== (accepts ? 'no' : 'yes') &&
            row.refusals !== (refusals > 0 ? 'none' : 'some')
          expect(policy.filter(isMatch), `${answer} ${accepts} ${refusals}`).toEqual([
            findRow(answer, accepts, refusals),
          ])
        }
  })
})

describe('the table of lines', () => {
  /** How often sweeps have taken a change, and its refusals, at both ends of what the row says. */
  const factsOf: Readonly<Record<LineRow['changes'], readonly (readonly [number, number])[]>> = {
    'taken by at most two sweeps': [
      [0, 0],
      [2, 0],
    ],
    'taken by three sweeps or more': [
      [3, 0],
      [9, 0],
    ],
    'refused by the monitor': [
      [0, 1],
      [9, 9],
    ],
  }
  /** The sizes of the pushes of eleven such changes if a batch has four. */
  const sizesOf: Readonly<Record<LineRow['together'], readonly number[]>> = {
    'a batch': [4, 4, 3],
    'one, then twice as many with each success': [1, 2, 4, 4],
    one: Array(11).fill(1),
  }

  test.each(lines.flatMap(row => factsOf[row.changes].map(facts => [row.line, ...facts, row] as const)))(
    'has the line "%s" for changes that were taken %i times and refused %i times',
    async (line, sweeps, refusals, row) => {
      const { outbox, sweep, monitor } = open(manyDomains(11), () => 0, 4)
      for (let taken = 0; taken < sweeps; taken += 1) {
        const all = inOrder.map(line => ({ line, limit: 11 }))
        expect(await outbox.take({ lines: all, lease: 0, lot: 0 })).toHaveLength(11)
      }
      const changes = await outbox.list(undefined, 11)
      await outbox.postpone(changes.map(change => ({ change, wait: 0, refusals })))
      const found = await outbox.list(undefined, 11)
      expect(new Set(found.map(change => change.line))).toEqual(new Set([line]))
      expect(await sweep()).toEqual(done(11))
      expect(monitor.pushes.map(({ length }) => length)).toEqual(sizesOf[row.together])
    },
  )

  test('lets a lot decide which line is first, and keeps the order of the others', () => {
    expect([0, 0.4, 0.99].map(lot => drawFirst(() => lot))).toEqual([
      ['new', 'failed', 'refused'],
      ['failed', 'new', 'refused'],
      ['refused', 'new', 'failed'],
    ])
  })

  test('is the table in the documentation', () => {
    const page = readFileSync(new URL(`../../docs/monitoring.md`, import.meta.url), 'utf8')
    for (const { line, changes, together } of lines) expect(page).toContain(`| ${line} | ${changes} | ${together} |`)
  })
})

describe('a push that hangs', () => {
  test('because of one change is aborted at its time limit, and the other changes are delivered', async () => {
    const { monitor, sweep, told } = open(['a.com', 'hangs.com', 'c.com'])
    const reasons: unknown[] = []
    const { push } = monitor
    monitor.push = (changes, context) => {
      if (!changes.some(({ domain }) => domain === 'hangs.com')) return push(changes, context)
      context.signal.addEventListener('abort', () => reasons.push(context.signal.reason))
      return new Promise(() => {})
    }
    const sweeping = sweep()
    await pass(2 * TIME_LIMIT)
    expect(await sweeping).toEqual(done(2, 1))
    const late = (milliseconds: number) =>
      expect.objectContaining({
        name: 'TimeLimitError',
        message: `The push did not end within its time limit of ${milliseconds} ms`,
      })
    expect(told).toEqual([[late(TIME_LIMIT / 2), 'hangs.com']])
    expect(reasons).toEqual([late(TIME_LIMIT), late(TIME_LIMIT / 2)])
    expect(monitor.pushes).not.toContainEqual([])
  })

  test('makes the sweep end before its lease expires if most other pushes hang, too', async () => {
    const { monitor, sweep, told, waits } = open(manyDomains(40))
    let pushes = 0
    monitor.push = () => (++pushes === 2 ? undefined : new Promise(() => {}))
    const sweeping = sweep()
    await pass(2 * TIME_LIMIT)
    const { synchronized, failed } = await sweeping
    expect([synchronized, failed]).toEqual([10, 30])
    const untried = Object.values(await waits()).filter(([, refusals]) => refusals === 0)
    expect(untried.length).toBeGreaterThan(20)
    expect(told.filter(([, domain]) => domain === undefined)).toHaveLength(1)
  })
})

describe('a sweep that is stopped', () => {
  test('aborts its push, reports no refusal, and leaves everything due for the next sweep', async () => {
    const { monitor, sweep, told, waits } = open(manyDomains(10))
    const { push } = monitor
    const stopping = new AbortController()
    let signal: AbortSignal | undefined
    monitor.push = (_, context) => {
      signal = context.signal
      return new Promise(() => {})
    }
    const sweeping = sweep(1000, stopping.signal)
    await pass(10)
    stopping.abort(new Error('bye'))
    expect(await sweeping).toEqual(done(0, 10))
    expect(signal?.reason).toEqual(new Error('bye'))
    expect(told).toEqual([])
    expect(Object.values(await waits())).toEqual(Array(10).fill([0, 0]))
    monitor.push = push
    expect(await sweep()).toEqual(done(10))
  })

  test('counts only the refusals from before it was stopped', async () => {
    const { monitor, sweep, waits } = open(['a.com', 'b.com'])
    const stopping = new AbortController()
    monitor.push = changes => {
      if (changes.some(({ domain }) => domain === 'a.com')) throw new Error('no')
      queueMicrotask(() => stopping.abort(new Error('bye')))
      return new Promise(() => {})
    }
    expect(await sweep(1000, stopping.signal)).toEqual(done(0, 2))
    expect(await waits()).toMatchObject({ 'a.com': [expect.any(Number), 1], 'b.com': [0, 0] })
  })

  test('leases nothing if it was stopped before it began', async () => {
    const { monitor, sweep } = open(['a.com'])
    expect(await sweep(1000, AbortSignal.abort())).toEqual(done(0))
    expect(monitor.pushes).toEqual([])
    expect(await sweep()).toEqual(done(1))
  })
})

describe('the push of a call', () => {
  test("rejects with the monitor's error if one change is refused, and delivers the others", async () => {
    const { monitor, synchronizer, report, told, outbox } = open(['a.com', 'bad.com', 'c.com'])
    monitor.refused.add('bad.com')
    const registrations = ['a.com', 'bad.com', 'c.com'].map(toRegistration)
    await expect(synchronizer.synchronize(registrations, performance.now(), report)).rejects.toThrow('no bad.com')
    expect(told).toEqual([[new Error('no bad.com'), 'bad.com']])
    expect(toDomains(await outbox.list(undefined, 10))).toEqual(['bad.com'])
  })

  test('counts as one refusal however often the call is repeated, so an outage lengthens no wait', async () => {
    const { monitor, synchronizer, sweep, add, report, waits } = open(['a.com'])
    monitor.isAway = true
    for (let calls = 0; calls < 12; calls += 1)
      await synchronizer.synchronize([toRegistration('a.com')], performance.now(), report).catch(() => {})
    expect(await waits()).toEqual({ 'a.com': [SOON, 1] })
    await pass(SOON)
    monitor.isAway = false
    monitor.refused.add('a.com')
    add('good.com')
    expect(await sweep()).toEqual(done(1, 1))
    expect(await waits()).toEqual({ 'a.com': [2 * SOON, 2] })
    await synchronizer.synchronize([toRegistration('a.com')], performance.now(), report).catch(() => {})
    expect(await waits()).toEqual({ 'a.com': [SOON, 2] })
  })

  test('rejects while the monitor is unavailable, and does not call onError', async () => {
    const { monitor, synchronizer, report, told } = open(['a.com'])
    monitor.isAway = true
    await expect(synchronizer.synchronize([toRegistration('a.com')], performance.now(), report)).rejects.toThrow(
      'unavailable',
    )
    expect(told).toEqual([])
  })
})

test.each([
  [
    'without a password in a URL',
    new TypeError('https://user:secret@monitor.example refused'),
    'TypeError: https://monitor.example refused',
  ],
  ['unchanged if it is a string', 'away', 'away'],
  ['without control characters', new Error('no\r\n\u001b[31m\u202esuch\u2066 name'), 'Error: no [31m such  name'],
  [
    'with its causes and their codes',
    new Error('unreachable', {
      cause: Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
    }),
    'Error: unreachable; cause: Error: certificate has expired (CERT_HAS_EXPIRED)',
  ],
  ['as "undefined" if it is undefined', undefined, 'undefined'],
  ['shortened to 255 characters', new Error('x'.repeat(1000)), `Error: ${'x'.repeat(248)}`],
])('the error of a failed push is stored %s', async (_, cause, expected) => {
  const { monitor, sweep, outbox } = open(['a.com'])
  monitor.push = () => Promise.reject(cause)
  await sweep()
  expect((await outbox.list(undefined, 1))[0]?.lastFailure).toBe(expected)
})

test('a change in memory counts as due if its due time is implausibly late, because a clock was set back', async () => {
  const { outbox, sweep } = open()
  outbox.add(toRegistration('a.com'), 'registered', HOUR + LEASE)
  outbox.add(toRegistration('b.com'), 'registered', HOUR + LEASE + 1)
  expect(await sweep()).toEqual(done(1))
  expect(toDomains(await outbox.list(undefined, 10))).toEqual(['a.com'])
})

test('a change in memory that is long overdue is pushed by only one of two simultaneous sweeps', async () => {
  const { monitor, sweep } = open(['a.com'])
  await pass(2 * LEASE)
  const { push } = monitor
  monitor.push = async (...call) => {
    await new Promise(resolve => setTimeout(resolve, 10))
    return push(...call)
  }
  const sweeps = [sweep(), sweep()]
  await pass(10)
  expect(await Promise.all(sweeps)).toEqual([done(1), done(0)])
})

test('while a call may still push its registrations, no sweep pushes them or their releases', async () => {
  const store = createMemoryStore({ synchronize() {}, synchronizeTimeLimit: TIME_LIMIT })
  await save(store, '1', ['a.com', 'b.com'])
  await store.release('1', ['b.com'])
  // A call may push for up to twice the time limit of a push.
  await pass(2 * TIME_LIMIT)
  expect(await store.synchronizePending()).toEqual(done(0))
  await pass(TIME_LIMIT)
  expect(await store.synchronizePending()).toEqual(done(2))
})

test.each<[string, (store: MemoryStore, registrations: readonly Registration[]) => Promise<unknown>]>([
  ['the call was sent again and delivered it', async (store, registrations) => store.synchronize?.(registrations)],
  ['`settlePending` has ended it', (store, [{ domainId = '' } = {}]) => store.settlePending({ domainIds: [domainId] })],
])('a push of a registration that is under way may arrive after the release if %s', async (_, deliver) => {
  const arrived: string[] = []
  const late = createGate()
  let isFirst = true
  const store = createMemoryStore({
    async synchronize(changes) {
      const isLate = isFirst
      isFirst = false
      if (isLate) await late.opened
      arrived.push(...changes.map(({ kind }) => (isLate ? `late ${kind}` : kind)))
    },
  })
  const registrations = await save(store, '1', ['a.com'])
  const pushing = store.synchronize?.(registrations)
  await deliver(store, registrations)
  await store.release('1', ['a.com'])
  await store.synchronizePending()
  late.open()
  await pushing
  expect(arrived.slice(-2)).toEqual(['released', 'late registered'])
  expect(await store.countPending()).toBe(0)
})

test('at most `maxPushes` calls push at once, and the others wait, but no longer than their lease', async () => {
  const outbox = createMemoryOutbox()
  let running = 0
  let most = 0
  let hangs = false
  const push: Push = async () => {
    most = Math.max(most, ++running)
    await (hangs ? new Promise(() => {}) : new Promise(resolve => setTimeout(resolve, 10)))
    running -= 1
  }
  const { synchronize } = createSynchronizer({ push, timeLimit: TIME_LIMIT, maxPushes: 3 }, outbox)
  const call = (domain: string) => synchronize([toRegistration(domain)], performance.now(), () => {})
  const calls = manyDomains(300).map(call)
  await pass(1_200)
  await Promise.all(calls)
  expect(most).toBe(3)
  hangs = true
  const hanging = manyDomains(3).map(call)
  const late = synchronize([toRegistration('late.com')], performance.now() - 70_000, () => {})
  const outcomes = Promise.allSettled([...hanging, late])
  await pass(2 * TIME_LIMIT - 40_000)
  await expect(late).rejects.toThrow('no time to push')
  await pass(2 * TIME_LIMIT)
  expect((await outcomes).map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
})

test('with the longest time limit, which no timer can wait twice, `maxPushes` holds too', async () => {
  let running = 0
  let most = 0
  const push: Push = async () => {
    most = Math.max(most, ++running)
    await new Promise(resolve => setTimeout(resolve, 10))
    running -= 1
  }
  const { synchronize } = createSynchronizer({ push, timeLimit: 2_147_483_647, maxPushes: 1 }, createMemoryOutbox())
  const call = (domain: string) => synchronize([toRegistration(domain)], performance.now(), () => {})
  const calls = manyDomains(3).map(call)
  await pass(100)
  await Promise.all(calls)
  expect(most).toBe(1)
})

test('a process that is frozen between lease and push pushes nothing when it continues', async () => {
  const push = vi.fn()
  const store = createMemoryStore({ synchronize: push, synchronizeTimeLimit: TIME_LIMIT, onError() {} })
  const saved = await save(store, '1', ['a.com'])
  await pass(LEASE)
  await expect(store.synchronize?.(saved)).rejects.toThrow('no time to push')
  expect(push).not.toHaveBeenCalled()
  await pass(LEASE)
  const { outbox, sweep, monitor } = open(['b.com'])
  const { take } = outbox
  outbox.take = async (...parameters) => {
    const taken = await take(...parameters)
    vi.setSystemTime(Date.now() + LEASE)
    await pass(LEASE)
    return taken
  }
  expect(await sweep()).toEqual(done(0, 1))
  expect(monitor.pushes).toEqual([])
})

test('a failure that the database cannot store is saved in ASCII', async () => {
  const { outbox, sweep, monitor } = open(['a.com'])
  monitor.isAway = true
  monitor.failure = new Error('it can’t')
  const { postpone } = outbox
  outbox.postpone = async postponements => {
    if (postponements.some(({ failure }) => failure?.includes('’'))) throw new Error('untranslatable character')
    return postpone(postponements)
  }
  await sweep()
  expect(await outbox.list(undefined, 1)).toMatchObject([{ lastFailure: 'Error: it can?t', refusals: 1 }])
})
