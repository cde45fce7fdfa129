import { describe, expect, test, vi } from 'vitest'
import { listAll, type Progress, RegisterAllError, registerAll } from '../../src/client/index.ts'
import type { Change } from '../../src/index.ts'
import { createStore } from '../fixtures.ts'
import { callHere, unavailable, whileTimeFlies } from './fake-time.ts'
import { names } from './serve.ts'

const MINUTES = 60_000

/** A store whose monitor refuses some names, and is unavailable until a given time. */
function createMonitored({ refuses = [], isAway = () => false }: { refuses?: string[]; isAway?: () => boolean }) {
  const watched = new Set<string>()
  const store = createStore({
    onError: () => {},
    synchronize(changes: readonly Change[]) {
      if (isAway()) throw new Error('The monitor is unavailable')
      if (changes.some(({ domain }) => refuses.includes(domain))) throw new Error('The monitor refuses one')
      for (const { domain } of changes) watched.add(domain)
    },
  })
  return { store, watched }
}

describe('a name that the monitor refuses', () => {
  test('does not affect 999 other names: they are registered, and the error lists only the refused name', async () => {
    const { store, watched } = createMonitored({ refuses: ['n432.com'] })
    const { options } = callHere(store)
    const { error, milliseconds } = await whileTimeFlies(() => registerAll(names(1000), options))
    expect(error).toBeInstanceOf(RegisterAllError)
    expect(error).toMatchObject({
      status: 503,
      code: 'domain_registration_unavailable',
      message: expect.stringMatching(/^1 name has no result\. The last failure: The domains were saved but/),
      inputs: ['n432.com'],
      resumeAt: 432,
    })
    const { results } = error as RegisterAllError
    expect(results.map(({ input }) => input)).toEqual(names(1000).toSpliced(432, 1))
    expect(watched.size).toBe(999)
    expect(milliseconds).toBeLessThan(2 * MINUTES)
  })

  test('does not affect the other names, even if every call contains such a name', async () => {
    const refuses = Array.from({ length: 10 }, (_, index) => `n${index * 100 + 7}.com`)
    const { store, watched } = createMonitored({ refuses })
    const { error } = await whileTimeFlies(() => registerAll(names(1000), callHere(store).options))
    expect(error).toMatchObject({ inputs: refuses, resumeAt: 7 })
    expect(watched.size).toBe(990)
  })

  test('is identified even if only one call runs at a time', async () => {
    const { store } = createMonitored({ refuses: ['n432.com'] })
    const { options } = callHere(store)
    const { error, milliseconds } = await whileTimeFlies(() => registerAll(names(1000), { ...options, concurrency: 1 }))
    expect(error).toMatchObject({ inputs: ['n432.com'], resumeAt: 432 })
    expect(milliseconds).toBeLessThan(2 * MINUTES)
  })

  test('is retried at the end, and gets a result if the monitor no longer refuses it', async () => {
    const refuses = ['n7.com']
    const { store, watched } = createMonitored({ refuses })
    const { options, calls } = callHere(store)
    async function* slowly() {
      for (const name of names(20_000)) {
        if (name.endsWith('00.com')) await new Promise(resolve => setTimeout(resolve, 1000))
        yield name
      }
    }
    const onProgress = () => {
      if (performance.now() > 150_000) refuses.pop()
    }
    const { value } = await whileTimeFlies(() => registerAll(slowly(), { ...options, onProgress }))
    expect(value?.totals).toEqual({ created: 19_900, existing: 100, invalid: 0 })
    expect(watched.size).toBe(20_000)
    expect(calls.indexOf(1)).toBeLessThan(calls.length - 10)
    expect(calls.at(-1)).toBe(1)
  })

  test('is retried until `patience` runs out if no other name shows that the monitor is available', async () => {
    const { store } = createMonitored({ refuses: ['a.com'] })
    const { options } = callHere(store)
    const { error, milliseconds } = await whileTimeFlies(() =>
      registerAll(['a.com'], { ...options, patience: MINUTES }),
    )
    expect(error).toMatchObject({ status: 503, inputs: ['a.com'], results: [], resumeAt: 0 })
    expect(milliseconds).toBeGreaterThan(MINUTES / 2)
    expect(milliseconds).toBeLessThan(2 * MINUTES)
  })
})

test.each<[what: string, answer: () => Promise<Response> | Response | undefined]>([
  ['of the monitor', () => undefined],
  ['of the service', () => Promise.reject(new TypeError('connection refused'))],
  ['of the server behind a gateway', () => new Response('Bad Gateway', { status: 502 })],
])('a ten-minute outage %s delays registerAll, which succeeds after fewer than 800 calls', async (what, answer) => {
  let begin = Number.POSITIVE_INFINITY
  const isAway = () => performance.now() > begin && performance.now() < begin + 10 * MINUTES
  const { store, watched } = createMonitored({ isAway: () => what === 'of the monitor' && isAway() })
  const { options, calls } = callHere(store, () => (isAway() ? answer() : undefined))
  const all = names(3000)
  const onProgress = ({ done }: Progress) => {
    if (done >= 1000 && begin === Number.POSITIVE_INFINITY) begin = performance.now()
  }
  const { value, error } = await whileTimeFlies(() => registerAll(all, { ...options, onProgress }))
  expect(error).toBeUndefined()
  expect(value?.results.map(({ input }) => input)).toEqual(all)
  expect(watched.size).toBe(3000)
  expect(calls.length).toBeLessThan(800)
})

test('if an outage outlasts `patience`, registerAll rejects; the error lists the names without a result', async () => {
  let isAway = false
  const { options } = callHere(createStore(), () => (isAway ? unavailable() : undefined))
  const onProgress = ({ done }: Progress) => {
    isAway = done >= 500
  }
  const work = () => registerAll(names(5000), { ...options, patience: 5 * MINUTES, onProgress })
  const { error, milliseconds } = await whileTimeFlies(work)
  expect(milliseconds).toBeGreaterThan(4 * MINUTES)
  expect(milliseconds).toBeLessThan(7 * MINUTES)
  const { results, inputs, resumeAt } = error as RegisterAllError
  expect(results.length).toBeGreaterThanOrEqual(500)
  expect(results).toHaveLength(resumeAt)
  expect(inputs).toEqual(names(resumeAt + inputs.length).slice(resumeAt))
  expect(inputs.length).toBeLessThanOrEqual(1000)
})

test.each<[retryAfter: string, patience: number, milliseconds: number]>([
  ['600', 5 * MINUTES, 0],
  ['100000', 5 * MINUTES, 0],
  ['240', 5 * MINUTES, 4 * MINUTES],
])(
  'if Retry-After is %s s and `patience` is %i ms, the client gives up after %i ms',
  async (retryAfter, patience, most) => {
    const { options } = callHere(createStore(), () => unavailable({ 'Retry-After': retryAfter }))
    const patient = { ...options, patience }
    for (const work of [() => registerAll(['a.com'], patient), () => listAll(patient).next()]) {
      const { error, milliseconds } = await whileTimeFlies<unknown>(work)
      expect(error).toMatchObject({ status: 503, code: 'domain_registration_unavailable' })
      expect(milliseconds).toBeGreaterThanOrEqual(most)
      expect(milliseconds).toBeLessThan(most + 1000)
      vi.useRealTimers()
    }
  },
)

test('if the Retry-After of one response exceeds `patience`, only the names of that call get no results', async () => {
  const hasN150 = (sent: readonly string[]) => sent.includes('n150.com')
  const intercept = (sent: readonly string[]) => (hasN150(sent) ? unavailable({ 'Retry-After': '3000' }) : undefined)
  const { options } = callHere(createStore(), intercept)
  const { error, milliseconds } = await whileTimeFlies(() => registerAll(names(2000), options))
  const { results, inputs, resumeAt } = error as RegisterAllError
  expect([results.length, inputs.length, resumeAt]).toEqual([1900, 100, 100])
  expect(milliseconds).toBeLessThan(1000)
})

test('one slow call delays the results of later names, but not the calls with these names', async () => {
  const { options } = callHere(createStore(), async sent => {
    if (sent.includes('n0.com')) await new Promise(resolve => setTimeout(resolve, 50_000))
    return undefined
  })
  const { value, error } = await whileTimeFlies(() => registerAll(names(5000), options))
  expect(error).toBeUndefined()
  expect(value?.totals.created).toBe(5000)
})

test('all names are registered even if one response in five is a failure', async () => {
  let call = 0
  const { options } = callHere(createStore(), () => (++call % 5 === 0 ? unavailable() : undefined))
  const { value } = await whileTimeFlies(() => registerAll(names(5000), options))
  expect(value?.totals.created).toBe(5000)
})

test('registerAll can resume a failed run at the position in its error', async () => {
  const store = createStore()
  const failing = callHere(store, sent => (sent.includes('n777.com') ? new Response('', { status: 403 }) : undefined))
  const { error } = await whileTimeFlies(() => registerAll(names(1000), failing.options))
  const { resumeAt, inputs } = error as RegisterAllError
  expect([resumeAt, inputs[0]]).toEqual([700, 'n700.com'])
  await whileTimeFlies(() => registerAll(names(1000).slice(resumeAt), callHere(store).options))
  expect(await store.count()).toBe(1000)
})
