import { describe, expect, test } from 'vitest'
import { type Call, createQueue } from '../../src/postgres/queue.ts'
import { createDeadline, type Deadline, TimeLimitError } from '../../src/time/deadline.ts'
import { counts, seed } from '../counts.ts'
import { rejection } from '../fixtures.ts'
import { createRandom } from '../random.ts'

const soon = () => new Promise(resolve => setImmediate(resolve))

type Options = Partial<Omit<Call<string>, 'work'>>

const alone = { size: Number.POSITIVE_INFINITY }

/** Makes calls whose transactions end only on command, and lists the transactions that have begun. */
function createCalls() {
  const begun: string[] = []
  const times: number[] = []
  const patience: number[] = []
  const running = new Map<string, { resolve(results: readonly string[]): void; reject(error: unknown): void }>()
  const queue = createQueue<string>((calls, deadline, milliseconds) => {
    const names = calls.map(({ work }) => work)
    begun.push(names.join('+'))
    times.push(deadline.remaining())
    patience.push(milliseconds)
    return new Promise((resolve, reject) => running.set(names.join('+'), { resolve, reject }))
  })
  const settle = (name: string) => {
    const transaction = running.get(name)
    if (!transaction) throw new Error(`${name} has not begun`)
    running.delete(name)
    return transaction
  }
  function call(work: string, locks: readonly string[], options: Options = {}) {
    const running = queue.run({ teamId: '1', locks, deadline: createDeadline(10_000), size: 1, work, ...options })
    running.catch(() => {})
    return running
  }
  return {
    begun,
    times,
    patience,
    call,
    async end(...names: readonly string[]) {
      for (const name of names) settle(name).resolve(name.split('+').map(each => `result of ${each}`))
      await soon()
    },
    async fail(name: string, error: unknown) {
      settle(name).reject(error)
      await soon()
    },
    /** Occupies all transactions: A, B and C with small calls, D, E and F with large ones. */
    async occupy() {
      for (const name of ['A', 'B', 'C']) void call(name, [`${name}.com`], { teamId: 'busy' })
      for (const name of ['D', 'E', 'F']) void call(name, [`${name}.com`], { teamId: 'busy', ...alone })
      await soon()
      for (const seen of [begun, times, patience]) seen.length = 0
    },
  }
}

describe('calls', () => {
  test('for the same registrable domain run one after another, and hold up no other call', async () => {
    const { begun, call, end } = createCalls()
    for (const name of ['1', '2', '3']) void call(name, ['a.com'], alone)
    void call('elsewhere', ['b.com'])
    await soon()
    expect(begun).toEqual(['1', 'elsewhere'])
    await end('1')
    await end('2')
    expect(begun).toEqual(['1', 'elsewhere', '2', '3'])
  })

  test('that wait share the next transaction, and each gets its own result', async () => {
    const { begun, call, end, occupy } = createCalls()
    await occupy()
    const answers = ['1', '2', '3'].map(name => call(name, ['a.com', `${name}.com`]))
    await end('A')
    expect(begun).toEqual(['1+2+3'])
    await end('1+2+3')
    expect(await Promise.all(answers)).toEqual(['result of 1', 'result of 2', 'result of 3'])
  })

  test('share a transaction up to 20 lookups, and larger ones have their own', async () => {
    const { begun, call, end, occupy } = createCalls()
    await occupy()
    for (const [name, size] of Object.entries({ x: 12, y: 8, z: 1, large: 21 }))
      void call(name, [`${name}.com`], { size })
    await end('A', 'B')
    expect(begun).toEqual(['x+y', 'z'])
    await end('C')
    expect(begun).toEqual(['x+y', 'z', 'large'])
  })

  test('that are small have three transactions, and the others three more or all six', async () => {
    const { begun, call, end } = createCalls()
    for (const name of ['1', '2', '3', '4', '5']) void call(name, [`${name}.com`])
    for (const name of ['A', 'B', 'C', 'D']) void call(name, [`${name}.com`], alone)
    await soon()
    expect(begun).toEqual(['1', '2', '3', 'A', 'B', 'C'])
    await end('A')
    expect(begun.slice(6)).toEqual(['D'])
    await end('1')
    expect(begun.slice(7)).toEqual(['4+5'])
    for (const name of ['E', 'F', 'G']) void call(name, [`${name}.com`], alone)
    await end('2', '3', '4+5')
    expect(begun.slice(8)).toEqual(['E', 'F', 'G'])
  })

  test('that must be alone wait their turn like others', async () => {
    const { begun, call, end, occupy } = createCalls()
    await occupy()
    void call('alone', ['a.com'], alone)
    void call('next', ['a.com'])
    void call('other', ['b.com'])
    await end('A', 'B')
    expect(begun).toEqual(['alone', 'other'])
    await end('alone')
    expect(begun).toEqual(['alone', 'other', 'next'])
  })

  test('of each team get their turn, however many another team makes', async () => {
    const { begun, call, end, occupy } = createCalls()
    await occupy()
    for (let each = 1; each <= 60; each += 1) void call(`flood${each}`, ['a.com'], alone)
    void call('victim1', ['a.com'], { ...alone, teamId: '2' })
    void call('victim2', ['a.com'], { ...alone, teamId: '2' })
    await end('A')
    for (let ended = 0; ended < 4; ended += 1) await end(begun.at(-1) as string)
    expect(begun).toEqual(['flood1', 'victim1', 'flood2', 'victim2', 'flood3'])
  })

  test('for several domains are not overtaken for ever by calls for one of them', async () => {
    const { begun, call, end } = createCalls()
    void call('a1', ['a.com'])
    void call('b1', ['b.com'])
    void call('both', ['a.com', 'b.com'], { teamId: '2' })
    await end('a1')
    void call('a2', ['a.com'])
    await soon()
    expect(begun).toEqual(['a1', 'b1'])
    await end('b1')
    expect(begun).toEqual(['a1', 'b1', 'both+a2'])
  })

  test('leave the line when they time out, so the calls behind them begin', async () => {
    const { begun, call } = createCalls()
    void call('1', ['b.com'])
    const late = call('late', ['a.com', 'b.com'], { deadline: createDeadline(20) })
    void call('2', ['a.com'])
    await expect(late).rejects.toThrow(TimeLimitError)
    void call('3', ['c.com'])
    await soon()
    expect(begun).toEqual(['1', '2', '3'])
  })

  test('run if their turn comes at the moment at which they time out: their transaction has no time left', async () => {
    const { begun, call, end } = createCalls()
    void call('1', ['a.com'])
    const deadline: Deadline = {
      ...createDeadline(2000),
      wait: async turn => {
        await turn
        throw new TimeLimitError('late')
      },
    }
    void call('2', ['a.com'], { deadline })
    await end('1')
    await end('2')
    void call('3', ['a.com'])
    await soon()
    expect(begun).toEqual(['1', '2', '3'])
  })

  test('go again in order if their transaction fails, half as many together, until one fails alone', async () => {
    const { begun, call, fail, end, occupy } = createCalls()
    await occupy()
    const answers = ['1', '2', '3', '4'].map(name => call(name, [`${name}.org`]).catch((error: Error) => error.message))
    await end('A')
    await fail('1+2+3+4', new Error('one of four'))
    void call('5', ['5.org'])
    await end('B')
    expect(begun).toEqual(['1+2+3+4', '1+2', '3+4'])
    await fail('3+4', new Error('one of two'))
    await end('C')
    expect(begun.slice(3)).toEqual(['3', '4'])
    await fail('4', new Error('the one'))
    expect(begun.slice(5)).toEqual(['5'])
    await end('1+2', '3')
    expect(await Promise.all(answers)).toEqual(['result of 1', 'result of 2', 'result of 3', 'the one'])
  })

  test.each<[string, object]>([
    ['waits for a lock', { code: '55P03' }],
    ['is cancelled', { code: '57014' }],
    ['reaches its time limit', new TimeLimitError('slow')],
  ])('go again alone, with half of their time or more, if their shared transaction %s', async (_, error) => {
    const { begun, times, patience, call, fail, end, occupy } = createCalls()
    await occupy()
    for (const name of ['1', '2', '3', '4']) void call(name, [`${name}.org`])
    await end('A')
    expect(times[0]).toBeLessThanOrEqual(5000)
    expect(patience).toEqual([25])
    await fail('1+2+3+4', error)
    await end('B', 'C', '1')
    expect(begun.slice(1)).toEqual(['1', '2', '3', '4'])
    for (const time of times.slice(1)) expect(time).toBeGreaterThan(5000)
  })

  test('with little time left have a transaction of their own', async () => {
    const { begun, call, end, occupy } = createCalls()
    await occupy()
    void call('late', ['a.com'], { deadline: createDeadline(900, 10_000) })
    void call('early', ['b.com'])
    await end('A', 'B')
    expect(begun).toEqual(['late', 'early'])
  })

  test('that wait for locks of others go again, three at once, each twice as long, and hold up no others', async () => {
    const { begun, patience, call, end, fail } = createCalls()
    const isLocked = { code: '55P03' }
    const names = ['1', '2', '3', '4']
    for (const name of names) void call(name, [`${name}.org`], alone)
    await soon()
    for (const name of names) await fail(name, isLocked)
    expect(begun.slice(4)).toEqual(['1', '2', '3'])
    for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) void call(name, [`${name}.com`], alone)
    await soon()
    expect(begun.slice(7)).toEqual(['A', 'B', 'C', 'D', 'E', 'F'])
    await fail('1', isLocked)
    await fail('2', isLocked)
    await end('3', '4', '1')
    expect(begun.slice(13)).toEqual(['4', '1', '2'])
    expect(patience.filter((_, index) => index < 7 || index > 12)).toEqual([
      ...Array(4).fill(10),
      ...Array(3).fill(20),
      20,
      40,
      40,
    ])
  })

  test('wait for a lock of another until their time is over, and then fail with it', async () => {
    const { begun, patience, call, fail } = createCalls()
    const waiting = rejection(call('1', ['1.org'], { deadline: createDeadline(1000) }))
    for (let times = 0; times < 7; times += 1) {
      await soon()
      await fail('1', { code: '55P03' })
    }
    expect(await waiting).toEqual({ code: '55P03' })
    expect([begun, patience.slice(0, 6)]).toEqual([Array(7).fill('1'), [10, 20, 40, 80, 160, 320]])
    expect(patience[6]).toBeGreaterThan(400)
  })

  test('get their results over several turns of the event loop', async () => {
    const { call, end, occupy } = createCalls()
    await occupy()
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
    let answered = 0
    const answers = names.map(name => call(name, [`${name}.org`]).then(() => (answered += 1)))
    await end('A')
    await end(names.join('+'))
    expect(answered).toBe(10)
    await Promise.all(answers)
  })

  test('begin in their own asynchronous context', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const context = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const queue = createQueue<string>(async () => {
      seen.push(context.getStore())
      await soon()
      return []
    })
    const call = (name: string) =>
      context.run(name, () =>
        queue.run({ teamId: name, locks: ['a.com'], deadline: createDeadline(1000), ...alone, work: name }),
      )
    await Promise.all(['1', '2', '3'].map(call))
    expect(seen).toEqual(['1', '2', '3'])
  })

  test(`all get their turn, whichever domains they share, with SEED=${seed}`, async () => {
    const random = createRandom(seed)
    const running = new Set<string>()
    let transactions = 0
    const domains = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com']
    const queue = createQueue<number>(async calls => {
      const locks = new Set(calls.flatMap(call => call.locks))
      for (const lock of locks) expect(running).not.toContain(lock)
      for (const lock of locks) running.add(lock)
      transactions += 1
      expect(transactions).toBeLessThanOrEqual(9)
      for (let turn = random.integer(0, 3); turn > 0; turn -= 1) await soon()
      for (const lock of locks) running.delete(lock)
      transactions -= 1
      if (random.chance(0.1)) throw Object.assign(new Error('locked'), { code: '55P03' })
      const isAtFault = (work: number) => work % 17 === 0
      if (calls.some(({ work }) => isAtFault(work))) throw new Error(calls.map(({ work }) => work).join())
      return calls.map(({ work }) => work)
    })
    const work = Array.from({ length: counts.races * 10 }, async (_, number) => {
      const locks = domains.filter(() => random.chance(0.3))
      const teamId = String(random.integer(1, 5))
      const size = random.chance(0.2) ? Number.POSITIVE_INFINITY : random.integer(1, 20)
      const running = queue.run({ teamId, locks, size, work: number, deadline: createDeadline(600_000) })
      if (number % 17 === 0) expect(await rejection(running)).toMatchObject({ message: String(number) })
      else expect(await running).toBe(number)
    })
    await Promise.all(work)
  })
})
