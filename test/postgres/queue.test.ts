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
  const joins = new Map<string, () => readonly Call<string>[]>()
  const queue = createQueue<string>((calls, limits, join) => {
    const names = calls.map(({ work }) => work)
    begun.push(names.join('+'))
    times.push(limits.deadline.remaining())
    patience.push(Math.round(limits.patience))
    joins.set(names.join('+'), join)
    return new Promise((resolve, reject) => running.set(names.join('+'), { resolve, reject }))
  })
  const settle = (name: string) => {
    const transaction = running.get(name)
    if (!transaction) throw new Error(`${name} has not begun`)
    running.delete(name)
    return transaction
  }
  function call(work: string, locks: readonly string[], options: Options = {}) {
    // Their transactions take no time, so they wait for locks for 10 ms at first.
    const deadline = { ...createDeadline(10_000), remaining: () => 10_000 }
    const running = queue.run({ teamId: '1', locks, deadline, names: 1, size: 1, work, ...options })
    running.catch(() => {})
    return running
  }
  return {
    begun,
    times,
    patience,
    queue,
    call,
    /** Tells that a transaction has its locks. Returns the calls that join. */
    join: (name: string) =>
      joins
        .get(name)?.()
        .map(({ work }) => work),
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

  test('of a team wait for ten calls of another at most, and share their transaction with two of them', async () => {
    const { begun, call, join, end } = createCalls()
    void call('elsewhere', ['b.com'], { teamId: '3' })
    for (let each = 1; each <= 60; each += 1) void call(`f${each}`, ['a.com'])
    await soon()
    expect(join('f1')).toHaveLength(9)
    void call('register', ['a.com'], { teamId: '2' })
    await end('f1')
    expect(begun.slice(2)).toEqual(['register+f11+f12'])
    expect(join('register+f11+f12')).toEqual([])
    await end('register+f11+f12')
    expect(begun.slice(3)).toEqual(['f13+f14+f15+f16+f17+f18+f19+f20+f21+f22'])
    void call('delete', ['a.com'], { ...alone, teamId: '2' })
    await end(begun[3] as string)
    expect(begun.slice(4)).toEqual(['delete'])
  })

  test('of a team wait for twenty of its own while no other team has calls', async () => {
    const { call, join, end, begun } = createCalls()
    for (let each = 1; each <= 41; each += 1) void call(`f${each}`, ['a.com'])
    await soon()
    expect(join('f1')).toHaveLength(19)
    await end('f1')
    expect(begun[1]?.split('+')).toHaveLength(20)
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
  ])(
    'go again alone, two at once, with half of their time or more, if their shared transaction %s',
    async (_, error) => {
      const { begun, times, patience, call, fail, end, occupy } = createCalls()
      await occupy()
      for (const name of ['1', '2', '3', '4']) void call(name, [`${name}.org`])
      await end('A')
      expect(times[0]).toBeLessThanOrEqual(5000)
      expect(patience).toEqual([10])
      await fail('1+2+3+4', error)
      await end('B', 'C')
      expect(begun.slice(1)).toEqual(['1', '2'])
      await end('1', '2')
      expect(begun.slice(1)).toEqual(['1', '2', '3', '4'])
      for (const time of times.slice(1)) expect(time).toBeGreaterThan(5000)
    },
  )

  test('that time out after a wait in vain for a lock have it as the cause', async () => {
    const { call, fail } = createCalls()
    const isLocked = { code: '55P03' }
    const inTransaction = rejection(call('1', ['1.org'], alone))
    await soon()
    await fail('1', isLocked)
    await fail('1', new TimeLimitError('slow'))
    expect(await inTransaction).toMatchObject({ message: 'slow', cause: isLocked })
    for (const name of ['2', '3', '4']) void call(name, [`${name}.org`], alone)
    const inLine = rejection(call('5', ['5.org'], { ...alone, deadline: createDeadline(50) }))
    await soon()
    for (const name of ['2', '3', '4', '5']) await fail(name, isLocked)
    expect(await inLine).toMatchObject({ name: 'TimeLimitError', cause: isLocked })
  })

  test('that time out after the failure of another call do not have it as the cause', async () => {
    const { call, end, fail, occupy } = createCalls()
    await occupy()
    const calls = ['1', '2'].map(name => rejection(call(name, [`${name}.org`])))
    await end('A')
    await fail('1+2', new Error('of the other'))
    await end('B')
    await fail('1', new Error('of the other'))
    await fail('2', new TimeLimitError('slow'))
    expect(await calls[1]).toEqual(expect.not.objectContaining({ cause: expect.anything() }))
    expect(await calls[1]).toMatchObject({ message: 'slow' })
  })

  test('with little time left have a transaction of their own', async () => {
    const { begun, call, end, occupy } = createCalls()
    await occupy()
    void call('late', ['a.com'], { deadline: createDeadline(900, 10_000) })
    void call('early', ['b.com'])
    await end('A', 'B')
    expect(begun).toEqual(['late', 'early'])
  })

  test('that wait for locks of others go again beside the six, three at once, ever longer; others pass', async () => {
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
    await end('2', '3', '4')
    for (let times = 0; times < 3; times += 1) await fail('1', isLocked)
    expect(begun.slice(13)).toEqual(['4', '1', '1', '1', '1'])
    expect(patience.filter((_, index) => index < 7 || index > 12)).toEqual([
      ...[10, 10, 10, 10, 40, 40, 40],
      ...[40, 80, 160, 160, 160],
    ])
  })

  test('cost those that wait nothing: each looks at its domains as often, whether 10 or 400 wait', async () => {
    async function countLooks(waiting: number, toLocks: (call: number) => string[]): Promise<number> {
      let looks = 0
      const get = (locks: string[], key: string) => {
        looks += Number(typeof key === 'string' && /^\d+$/.test(key))
        return Reflect.get(locks, key)
      }
      const queue = createQueue<string>(async () => {
        await soon()
        return []
      })
      const calls = Array.from({ length: waiting }, (_, call) => {
        const locks = new Proxy(toLocks(call), { get: get as never })
        return queue.run({ teamId: '1', locks, deadline: createDeadline(60_000), names: 1, ...alone, work: '' })
      })
      await Promise.all(calls)
      return looks / waiting
    }
    const domains = Array.from({ length: 20 }, (_, index) => `${index}.com`)
    const toLocks = [(call: number) => domains.map(domain => `${call}-${domain}`), () => domains]
    for (const each of toLocks) expect((await countLooks(400, each)) / (await countLooks(10, each))).toBeLessThan(1.3)
  })

  test.each([
    [20, 40],
    [500, 100],
  ])('whose transactions take %s ms wait for locks for about %s ms at first', async (milliseconds, expected) => {
    let time = 100_000
    const waited: number[] = []
    const queue = createQueue<number>(async ([call], { patience }) => {
      waited.push(patience)
      if (call?.work === waited.length - 1) throw Object.assign(new Error(), { code: '55P03' })
      time -= milliseconds
      return []
    })
    const deadline: Deadline = { ...createDeadline(100_000), remaining: () => time }
    const run = (work: number) => queue.run({ teamId: '1', locks: ['a.com'], deadline, names: 1, ...alone, work })
    for (let times = 0; times < 40; times += 1) await run(-1)
    await run(40)
    const [first, inLane] = waited.slice(-2) as [number, number]
    expect(first / expected).toBeCloseTo(1, 0)
    expect(inLane / first).toBeCloseTo(4, 0)
  })

  test('that wait for a lock of others go again with all calls for the same domains, and with no others', async () => {
    const { begun, call, end, fail, occupy } = createCalls()
    await occupy()
    const answers = ['1', '2'].map(name => call(name, ['a.com']))
    await end('A')
    void call('3', ['a.com'])
    void call('else', ['b.com'])
    await fail('1+2', { code: '55P03' })
    void call('4', ['a.com'])
    await soon()
    expect(begun).toEqual(['1+2', '1+2+3', 'else'])
    await fail('1+2+3', { code: '55P03' })
    await end('1+2+3+4')
    expect(await Promise.all(answers)).toEqual(['result of 1', 'result of 2'])
  })

  test('that share other domains with calls that wait for a lock of others pass them', async () => {
    const { begun, call, end, fail } = createCalls()
    void call('both', ['a.com', 'b.com'])
    await soon()
    await fail('both', { code: '55P03' })
    void call('b', ['b.com'])
    await soon()
    expect(begun).toEqual(['both', 'both'])
    await fail('both', { code: '55P03' })
    expect(begun.slice(2)).toEqual(['b'])
    await end('b')
    expect(begun.slice(3)).toEqual(['both'])
  })

  test('that have waited twice for locks of others leave a place to calls that have not', async () => {
    const { begun, call, fail } = createCalls()
    const isLocked = { code: '55P03' }
    for (const name of ['1', '2', '3']) void call(name, [`${name}.org`], alone)
    await soon()
    for (const name of ['1', '2', '3', '1', '2', '3']) await fail(name, isLocked)
    begun.length = 0
    void call('new', ['new.org'], alone)
    await soon()
    await fail('new', isLocked)
    expect(begun).toEqual(['new', 'new'])
    await fail('1', isLocked)
    expect(begun).toEqual(['new', 'new', '3'])
  })

  test('that wait for locks of others get their turn, however many another team makes', async () => {
    const { begun, call, fail, end } = createCalls()
    const isLocked = { code: '55P03' }
    const flood = Array.from({ length: 20 }, (_, index) => `flood${index}`)
    for (const name of flood) void call(name, [`${name}.org`], alone)
    await soon()
    for (const name of flood) await fail(name, isLocked)
    void call('victim', ['victim.org'], { ...alone, teamId: '2' })
    await soon()
    await fail('victim', isLocked)
    begun.length = 0
    await end('flood0')
    await end('flood1')
    expect(begun).toEqual(['flood3', 'victim'])
  })

  test('wait for a lock of another until their time is over, and then fail with it', async () => {
    const { begun, patience, call, fail } = createCalls()
    const deadline: Deadline = { ...createDeadline(10_000), remaining: () => 470 }
    const waiting = rejection(call('1', ['1.org'], { deadline }))
    for (let times = 0; times < 4; times += 1) {
      await soon()
      await fail('1', { code: '55P03' })
    }
    expect(await waiting).toEqual({ code: '55P03' })
    expect([begun, patience]).toEqual([Array(4).fill('1'), [10, 40, 80, 470]])
  })

  test('without domains wait for locks as long as they have time, and then fail', async () => {
    const { begun, patience, call, fail } = createCalls()
    const answer = rejection(call('read', [], alone))
    await soon()
    await fail('read', { code: '55P03' })
    expect(await answer).toEqual({ code: '55P03' })
    expect([begun, patience]).toEqual([['read'], [10_000]])
  })

  test.each([
    ['has waited as long as for a lock go again', 10, ['1', '1']],
    ['has not waited so long fail', 9, ['1']],
    ['has reached the limit of the server fail', 9_000, ['1']],
  ])('whose transaction is cancelled when it %s', async (_, elapsed, expected) => {
    let time = 10_000
    const deadline: Deadline = { ...createDeadline(10_000), remaining: () => time }
    const { begun, call, fail, end } = createCalls()
    const answer = call('1', ['1.org'], { deadline }).catch((error: unknown) => error)
    await soon()
    time -= elapsed
    await fail('1', { code: '57014' })
    expect(begun).toEqual(expected)
    if (expected.length > 1) await end('1')
    expect(await answer).toEqual(expected.length > 1 ? 'result of 1' : { code: '57014' })
  })

  test('for the same domains join a transaction that has its locks, as long as it has room', async () => {
    const { begun, call, join, end, fail } = createCalls()
    const answers = ['1', '2'].map(name => call(name, ['a.com']))
    void call('two domains', ['a.com', 'b.com'], alone)
    answers.push(call('3', ['a.com']))
    await soon()
    expect(join('1')).toEqual(['2'])
    await fail('1', new Error('one of two'))
    expect(join('1')).toEqual([])
    await end('1')
    await end('2')
    await end('two domains')
    answers.push(call('4', ['a.com'], { size: 19 }), call('5', ['a.com']))
    expect(join('3')).toEqual(['4'])
    expect(join('3')).toEqual([])
    await fail('3', { code: '55P03' })
    expect(begun).toEqual(['1', '1', '2', 'two domains', '3', '3+4'])
    await end('3+4')
    await end('5')
    expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4', '5'].map(name => `result of ${name}`))
  })

  test('of a team beyond 10,000 names fail at once, and those of other teams do not', async () => {
    const { queue, begun, call, end } = createCalls()
    const waiting = [call('1', ['a.com'], { ...alone, names: 9_999 }), call('2', ['a.com'], { ...alone, names: 100 })]
    await expect(call('3', ['a.com'])).rejects.toThrow('10000 names of one team wait for the database already')
    waiting.push(call('4', ['a.com'], { ...alone, teamId: '2' }))
    expect(queue.length).toBe(10_100)
    await end('1')
    waiting.push(call('5', ['a.com'], alone))
    for (const name of ['4', '2', '5']) await end(name)
    await Promise.all(waiting)
    expect([begun, queue.length]).toEqual([['1', '4', '2', '5'], 0])
  })

  test('get their results over several turns of the event loop', async () => {
    const { call, end, occupy } = createCalls()
    await occupy()
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`)
    let answered = 0
    const answers = names.map((name, index) => {
      const options = { teamId: String(index % 2) }
      return call(name, [`${name}.org`], options).then(() => (answered += 1))
    })
    await end('A')
    void end(names.join('+'))
    for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
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
        queue.run({ teamId: name, locks: ['a.com'], deadline: createDeadline(1000), names: 1, ...alone, work: name }),
      )
    await Promise.all(['1', '2', '3'].map(call))
    expect(seen).toEqual(['1', '2', '3'])
  })

  test(`all get their turn, whichever domains they share, with SEED=${seed}`, async () => {
    const random = createRandom(seed)
    const running = new Set<string>()
    let transactions = 0
    const domains = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com', 'f.com']
    const queue = createQueue<number>(async (calls, _, join) => {
      const locks = new Set(calls.flatMap(call => call.locks))
      for (const lock of locks) expect(running).not.toContain(lock)
      for (const lock of locks) running.add(lock)
      transactions += 1
      expect(transactions).toBeLessThanOrEqual(9)
      for (let turn = random.integer(0, 3); turn > 0; turn -= 1) await soon()
      for (const lock of locks) running.delete(lock)
      for (const call of join()) expect([...locks].sort()).toEqual(call.locks)
      transactions -= 1
      if (locks.size > 0 && random.chance(0.1)) throw Object.assign(new Error('locked'), { code: '55P03' })
      const isAtFault = (work: number) => work % 17 === 0
      if (calls.some(({ work }) => isAtFault(work))) throw new Error(calls.map(({ work }) => work).join())
      return calls.map(({ work }) => work)
    })
    const run = (work: number, locks: readonly string[], milliseconds: number) => {
      const size = random.chance(0.2) ? Number.POSITIVE_INFINITY : random.integer(1, 20)
      const teamId = String(random.integer(1, 5))
      return queue.run({ teamId, locks, names: 1, size, work, deadline: createDeadline(milliseconds) })
    }
    const work = Array.from({ length: counts.races * 10 }, async (_, number) => {
      const locks = domains.filter(() => random.chance(0.3))
      const isHasty = random.chance(0.3)
      const running = run(number, locks, isHasty ? random.integer(1, 300) : 600_000)
      if (isHasty) await running.catch(() => {})
      else if (number % 17 === 0) expect(await rejection(running)).toMatchObject({ message: String(number) })
      else expect(await running).toBe(number)
    })
    await Promise.all(work)
    expect(queue.length).toBe(0)
    expect(await run(1, domains, 600_000)).toBe(1)
  })
})
