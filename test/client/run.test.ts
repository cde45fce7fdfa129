/** Any number of names: their order, what is sent when, retries, and when the client gives up. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { deleteAll, listAll, type Progress, RegisterAllError, registerAll } from '../../src/client/index.ts'
import type { Change } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection } from '../fixtures.ts'
import { answer, callHere, names, serve, unavailable, whileTimeFlies } from './service.ts'

const MINUTES = 60_000

test('names are sent in calls of 100, with progress, and results in the order of the names', async () => {
  const { options } = await serve()
  const progress: Progress[] = []
  const all = [...names(249), 'localhost']
  const { results, totals } = await registerAll(all, { ...options, onProgress: step => progress.push(step) })
  expect(results.map(({ input }) => input)).toEqual(all)
  expect(totals).toEqual({ created: 249, existing: 0, invalid: 1 })
  expect(progress.map(({ done, total, resumeAt, results }) => [done, total, resumeAt, results.length])).toEqual([
    [100, 250, 100, 100],
    [200, 250, 200, 100],
    [250, 250, 250, 50],
  ])
  expect(await registerAll([], options)).toEqual({ results: [], totals: { created: 0, existing: 0, invalid: 0 } })
})

test.each([
  [undefined, 4],
  [1, 1],
  [7, 7],
])('with the `concurrency` %s, %i calls run at once', async (concurrency, most) => {
  let underWay = 0
  let mostUnderWay = 0
  const { options } = callHere(createStore(), async () => {
    underWay += 1
    mostUnderWay = Math.max(mostUnderWay, underWay)
    await new Promise(resolve => setTimeout(resolve, 5))
    underWay -= 1
    return undefined
  })
  await registerAll(names(2000), { ...options, concurrency })
  expect(mostUnderWay).toBe(most)
})

test('during one slow call, 15 other calls are sent, and the results stay in the order of the names', async () => {
  let callsMeanwhile = 0
  const { options, calls } = callHere(createStore(), async sent => {
    if (!sent.includes('n0.com')) return undefined
    await new Promise(resolve => setTimeout(resolve, 50_000))
    callsMeanwhile = calls.length - 1
    return undefined
  })
  const { value } = await whileTimeFlies(() => registerAll(names(5000), options))
  expect(callsMeanwhile).toBe(15)
  expect(value?.results.map(({ input }) => input)).toEqual(names(5000))
})

test('30 calls at once cause no warning about listeners', async () => {
  const { options } = callHere(createStore(), () => new Promise(resolve => setImmediate(() => resolve(undefined))))
  const warnings: unknown[] = []
  const note = (warning: unknown) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  await registerAll(names(4000), { ...options, signal: new AbortController().signal, concurrency: 30 })
  await new Promise(resolve => setImmediate(resolve))
  expect(warnings).toEqual([])
})

test.each([
  ['a.com', /^TypeError: The names must be an array or another iterable of strings; they are "a\.com"$/],
  [undefined, /^TypeError: The names must be an array .* they are undefined$/],
  [['a.com', 7], /^TypeError: The name at index 1 must be a string; it is 7$/],
])('registerAll rejects %j as the list of names', async (domains, message) => {
  expect(String(await rejection(registerAll(domains as never, callHere().options)))).toMatch(message)
})

test('the work starts only once, when its result is first awaited', async () => {
  const { options, calls } = callHere()
  const run = registerAll(names(100), options)
  await new Promise(resolve => setTimeout(resolve, 5))
  expect(calls).toEqual([])
  const both = await Promise.all([run, run.finally(() => {}), run.catch(() => {})])
  expect(both.map(result => result?.totals.created)).toEqual([100, 100, 100])
  expect(calls).toEqual([100])
})

test.each<[first: string, second: string]>([
  ['for await', 'await'],
  ['for await', 'for await'],
  ['await', 'for await'],
])('names are not sent twice: after `%s`, `%s` throws an error that says so', async (first, second) => {
  const { options, calls } = callHere()
  const run = deleteAll(names(3), options)
  const use = {
    await: async () => void (await run),
    'for await': async () => {
      for await (const _ of run);
    },
  }
  await use[first as keyof typeof use]()
  const error = await rejection(use[second as keyof typeof use]())
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).toMatch(/sent already: use either "await" or one "for await" loop/)
  expect(calls).toEqual([3])
})

/** An endless iterable of names, which counts the names that were read. */
function countReads() {
  const reads = { names: 0, isClosed: false }
  async function* endless() {
    try {
      for (;;) yield `n${reads.names++}.com`
    } finally {
      reads.isClosed = true
    }
  }
  return { reads, endless }
}

describe('in a for await loop,', () => {
  test('registerAll and deleteAll yield each result in the order of the names', async () => {
    const { options } = callHere(createStore())
    for (const [work, status] of [
      [registerAll, 'created'],
      [deleteAll, 'deleted'],
    ] as const) {
      const inputs: string[] = []
      for await (const result of work(new Set(names(730)), options)) {
        expect(result.status).toBe(status)
        inputs.push(result.input)
      }
      expect(inputs).toEqual(names(730))
    }
  })

  test('fewer than 2,500 names are read ahead, and their iterator is closed if the loop ends early', async () => {
    const { reads, endless } = countReads()
    const { options } = callHere(createStore())
    let done = 0
    for await (const _ of registerAll(endless(), options)) {
      done += 1
      expect(reads.names - done).toBeLessThan(2500)
      if (done === 5000) break
    }
    await new Promise(resolve => setTimeout(resolve, 10))
    const { names: read } = reads
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(reads).toEqual({ names: read, isClosed: true })
  })

  test('the results of a retried call come after all others, and progress says where to resume', async () => {
    let isFirst = true
    const { options } = callHere(createStore(), sent => {
      if (!isFirst || !sent.includes('n150.com')) return undefined
      isFirst = false
      return unavailable()
    })
    const resumeAt: [done: number, resumeAt: number][] = []
    const onProgress = (progress: Progress) => resumeAt.push([progress.done, progress.resumeAt])
    const inputs: string[] = []
    await whileTimeFlies(async () => {
      for await (const { input } of registerAll(names(500), { ...options, onProgress })) inputs.push(input)
    })
    const [first, second, others] = [names(100), names(200).slice(100), names(500).slice(200)]
    expect(inputs).toEqual([...first, ...others, ...second])
    expect(resumeAt).toEqual([
      [100, 100],
      [200, 100],
      [300, 100],
      [400, 100],
      [500, 500],
    ])
  })

  test('an error contains no results, because the loop has already received them', async () => {
    const { options } = callHere(createStore(), sent =>
      sent.includes('n250.com') ? new Response('', { status: 403 }) : undefined,
    )
    const inputs: string[] = []
    const error = await rejection(
      (async () => {
        for await (const { input } of registerAll(names(300), options)) inputs.push(input)
      })(),
    )
    expect(inputs).toEqual(names(200))
    expect(error).toMatchObject({ status: 403, results: [], inputs: names(300).slice(200), resumeAt: 200 })
  })
})

test('if the iterable of names throws, registerAll finishes open calls, and then rejects with the error', async () => {
  const store = createStore()
  const failure = new Error('the file is gone')
  function* failing() {
    yield* names(150)
    throw failure
  }
  expect(await rejection(registerAll(failing(), callHere(store).options))).toBe(failure)
  expect(store.count()).toBe(100)
})

test('registerAll, deleteAll and listAll reject if `onProgress` returns a rejected promise', async () => {
  const { options, store } = await serve()
  await save(store, '1', ['a.com'])
  const failing = { ...options, onProgress: () => Promise.reject(new Error('disk full')) }
  expect(await rejection(registerAll(['b.com'], failing))).toEqual(new Error('disk full'))
  expect(await rejection(deleteAll(['c.com'], failing))).toEqual(new Error('disk full'))
  expect(await rejection(listAll(failing).next())).toEqual(new Error('disk full'))
})

test('with a signal that is aborted already, no name is read', async () => {
  let read = 0
  async function* source() {
    read += 1
    yield 'a.com'
  }
  const signal = AbortSignal.abort('enough')
  const options = { url: 'http://localhost/v1/domains', apiKey: 'key', signal }
  expect(await rejection(registerAll(source(), options))).toBe('enough')
  expect(read).toBe(0)
})

test('an aborted signal ends registerAll, even during a backoff', async () => {
  const controller = new AbortController()
  const { options } = await serve((_, response) => {
    response.once('close', () => controller.abort('enough'))
    const body = { error: 'too_many_requests', message: 'Later.' }
    return answer(response, 429, body, { 'Retry-After': '1000' })
  })
  const error = await rejection(registerAll(names(1), { ...options, signal: controller.signal }))
  expect(error).toBe('enough')
})

describe('names with the result internal_error', () => {
  /**
   * Creates a store that fails for n7.com in the given number of calls. The store also fails for n8.com until a call
   * with n8.com alone has failed.
   */
  function failing(times: number) {
    const store = createStore()
    let calls = 0
    let wasAlone = false
    const register: typeof store.register = request => {
      const asked = request.registrableDomains
      if (asked.includes('n7.com')) calls += 1
      if (asked.includes('n7.com') && calls <= times) throw new Error('disk full')
      if (asked.includes('n8.com') && !wasAlone) {
        wasAlone = asked.length === 1
        throw new Error('disk full')
      }
      return store.register(request)
    }
    return { ...store, register }
  }

  test('are retried after all other names, but all results stay in the order of the names', async () => {
    const progress: number[] = []
    // n7.com fails in more calls than the client needs to isolate this name by halving the list of names.
    const store = failing(9)
    const { options } = await serve(undefined, store)
    const all = names(120)
    const step = { onProgress: ({ done }: Progress) => progress.push(done) }
    const { results, totals } = await registerAll(all, { ...options, ...step })
    expect(results.map(({ input }) => input)).toEqual(all)
    expect(totals).toEqual({ created: 120, existing: 0, invalid: 0 })
    expect([...new Set([...progress.slice(0, 2), progress.at(-1)])]).toEqual([98, 118, 120])
  })

  test('make registerAll reject if every attempt fails; the error has these names, and the other results', async () => {
    const { options } = await serve(undefined, failing(Number.POSITIVE_INFINITY))
    const error = await rejection(registerAll(names(120), { ...options, patience: 1000 }))
    expect(error).toMatchObject({
      name: 'RegisterAllError',
      code: 'internal_error',
      message:
        '1 name has no result. The last failure: The domains may or may not have been saved. ' +
        'Send the same call again: that is safe.',
      inputs: ['n7.com'],
    })
    const { results } = error as RegisterAllError
    expect(results.map(({ input }) => input)).toEqual(names(120).filter(name => name !== 'n7.com'))
  })

  test('do not keep others from being sent, even if 12 of 3,000 always fail, with one call at a time', async () => {
    const failing = names(3000).filter((_, index) => index % 250 === 7)
    const store = createStore()
    const register: typeof store.register = request => {
      if (request.registrableDomains.some(domain => failing.includes(domain))) throw new Error('disk full')
      return store.register(request)
    }
    const { options } = callHere({ ...store, register }, async () => {
      await new Promise(resolve => setTimeout(resolve, 3000))
      return undefined
    })
    const { error } = await whileTimeFlies(() => registerAll(names(3000), { ...options, concurrency: 1 }))
    expect(error).toMatchObject({ code: 'internal_error', inputs: failing, resumeAt: 7 })
    expect(await store.count()).toBe(2988)
  })
})

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
  test.each([4, 1])('does not affect 999 other names, and the error lists only this name (%i at once)', async count => {
    const { store, watched } = createMonitored({ refuses: ['n432.com'] })
    const options = { ...callHere(store).options, concurrency: count }
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

  test.each([
    [1000, 100],
    [300, 10],
  ])('does not affect the other of %i names, even if one of every %i is such a name', async (count, every) => {
    const refuses = Array.from({ length: count / every }, (_, index) => `n${index * every + 7}.com`)
    const { store, watched } = createMonitored({ refuses })
    const { error } = await whileTimeFlies(() => registerAll(names(count), callHere(store).options))
    expect(error).toMatchObject({ inputs: refuses, resumeAt: 7 })
    expect(watched.size).toBe(count - refuses.length)
  })

  test('is retried at the end, and gets a result if the monitor no longer refuses it', async () => {
    const refuses = ['n7.com']
    const { store, watched } = createMonitored({ refuses })
    const { options, calls } = callHere(store)
    async function* slowly() {
      for (const name of names(6_000)) {
        if (name.endsWith('00.com')) await new Promise(resolve => setTimeout(resolve, 1000))
        yield name
      }
    }
    const onProgress = () => {
      if (performance.now() > 45_000) refuses.pop()
    }
    const { value } = await whileTimeFlies(() => registerAll(slowly(), { ...options, onProgress }))
    expect(value?.totals).toEqual({ created: 5_900, existing: 100, invalid: 0 })
    expect(watched.size).toBe(6_000)
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
      expect(milliseconds).toBeLessThan(1.1 * most + 1000)
      vi.useRealTimers()
    }
  },
)

test('with a `patience` of 0, the first failure ends the work: no call is sent after it', async () => {
  const { options, calls } = callHere(createStore(), async sent => {
    await new Promise(resolve => setTimeout(resolve, sent.includes('n0.com') ? 10 : 20))
    return unavailable()
  })
  const { error } = await whileTimeFlies(() => registerAll(names(2000), { ...options, patience: 0 }))
  expect(error).toMatchObject({ status: 503, resumeAt: 0, inputs: names(400) })
  expect(calls).toHaveLength(4)
})

test('if the Retry-After of one response exceeds `patience`, only the names of that call get no results', async () => {
  const hasN150 = (sent: readonly string[]) => sent.includes('n150.com')
  const intercept = (sent: readonly string[]) => (hasN150(sent) ? unavailable({ 'Retry-After': '3000' }) : undefined)
  const { options } = callHere(createStore(), intercept)
  const { error, milliseconds } = await whileTimeFlies(() => registerAll(names(2000), options))
  const { results, inputs, resumeAt } = error as RegisterAllError
  expect([results.length, inputs.length, resumeAt]).toEqual([1900, 100, 100])
  expect(milliseconds).toBeLessThan(1000)
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
