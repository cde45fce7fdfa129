import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDnsVerification, type ResolveTxt } from '../../src/dns-verification/index.ts'
import { createQueryTurns } from '../../src/dns-verification/turns.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'

/** Places, and what has become of each query: `''` waits, a function has a place, `null` was turned away. */
function createTurns(most: number) {
  const turns = createQueryTurns(most)
  const order: string[] = []
  const enter = (teamId: string, count = 1) =>
    Array.from({ length: count }, () => {
      const query: { leave?: (() => void) | null; stopWaiting: () => void } = { stopWaiting() {} }
      query.stopWaiting = turns.enter(teamId, leave => {
        query.leave = leave
        if (leave) order.push(teamId)
      })
      return query
    })
  return { order, enter, running: () => order.length }
}

describe('places for queries', () => {
  test('a team alone has half of them, the next one half of the rest, and a hundredth team still one', () => {
    const { enter, order } = createTurns(100)
    for (const teamId of ['1', '2', '3', '4', '5', '6']) enter(teamId, 1000)
    const counts = ['1', '2', '3', '4', '5', '6'].map(teamId => order.filter(each => each === teamId).length)
    expect(counts).toEqual([50, 25, 13, 6, 3, 2])
    enter('neighbour')
    expect(order.at(-1)).toBe('neighbour')
  })

  test.each([1, 2, 3])('%i places are all used by some teams, and never more', most => {
    const { enter, running } = createTurns(most)
    for (let team = 0; team < 10; team += 1) enter(`${team}`, 5)
    expect(running()).toBe(most)
  })

  test('teams that wait get free places in turn, whoever has more queries', () => {
    const { enter, order } = createTurns(2)
    const [first] = enter('1')
    const [second] = enter('2')
    enter('1', 1000)
    enter('2', 1000)
    enter('3')
    order.length = 0
    first?.leave?.()
    second?.leave?.()
    expect(order.sort()).toEqual(['1', '2'])
  })

  test('a query that nobody answers keeps its place for ten seconds, and only that long', async () => {
    const { enter, order } = createTurns(2)
    enter('1')
    enter('2')
    enter('3')
    await vi.advanceTimersByTimeAsync(9999)
    expect(order).toEqual(['1', '2'])
    await vi.advanceTimersByTimeAsync(1)
    expect(order).toEqual(['1', '2', '3'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('who stops waiting gets no place, and leaves no timer', async () => {
    const { enter, order } = createTurns(1)
    const [first] = enter('1')
    const [second] = enter('2')
    expect(vi.getTimerCount()).toBe(1)
    second?.stopWaiting()
    expect(vi.getTimerCount()).toBe(0)
    first?.leave?.()
    expect(order).toEqual(['1'])
  })

  test('a place that is given back twice, or late, counts once', async () => {
    const { enter, running } = createTurns(1)
    const [first] = enter('1')
    await vi.advanceTimersByTimeAsync(10_000)
    enter('2')
    first?.leave?.()
    first?.leave?.()
    enter('3')
    expect(running()).toBe(2)
  })

  test('beyond 10,000 waiting queries of a team, the next one is turned away, and another team is not', () => {
    const { enter } = createTurns(2)
    const [, , ...queries] = enter('1', 10_002)
    expect(queries.at(-2)?.leave).toBe(undefined)
    expect(queries.at(-1)?.leave).toBe(null)
    expect(enter('2')[0]?.leave).toBeTypeOf('function')
  })
})

describe('beside ten calls of 100 silent zones', () => {
  const domains = Array.from({ length: 100 }, (_, index) => `d${index}.com`)

  test.each([1, 3, 6])('of %i teams, a proven name of another team is verified at once', async teams => {
    const { record } = createDnsVerification({ label, secret })
    const { name, value } = await record('neighbour', 'proven.org')
    const resolveTxt: ResolveTxt = asked => (asked === name ? [[value]] : new Promise(() => {}))
    const { verify } = createDnsVerification({ label, secret, resolveTxt, onError() {} })
    const calls = Array.from({ length: 10 }, (_, index) =>
      verify(
        `${index % teams}`,
        domains.map(domain => `${index}.${index}${domain}`),
      ),
    )
    for (let second = 0; second < 12; second += 1) {
      expect(await verify('neighbour', ['www.proven.org'])).toMatchObject([{ status: 'verified' }])
      await vi.advanceTimersByTimeAsync(1000)
    }
    await Promise.all(calls)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('what was found a moment ago', () => {
  const create = (resolve: ResolveTxt) => {
    const resolveTxt = vi.fn(resolve)
    return { resolveTxt, ...createDnsVerification({ label, secret, resolveTxt, onError() {} }) }
  }

  test('that there is no record is remembered for ten seconds, for all teams; that there is one is not', async () => {
    let texts: string[][] = []
    const { verify, resolveTxt, record } = create(() => texts)
    await verify('1', ['example.com'])
    const count = resolveTxt.mock.calls.length
    texts = [[(await record('1', 'example.com')).value]]
    await vi.advanceTimersByTimeAsync(9999)
    for (const teamId of ['1', '2']) await verify(teamId, ['example.com'])
    expect(resolveTxt).toHaveBeenCalledTimes(count)
    await vi.advanceTimersByTimeAsync(1)
    for (const times of [1, 2]) {
      expect(await verify('1', ['example.com'])).toMatchObject([{ status: 'verified' }])
      expect(resolveTxt).toHaveBeenCalledTimes(count + times)
    }
  })

  test('that a zone is silent costs one query in half a minute; what was never asked is not remembered', async () => {
    const { verify, resolveTxt } = create(() => new Promise(() => {}))
    const verifySilent = async (signal?: AbortSignal) => {
      const call = verify('1', ['a.example.com'], { signal }).catch(() => null)
      await vi.advanceTimersByTimeAsync(3000)
      return call
    }
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1000)
    await verifySilent(controller.signal)
    for (let time = 0; time < 5; time += 1)
      expect(await verifySilent()).toMatchObject([{ status: 'unreachable', cause: 'ETIMEOUT' }])
    expect(resolveTxt).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(30_000)
    await verifySilent()
    expect(resolveTxt).toHaveBeenCalledTimes(3)
  })
})
