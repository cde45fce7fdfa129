import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { takePieces } from '../../src/http/export.ts'
import { createHandler, type HandlerOptions } from '../../src/http/index.ts'
import { type KeyContext, registerDomains } from '../../src/index.ts'
import { createKeys, createStore, organization, rejection, team1 } from '../fixtures.ts'

const scopes = ['domains:read']

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

describe('an export that takes longer than five seconds', () => {
  /** Begins an export of 450 names, and returns a function that reads its next chunk. */
  async function begin(options: Partial<HandlerOptions>, sent: { authorization?: string; team_id?: string } = {}) {
    const store = createStore()
    const domains = Array.from({ length: 450 }, (_, index) => `n${index}.example.com`)
    for (let start = 0; start < 450; start += 100)
      await registerDomains(team1, { domains: domains.slice(start, start + 100) }, store)
    const onError = vi.fn()
    const settings = { store, onError, operations: ['export'], ...options } as HandlerOptions
    const handle = createHandler(settings)
    const header = (name: string) => (name === 'authorization' ? sent.authorization : undefined)
    const readBody = () => expect.fail('An export has no body')
    const { stream } = await handle({ operation: 'export', header, readBody, query: { team_id: sent.team_id } })
    const iterator = stream?.[Symbol.asyncIterator]() as AsyncIterator<string>
    const next = async () => String((await iterator.next()).value)
    expect(await next()).toMatch(/^domain,/)
    expect(await next()).toMatch(/^n0\./)
    return { store, next, onError }
  }
  const wait = (milliseconds: number) => vi.advanceTimersByTime(milliseconds)

  test('is cut off once the caller’s key is revoked, and no failure is reported', async () => {
    const { keys, issue } = createKeys()
    const authorization = `Bearer ${await issue('team', '1', { scopes })}`
    const { next, onError } = await begin({ keys }, { authorization })
    const [record] = keys.listKeys({ type: 'team', ownerId: '1' })
    keys.revokeKey(record?.hash ?? '')
    wait(5000)
    expect(await next()).toMatch(/^n200\./)
    wait(1)
    expect(await rejection(next())).toMatchObject({ status: 401 })
    expect(onError).not.toHaveBeenCalled()
  })

  test.each<[what: string, then: () => KeyContext, status: number]>([
    ['returns another team', () => ({ ...team1, teamId: '2', scopes }), 401],
    ['no longer returns the scope "domains:read"', () => ({ ...team1, scopes: [] }), 403],
  ])('is cut off if authenticate %s', async (_, then, status) => {
    const authenticate = vi.fn<() => KeyContext>(() => ({ ...team1, scopes }))
    const { next, onError } = await begin({ authenticate })
    wait(5001)
    expect(await next()).toMatch(/^n200\./)
    authenticate.mockImplementation(then)
    wait(5001)
    expect(await rejection(next())).toMatchObject({ status })
    expect(authenticate).toHaveBeenCalledTimes(3)
    expect(onError).not.toHaveBeenCalled()
  })

  test('is cut off if the key store fails, and the failure is reported', async () => {
    const { keys, issue } = createKeys()
    const authorization = `Bearer ${await issue('team', '1', { scopes })}`
    const findKey = vi.spyOn(keys, 'findKey')
    const { next, onError } = await begin({ keys }, { authorization })
    findKey.mockImplementation(() => {
      throw new Error('down')
    })
    wait(5001)
    expect(await rejection(next())).toMatchObject({ status: 500 })
    expect(onError.mock.calls).toMatchObject([[{ message: 'down' }, { step: 'authenticate' }]])
  })

  test('continues even if the team is suspended', async () => {
    const { store, next } = await begin({ authenticate: () => ({ ...organization, scopes }) }, { team_id: '1' })
    store.addTeam({ id: '1', organizationId: '10', state: 'suspended' })
    wait(5001)
    expect(await next()).toMatch(/^n200\./)
    wait(5001)
    expect(await next()).toMatch(/^n400\./)
    expect(await next()).toBe('undefined')
  })
})

test('an export that ends while a page is being read starts no timer', async () => {
  vi.useFakeTimers()
  try {
    let readPage = (_: IteratorResult<string>) => {}
    const pieces = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise<IteratorResult<string>>(resolve => {
            readPage = resolve
          }),
        return: async () => ({ done: true as const, value: undefined }),
      }),
    }
    const { next, end } = takePieces(pieces, 1000, () => {})
    const reading = next()
    await end()
    readPage({ done: false, value: 'a.com' })
    await reading
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
