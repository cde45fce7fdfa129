import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { deleteAll, listAll, type Progress, type RegisterAllError, registerAll } from '../../src/client/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection } from '../fixtures.ts'
import { answer, loseAnswer, names, serve } from './serve.ts'

const unused = { url: 'https://api.test/v1/domains', apiKey: 'svc_team_1_00' }

test('registerAll registers any number of names in calls of 100, with progress and results in order', async () => {
  const { options } = await serve()
  const progress: Progress[] = []
  const all = [...names(249), 'localhost']
  const { results, totals } = await registerAll(all, { ...options, onProgress: step => progress.push(step) })
  expect(results.map(({ input }) => input)).toEqual(all)
  expect(totals).toEqual({ created: 249, existing: 0, invalid: 1 })
  expect(progress.map(({ done, total, results }) => [done, total, results.length])).toEqual([
    [100, 250, 100],
    [200, 250, 100],
    [250, 250, 50],
  ])
  expect(await registerAll([], options)).toEqual({ results: [], totals: { created: 0, existing: 0, invalid: 0 } })
})

test('a client with an organization key sends the ID of the team', async () => {
  const { options, issue } = await serve()
  const ofOrganization = { ...options, apiKey: await issue('organization', '10') }
  expect((await registerAll(['a.com'], { ...ofOrganization, teamId: '2' })).totals.created).toBe(1)
  expect(await rejection(registerAll(['a.com'], ofOrganization))).toMatchObject({
    status: 400,
    code: 'invalid_request',
  })
})

describe('a call is retried', () => {
  test('after its response was lost, and names that it had already registered get the status "existing"', async () => {
    const { options } = await serve((call, response) => call === 2 && loseAnswer(response))
    const { results } = await registerAll(names(150), options)
    const statuses = [...Array(100).fill('created'), ...Array(50).fill('existing')]
    expect(results.map(({ status }) => status)).toEqual(statuses)
  })

  // Without a longer Retry-After, the first backoff is 0.5 to 1 s.
  test.each<[wait: string, status: number, retryAfter: string, least: number, most: number]>([
    ['17 s', 429, '17', 17_000, 17_000],
    ['5 s', 503, '5', 5000, 5000],
    ['10 minutes', 502, 'Thu, 01 Jan 2026 00:10:00 GMT', 600_000, 600_000],
    ['an hour (the longest wait)', 503, '2073600', 3_600_000, 3_600_000],
    ['an hour (the longest wait)', 503, 'Fri, 01 Jan 2027 00:00:00 GMT', 3_600_000, 3_600_000],
    ...['0', 'Thu, 01 Jan 2015 00:00:00 GMT', '1.5', '-5', 'soon', ''].map(
      (value): [string, number, string, number, number] => ['0.5 to 1 s (the usual backoff)', 503, value, 500, 1000],
    ),
  ])('%s after a %i with the Retry-After header "%s"', async (_, status, retryAfter, least, most) => {
    vi.useFakeTimers({
      now: Date.parse('2026-01-01T00:00:00Z'),
      toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    })
    try {
      const headers = { 'Retry-After': retryAfter }
      const fetch = vi.fn(async () => Response.json({ error: 'busy', message: 'Later.' }, { status, headers }))
      const rejected = rejection(registerAll(['a.com'], { ...unused, patience: most, fetch }))
      await vi.advanceTimersByTimeAsync(least - 1)
      expect(fetch).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(most - least + 1)
      expect(fetch).toHaveBeenCalledTimes(2)
      expect(await rejected).toMatchObject({ status, code: 'busy' })
    } finally {
      vi.useRealTimers()
    }
  })

  test('until `patience` runs out', async () => {
    let asked = 0
    const { options } = await serve((call, response) => {
      if (call === 1) return false
      asked += 1
      const body = { error: 'domain_registration_unavailable', message: 'Saved.' }
      return answer(response, 503, body, { 'Retry-After': '0' })
    })
    const error = await rejection(registerAll(names(101), { ...options, concurrency: 1, patience: 1200 }))
    expect(error).toMatchObject({ name: 'RegisterAllError', status: 503, code: 'domain_registration_unavailable' })
    expect(asked).toBe(2)
    expect((error as { results: unknown[] }).results).toHaveLength(100)
  })

  test('only after temporary failures, not after a 401 or a redirect', async () => {
    let asked = 0
    const { options } = await serve((call, response) => {
      asked = call
      return call === 2 && answer(response, 307, {}, { Location: 'https://elsewhere.test/' })
    })
    const refused = await rejection(registerAll(names(1), { ...options, apiKey: 'svc_team_1_00' }))
    expect(refused).toMatchObject({ status: 401, code: 'unauthorized', results: [] })
    const error = await rejection(registerAll(names(1), options))
    expect(error).toMatchObject({ status: 307, message: expect.stringMatching(/^The call was redirected; /) })
    expect(asked).toBe(2)
  })
})

test('an aborted signal ends registerAll, even during a backoff', async () => {
  const controller = new AbortController()
  const { options } = await serve((_, response) => {
    response.once('close', () => controller.abort('enough'))
    const body = { error: 'too_many_requests', message: 'Later.' }
    return answer(response, 429, body, { 'Retry-After': '100000' })
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
})

describe('registerAll rejects at once if a response has', () => {
  const created = { status: 'created', domain: 'a.com', domainId: '1' }
  test.each<[what: string, body: unknown, message: RegExp]>([
    ['null as its body', null, /it has no data\.results/],
    ['no data.results', { ok: true }, /it has no data\.results/],
    ['too few results', { data: { results: [{ ...created, input: 'a.com' }] } }, /it has 1 results for 2 names/],
    [
      'results that are not objects',
      { data: { results: [null, null] } },
      /results\[0\]\.status is not one of created, existing, invalid/,
    ],
    ['an unknown status', { data: { results: [{ status: 'ok' }, null] } }, /results\[0\]\.status is not one of/],
    [
      'the status "toString", which every object inherits',
      { data: { results: [{ status: 'toString' }, null] } },
      /results\[0\]\.status is not one of/,
    ],
    [
      'its results in a different order from the names',
      { data: { results: ['b.com', 'a.com'].map(input => ({ ...created, input })) } },
      /results\[0\]\.input is not the name that was sent/,
    ],
    [
      'a result without an ID',
      { data: { results: [{ status: 'existing', input: 'a.com', domain: 'a.com' }, null] } },
      /results\[0\]\.domainId is not a string/,
    ],
  ])('%s', async (_, body, message) => {
    const fetch = vi.fn(async () => Response.json(body))
    const error = await rejection(registerAll(['a.com', 'b.com'], { ...unused, fetch }))
    expect(error).toMatchObject({ name: 'RegisterAllError', status: 200, message: expect.stringMatching(message) })
    expect(fetch).toHaveBeenCalledTimes(1)
  })
})

test('an error does not show the API key, even if a proxy responds with the headers of the request', async () => {
  const { options } = await serve((_, response) => {
    const { authorization } = response.req.headers
    return answer(response, 401, { error: `no ${authorization}`, message: `${'x'.repeat(980)} ${authorization}` })
  })
  const error = await rejection(registerAll(names(1), options))
  expect(error).toMatchObject({
    status: 401,
    code: 'no Bearer [API key]',
    message: `${'x'.repeat(980)} Bearer [API key]`,
  })
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain(options.apiKey.slice(0, 20))
})

describe('a 200 response that is not JSON', () => {
  const other = 'It comes from another service, or from a proxy.'
  test.each<[what: string, headers: Record<string, string>, body: string, message: string]>([
    [
      'a login page',
      { 'Content-Type': 'text/html; charset=utf-8' },
      '<h1>Log in</h1>',
      `The response is not JSON: HTTP 200 with the content type "text/html". ${other}`,
    ],
    [
      'a page that claims to be JSON',
      { 'Content-Type': 'application/json' },
      '<h1>Log in</h1>',
      `The response is not JSON: HTTP 200 with the content type "application/json". ${other}`,
    ],
    [
      'an empty response without a content type',
      {},
      '',
      `The response is not JSON: HTTP 200 without a content type. ${other}`,
    ],
  ])('makes registerAll reject at once, and the error says what arrived (%s)', async (_, headers, body, message) => {
    let asked = 0
    const { options } = await serve((call, response) => {
      asked = call
      response.writeHead(200, headers).end(body)
      return true
    })
    const error = await rejection(registerAll(names(1), { ...options, patience: 1200 }))
    expect(error).toMatchObject({ name: 'RegisterAllError', status: 200, code: undefined, message })
    expect(asked).toBe(1)
  })

  test.each(['', '{"data":{"results":[{"status":"cre'])(
    'leads to a retry if it may have been cut short (%j)',
    async cut => {
      const { options } = await serve((call, response) => {
        if (call > 1) return false
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(cut)
        return true
      })
      expect((await registerAll(names(1), options)).totals).toMatchObject({ created: 1 })
    },
  )
})

test.each<[what: string, fetch: typeof globalThis.fetch]>([
  ['ignores its signal', () => new Promise(() => {})],
  ['returns a body that never ends', async () => new Response(new ReadableStream())],
])('registerAll does not hang if fetch %s', async (_, fetch) => {
  const limited = await rejection(registerAll(['a.com'], { ...unused, fetch, timeLimit: 5, patience: 0 }))
  expect(limited).toMatchObject({
    message: '1 name has no result. The last failure: The response was lost, or none arrived.',
    cause: { message: 'No response within 5 ms' },
  })
  const signal = AbortSignal.timeout(5)
  expect(await rejection(registerAll(['a.com'], { ...unused, fetch, signal }))).toBe(signal.reason)
})

test.each<[what: string, changes: object, message: string]>([
  [
    'an API key that ends with a line break',
    { apiKey: 'svc_team_1_hidden\n' },
    'The option "apiKey" must be an API key, without white space around it; it is a string, not shown here',
  ],
  ...['https://user:hidden@api.test/v1/domains', 'ftp://api.test/hidden', 'hidden/v1/domains'].map(
    (url): [string, object, string] => [
      url,
      { url },
      'The option "url" must be an http: or https: URL without a user name or password in it, such as ' +
        '"https://api.example.com/v1/domains"; it is a string, not shown here',
    ],
  ),
])('registerAll immediately rejects %s, and the error does not contain the value', async (_, changes, message) => {
  const fetch = vi.fn<typeof globalThis.fetch>()
  const error = await rejection(registerAll(['a.com'], { ...unused, fetch, ...changes }))
  expect(error).toEqual(new TypeError(message))
  expect(fetch).not.toHaveBeenCalled()
})

test.each<[what: string, changes: object, message: RegExp]>([
  ['an empty API key', { apiKey: '' }, /"apiKey" must be an API key/],
  ['text as `headers`', { headers: 'a: b' }, /"headers" must be headers such as \{.*; it is a string, not shown here/],
  ['a header with a line break', { headers: { a: 'b\r\nc: d' } }, /"headers" must be headers .*; it is object/],
  ['"all" as `credentials`', { credentials: 'all' }, /"credentials" must be "omit", "same-origin" or "include"/],
  ['the unknown option "teamid"', { teamid: '1' }, /"teamid" does not exist; there are .*"teamId"/],
  ['-1 as `patience`', { patience: -1 }, /"patience" must be a number of milliseconds, 0 or more/],
  ['0 as `concurrency`', { concurrency: 0 }, /"concurrency" must be an integer above 0/],
])('registerAll rejects %s', async (_, changes, message) => {
  expect(String(await rejection(registerAll([], { ...unused, ...changes } as never)))).toMatch(message)
})

test.each([
  ['a.com', /^TypeError: The names must be an array or another iterable of strings; they are "a\.com"$/],
  [undefined, /^TypeError: The names must be an array .* they are undefined$/],
  [['a.com', 7], /^TypeError: The name at index 1 must be a string; it is 7$/],
])('registerAll rejects %j as the list of names', async (domains, message) => {
  expect(String(await rejection(registerAll(domains as never, unused)))).toMatch(message)
})

test('registerAll, deleteAll and listAll reject if `onProgress` returns a rejected promise', async () => {
  const { options, store } = await serve()
  await save(store, '1', ['a.com'])
  const failing = { ...options, onProgress: () => Promise.reject(new Error('disk full')) }
  expect(await rejection(registerAll(['b.com'], failing))).toEqual(new Error('disk full'))
  expect(await rejection(deleteAll(['c.com'], failing))).toEqual(new Error('disk full'))
  expect(await rejection(listAll(failing).next())).toEqual(new Error('disk full'))
})
