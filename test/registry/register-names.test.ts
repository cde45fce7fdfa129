import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDeadline } from '../../src/deadline.ts'
import type { Name } from '../../src/registry/name.ts'
import { registerNames } from '../../src/registry/register-names.ts'
import type { DomainStore, RegistrationRequest } from '../../src/registry/store.ts'
import { createStore } from '../fixtures.ts'

const toName = (domain: string): Name => ({ domain, registrableDomain: domain.split('.').slice(-2).join('.') })
const hundred = Array.from({ length: 100 }, (_, index) => toName(`www.n${index}.com`))

/** Registers through a store whose `register` is tampered with, and reports what happened. */
async function registerThrough(
  tamper: (request: RegistrationRequest, register: DomainStore['register']) => ReturnType<DomainStore['register']>,
  names: readonly Name[],
  timeLimit = 30_000,
) {
  const store = createStore()
  const register = vi.fn((request: RegistrationRequest) => tamper(request, store.register))
  const onError = vi.fn()
  const registrar = { store: { ...store, register }, teamId: '1', deadline: createDeadline(timeLimit), onError }
  const outcomes = await registerNames(registrar, names)
  const summary = outcomes.map(outcome => (outcome.status === 'invalid' ? outcome.code : outcome.status))
  return { summary, outcomes, calls: register.mock.calls.length, onError, store }
}

const holds = (request: RegistrationRequest, domain: string) => request.names.some(name => name.domain === domain)

describe('a batch that fails', () => {
  test('one poisoned name in a hundred costs one result, and few calls', async () => {
    const cause = new Error('poison')
    const { summary, calls, onError } = await registerThrough(async (request, register) => {
      if (holds(request, 'www.n57.com')) throw cause
      return register(request)
    }, hundred)
    expect(summary).toEqual(hundred.map((_, index) => (index === 57 ? 'internal_error' : 'created')))
    expect(calls).toBeLessThanOrEqual(16)
    expect(onError.mock.calls).toEqual([[cause]])
  })

  test('ten poisoned names cost ten results', async () => {
    const { summary } = await registerThrough(async (request, register) => {
      if (hundred.some(({ domain }, index) => index % 10 === 0 && holds(request, domain))) throw new Error('poison')
      return register(request)
    }, hundred)
    expect(summary).toEqual(hundred.map((_, index) => (index % 10 === 0 ? 'internal_error' : 'created')))
  })

  test('a store that always fails is called a bounded number of times', async () => {
    const { summary, calls, onError } = await registerThrough(() => {
      throw new Error('down')
    }, hundred)
    expect(new Set(summary)).toEqual(new Set(['internal_error']))
    expect(calls).toBe(199)
    expect(onError).toHaveBeenCalledTimes(100)
  })

  test('a store that fails once costs no result', async () => {
    let hasFailed = false
    const { summary, onError } = await registerThrough((request, register) => {
      if (!hasFailed) {
        hasFailed = true
        throw new Error('once')
      }
      return register(request)
    }, hundred)
    expect(new Set(summary)).toEqual(new Set(['created']))
    expect(onError).not.toHaveBeenCalled()
  })

  test('a store that saved and then failed shows its names as existing', async () => {
    let hasFailed = false
    const { summary } = await registerThrough(async (request, register) => {
      const saved = await register(request)
      if (!hasFailed) {
        hasFailed = true
        throw new Error('answer lost')
      }
      return saved
    }, hundred)
    expect(new Set(summary)).toEqual(new Set(['existing']))
  })

  test('names of one registrable domain are never parted, for their verdicts depend on each other', async () => {
    const names = ['*.a.com', 'x.a.com', 'y.b.com', '*.b.com', 'c.com'].map(toName)
    const parts: string[][] = []
    const { summary } = await registerThrough(async (request, register) => {
      parts.push([...request.registrableDomains])
      if (request.registrableDomains.length > 1) throw new Error('too many at once')
      return register(request)
    }, names)
    expect(parts).toEqual([['a.com', 'b.com', 'c.com'], ['a.com'], ['b.com', 'c.com'], ['b.com'], ['c.com']])
    expect(summary).toEqual(['created', 'wildcard_conflict', 'created', 'subdomain_conflict', 'created'])
  })
})

describe('a store that hangs', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('on one name costs one result and less than the time limit', async () => {
    const start = performance.now()
    const registered = registerThrough(
      (request, register) => (holds(request, 'www.n57.com') ? new Promise<never>(() => {}) : register(request)),
      hundred,
      10_000,
    )
    await vi.advanceTimersByTimeAsync(10_000)
    const { summary, onError } = await registered
    expect(summary).toEqual(hundred.map((_, index) => (index === 57 ? 'internal_error' : 'created')))
    expect(onError).toHaveBeenCalledTimes(1)
    expect(performance.now() - start).toBeLessThanOrEqual(10_000)
  })

  test('on everything costs the time limit and bounded calls', async () => {
    const registered = registerThrough(() => new Promise<never>(() => {}), hundred, 10_000)
    await vi.advanceTimersByTimeAsync(10_500)
    const { summary, calls } = await registered
    expect(new Set(summary)).toEqual(new Set(['internal_error']))
    expect(calls).toBeLessThanOrEqual(199)
  })
})

describe('a store that breaks its contract does not turn into a success', () => {
  test.each<[string, Parameters<typeof registerThrough>[0]]>([
    ['does not call decide', () => []],
    ['saves, and returns nothing', (request, register) => Promise.resolve(register(request)).then(() => [])],
    ['returns one registration too few', async (request, register) => (await register(request)).slice(1)],
    ['returns them in another order', async (request, register) => (await register(request)).toReversed()],
    ['returns undefined', (() => undefined) as never],
    ['finds nothing', request => request.decide(undefined as never) as never],
  ])('%s', async (_, tamper) => {
    const { summary, onError } = await registerThrough(tamper, ['a.com', 'b.a.com'].map(toName))
    expect(summary).toEqual(['internal_error', 'internal_error'])
    expect(onError).toHaveBeenCalledTimes(1)
  })
})

test('no names cost no call', async () => {
  const { calls } = await registerThrough((request, register) => register(request), [])
  expect(calls).toBe(0)
})
