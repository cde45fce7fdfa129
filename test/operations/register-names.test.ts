import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { registerNames } from '../../src/operations/register-names.ts'
import type { Name } from '../../src/rules/name.ts'
import type { LookUpResult, Registration } from '../../src/rules/registration.ts'
import type { DomainStore, RegistrationRequest } from '../../src/store/contract.ts'
import { createDeadline } from '../../src/time/deadline.ts'
import { createStore } from '../fixtures.ts'

const toName = (domain: string): Name => ({ domain, registrableDomain: domain.split('.').slice(-2).join('.') })
const hundred = Array.from({ length: 100 }, (_, index) => toName(`www.n${index}.com`))

type Tampering = (
  request: RegistrationRequest,
  register: DomainStore['register'],
) => ReturnType<DomainStore['register']>

/** Registers through a store whose `register` is modified, and reports what happened. */
async function registerThrough(tamper: Tampering, names: readonly Name[], timeLimit = 30_000) {
  const store = createStore()
  const register = vi.fn((request: RegistrationRequest) => tamper(request, store.register))
  const registrar = { store: { ...store, register }, teamId: '1', deadline: createDeadline(timeLimit) }
  const { outcomes, causes } = await registerNames(registrar, names)
  const summary = outcomes.map(outcome => (outcome.status === 'invalid' ? outcome.code : outcome.status))
  return { summary, outcomes, calls: register.mock.calls.length, causes, store }
}

const holds = ({ domains }: RegistrationRequest, domain: string) => domains.includes(domain)

test('the store gets the names in the order of the call', async () => {
  const names = ['a.one.com', 'b.two.com', 'c.one.com'].map(toName)
  const { calls, store } = await registerThrough((request, register) => register(request), names)
  const listed = await store.list?.({ limit: 3 })
  expect(listed?.map(({ domain }) => domain)).toEqual(names.map(({ domain }) => domain))
  expect(calls).toBe(1)
})

test('a store that decides again after a conflict: the results follow the findings that it returns', async () => {
  const { summary } = await registerThrough(async (request, register) => {
    // Another call registers the first name before the second attempt.
    request.decide({ registrations: [], below: [] })
    await register({ ...request, decide: found => request.decide(found).slice(0, 1), willSave: () => {} })
    return register(request)
  }, ['a.com', 'b.com'].map(toName))
  expect(summary).toEqual(['existing', 'created'])
})

describe('if a batch of names fails', () => {
  test('because of one in a hundred names, only that name gets internal_error, after few extra calls', async () => {
    const cause = new Error('poison')
    const { summary, calls, causes } = await registerThrough(async (request, register) => {
      if (holds(request, 'www.n57.com')) throw cause
      return register(request)
    }, hundred)
    expect(summary).toEqual(hundred.map((_, index) => (index === 57 ? 'internal_error' : 'created')))
    expect(calls).toBeLessThanOrEqual(16)
    expect(causes).toEqual([cause])
  })

  const inFourDomains = hundred.map((_, index) => toName(`www${index}.n${index % 4}.com`))
  test.each([
    [100, hundred, 9],
    [4, inFourDomains, 4],
  ])(
    'again and again, with names in %i registrable domains, the store is called only a few times',
    async (_, names, most) => {
      const { outcomes, calls, causes } = await registerThrough(() => {
        throw new Error('down')
      }, names)
      const message = 'The hostname could not be processed because of an internal error; send it again later.'
      expect(outcomes).toEqual(names.map(() => ({ status: 'invalid', code: 'internal_error', message })))
      expect(calls).toBe(most)
      expect(causes).toEqual([new Error('down')])
    },
  )

  test.each([1, 2, 3, 4, 5, 8, 50])(
    'because of one name, only that name gets internal_error, whichever it is (batch of %i)',
    async count => {
      const names = hundred.slice(0, count)
      for (const { domain } of names) {
        const { summary } = await registerThrough(async (request, register) => {
          if (holds(request, domain)) throw new Error('poison')
          return register(request)
        }, names)
        expect(summary).toEqual(names.map(name => (name.domain === domain ? 'internal_error' : 'created')))
      }
    },
  )

  test('because of ten names, only these get internal_error, and each distinct cause is reported once', async () => {
    const { summary, causes } = await registerThrough(async (request, register) => {
      const index = hundred.findIndex(({ domain }, position) => position % 10 === 0 && holds(request, domain))
      if (index >= 0) throw new Error(index < 50 ? 'one' : 'another')
      return register(request)
    }, hundred)
    expect(summary).toEqual(hundred.map((_, index) => (index % 10 === 0 ? 'internal_error' : 'created')))
    expect(causes.map(cause => (cause as Error).message).toSorted()).toEqual(['another', 'one'])
  })

  test('with causes that differ only in numbers, only the first is reported', async () => {
    const thrown = hundred
      .slice(0, 3)
      .map((_, index) => new Error(`127.0.0.1:${9 ** (index + 1)} refused call 1${index}`))
    const { causes } = await registerThrough(async (request, register) => {
      const index = hundred.findIndex(({ domain }, position) => position < 3 && holds(request, domain))
      if (index >= 0) throw thrown[index]
      return register(request)
    }, hundred)
    expect(causes).toHaveLength(1)
    expect(causes[0]).toBe(thrown[0])
  })

  test('with causes that have the same message but different error names, both are reported', async () => {
    const { causes } = await registerThrough(
      async request => {
        throw holds(request, 'www.n0.com') ? new TypeError('down') : new RangeError('down')
      },
      hundred.slice(0, 2),
    )
    expect(causes).toEqual([new TypeError('down'), new RangeError('down')])
  })

  test('because the store throws a value that is not an Error, that value is reported', async () => {
    const { causes } = await registerThrough(() => Promise.reject(null), hundred)
    expect(causes).toEqual([null])
  })

  test('because of one name, with an error whose message is not a string, the other names are saved', async () => {
    const cause = Object.assign(new Error(), { message: { code: 7 } })
    const { summary, causes } = await registerThrough(
      (request, register) => {
        if (holds(request, 'www.n1.com')) throw cause
        return register(request)
      },
      hundred.slice(0, 3),
    )
    expect(summary).toEqual(['created', 'internal_error', 'created'])
    expect(causes).toEqual([cause])
  })

  test('only once, no name gets internal_error', async () => {
    let hasFailed = false
    const { summary, causes } = await registerThrough((request, register) => {
      if (!hasFailed) {
        hasFailed = true
        throw new Error('once')
      }
      return register(request)
    }, hundred)
    expect(new Set(summary)).toEqual(new Set(['created']))
    expect(causes).toEqual([])
  })

  describe('after it was saved, because its response is lost', () => {
    const losing = (keep: (request: RegistrationRequest) => RegistrationRequest): Tampering => {
      let hasFailed = false
      return async (request, register) => {
        const saved = await register(keep(request))
        if (hasFailed) return saved
        hasFailed = true
        throw new Error('answer lost')
      }
    }

    test('its names are created, because the next attempt finds the IDs of this call', async () => {
      const { summary, outcomes, store } = await registerThrough(
        losing(request => request),
        [...hundred, toName('www.n0.com')],
      )
      expect(summary).toEqual([...hundred.map(() => 'created'), 'existing'])
      const ids = outcomes.map(outcome => outcome.status !== 'invalid' && outcome.registration.domainId)
      expect(new Set(ids)).toEqual(new Set((await store.list?.())?.map(({ domainId }) => domainId)))
    })

    test('a name that another call has registered meanwhile is existing', async () => {
      const { summary } = await registerThrough(async (request, register) => {
        const isFirst = request.domains.length > 1
        if (isFirst) await register({ ...request, decide: found => request.decide(found).slice(1), willSave: () => {} })
        if (isFirst) throw new Error('answer lost')
        return register(request)
      }, ['a.com', 'b.com'].map(toName))
      expect(summary).toEqual(['created', 'existing'])
    })

    test('its names are existing if the store does not say which IDs it saves', async () => {
      const { summary } = await registerThrough(
        losing(({ willSave: _, ...request }) => request),
        hundred,
      )
      expect(new Set(summary)).toEqual(new Set(['existing']))
    })
  })

  test('names in one registrable domain are retried together, because their results depend on each other', async () => {
    const names = ['*.a.com', 'x.a.com', 'y.b.com', '*.b.com', 'c.com'].map(toName)
    const parts: string[][] = []
    const { summary } = await registerThrough(async (request, register) => {
      parts.push([...request.registrableDomains])
      if (request.registrableDomains.length > 1) throw new Error('too many at once')
      return register(request)
    }, names)
    expect(parts).toEqual([['a.com', 'b.com', 'c.com'], ['a.com'], ['b.com'], ['c.com']])
    expect(summary).toEqual(['created', 'wildcard_conflict', 'created', 'subdomain_conflict', 'created'])
  })
})

describe('a store that hangs', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('on one name causes internal_error only for that name, within the time limit', async () => {
    const start = performance.now()
    const registered = registerThrough(
      (request, register) => (holds(request, 'www.n57.com') ? new Promise<never>(() => {}) : register(request)),
      hundred,
      10_000,
    )
    await vi.advanceTimersByTimeAsync(10_000)
    const { summary, causes } = await registered
    expect(summary).toEqual(hundred.map((_, index) => (index === 57 ? 'internal_error' : 'created')))
    expect(causes).toHaveLength(1)
    expect(performance.now() - start).toBeLessThanOrEqual(10_000)
  })

  test('on every name is called only a few times within the time limit', async () => {
    const timeLimits: number[] = []
    const hang: Tampering = ({ timeLimit }) => {
      timeLimits.push(timeLimit)
      return new Promise<never>(() => {})
    }
    const registered = registerThrough(hang, hundred, 10_000)
    await vi.advanceTimersByTimeAsync(10_500)
    const { summary, calls, causes } = await registered
    expect(timeLimits.slice(0, 3)).toEqual([5000, 2500, 1250])
    expect(new Set(summary)).toEqual(new Set(['internal_error']))
    expect(calls).toBeLessThanOrEqual(9)
    expect(causes).toHaveLength(1)
  })

  test('and then fails is not called again after the time limit, and its last failure is reported', async () => {
    const registered = registerThrough(
      request => new Promise((_, reject) => setTimeout(() => reject(new Error(request.domains[0])), 2)),
      hundred,
      6,
    )
    await vi.advanceTimersByTimeAsync(10)
    const { summary, calls, causes } = await registered
    expect(new Set(summary)).toEqual(new Set(['internal_error']))
    expect(calls).toBeLessThan(9)
    expect(causes.at(-1)).toBeInstanceOf(Error)
  })

  test('is not called if less than a millisecond is left', async () => {
    const register: Tampering = (request, inner) => inner(request)
    expect(await registerThrough(register, hundred, 1)).toMatchObject({ calls: 1 })
    const { summary, calls, causes } = await registerThrough(register, hundred, 0.5)
    expect(new Set(summary)).toEqual(new Set(['internal_error']))
    expect(calls).toBe(0)
    expect(causes).toEqual([new Error('No time was left for the store')])
  })
})

describe('all names get internal_error if the store', () => {
  const WRONG_SAVED = 'did not return one registration for each name'
  const WRONG_SHAPE = 'must resolve to { found, saved }'
  const nothing: LookUpResult = { registrations: [], below: [] }
  const savedAs =
    (change: (saved: readonly Registration[]) => readonly Registration[]): Tampering =>
    async (request, register) => {
      const { found, saved } = await register(request)
      return { found, saved: change(saved) }
    }

  test.each<[string, Tampering, string | RegExp]>([
    ['does not call `decide`', () => ({ found: nothing, saved: [] }), WRONG_SAVED],
    ['saves names, but returns none', savedAs(() => []), WRONG_SAVED],
    ['returns only the first registration', savedAs(saved => saved.slice(0, 1)), WRONG_SAVED],
    ['returns only the last registration', savedAs(saved => saved.slice(1)), WRONG_SAVED],
    ['returns one registration too many', savedAs(saved => [...saved, ...saved.slice(1)]), WRONG_SAVED],
    ['returns registrations in a different order from the names', savedAs(saved => saved.toReversed()), WRONG_SAVED],
    ['returns undefined', (() => undefined) as never, /undefined/],
    ['returns an array instead of an object', (() => []) as never, WRONG_SHAPE],
    ['returns no findings', (() => ({ saved: [] })) as never, WRONG_SHAPE],
    [
      'returns an object instead of an array of saved registrations',
      (() => ({ found: nothing, saved: {} })) as never,
      WRONG_SHAPE,
    ],
    ['returns findings without registrations', (() => ({ found: { below: [] }, saved: [] })) as never, WRONG_SHAPE],
    [
      'returns findings without the names below bases',
      (() => ({ found: { registrations: [] }, saved: [] })) as never,
      WRONG_SHAPE,
    ],
    ['calls `decide` with undefined', request => request.decide(undefined as never) as never, /undefined/],
  ])('%s', async (_, tamper, message) => {
    const { summary, causes } = await registerThrough(tamper, ['a.com', 'b.a.com'].map(toName))
    expect(summary).toEqual(['internal_error', 'internal_error'])
    expect(causes).toEqual([expect.objectContaining({ message: expect.stringMatching(message) })])
  })

  test('does not return the names below a wildcard', async () => {
    const { summary, causes } = await registerThrough(
      request => ({ found: nothing, saved: request.decide(nothing) as never }),
      [toName('*.a.com')],
    )
    expect(summary).toEqual(['internal_error'])
    expect(causes).toEqual([new TypeError('The store must return one entry of "below" for each base')])
  })
})

test('without names, the store is not called', async () => {
  const { calls } = await registerThrough((request, register) => register(request), [])
  expect(calls).toBe(0)
})
