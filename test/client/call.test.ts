/** One call: what it sends, after which responses it is retried, and what its errors say. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toWait } from '../../src/client/call.ts'
import { deleteAll, listAll, registerAll, syncAll } from '../../src/client/index.ts'
import { rejection } from '../fixtures.ts'
import { answer, callHere, loseAnswer, names, serve } from './service.ts'

const unused = { url: 'https://api.test/v1/domains', apiKey: 'svc_team_1_00' }

test('a client with an organization key sends the ID of the team', async () => {
  const { options, issue } = await serve()
  const ofOrganization = { ...options, apiKey: await issue('organization', '10') }
  expect((await registerAll(['a.com'], { ...ofOrganization, teamId: '2' })).totals.created).toBe(1)
  expect(await rejection(registerAll(['a.com'], ofOrganization))).toMatchObject({
    status: 400,
    code: 'invalid_request',
  })
})

describe('without an API key, the client', () => {
  /** A service in this process, without a key, and what its `fetch` was called with. */
  function spyOnCalls() {
    const { url, fetch } = callHere().options
    const spy = vi.fn(fetch)
    const inits = () => spy.mock.calls.map(([, init = {}]) => init)
    return { options: { url, fetch: spy }, inits, read: (name: string) => inits().map(each => readHeader(each, name)) }
  }
  const readHeader = ({ headers }: RequestInit, name: string) => new Headers(headers).get(name)

  test('sends no Authorization header of its own', async () => {
    const { options, read, inits } = spyOnCalls()
    await registerAll(['a.com'], options)
    await deleteAll(['a.com'], options)
    for await (const _ of listAll(options));
    await syncAll(['b.com'], options)
    expect(read('Authorization')).toEqual(Array(inits().length).fill(null))
    expect(inits().some(init => 'credentials' in init)).toBe(false)
  })

  test('sends the given headers and credentials with every call', async () => {
    const { options, read, inits } = spyOnCalls()
    const page = { ...options, headers: { 'X-CSRF-Token': 'abc' }, credentials: 'include' } as const
    await registerAll(['https://a.com/'], { ...page, fix: true })
    for await (const _ of listAll(page));
    expect(read('X-CSRF-Token')).toEqual(['abc', 'abc', 'abc'])
    expect(read('Content-Type')).toEqual(['application/json', 'application/json', null])
    expect(inits().map(({ credentials }) => credentials)).toEqual(['include', 'include', 'include'])
  })

  test('calls a headers function before each call, so a retry has a fresh token', async () => {
    const sent: (string | undefined)[] = []
    const { options } = await serve((call, response) => {
      sent.push(response.req.headers.authorization)
      return call === 1 && answer(response, 503, {}, { 'Retry-After': '0' })
    })
    const tokens = ['token-1', options.apiKey]
    const headers = async () => ({ Authorization: `Bearer ${tokens[sent.length]}` })
    const { totals } = await registerAll(['a.com'], { url: options.url, headers })
    expect(totals).toMatchObject({ created: 1 })
    expect(sent).toEqual(['Bearer token-1', `Bearer ${options.apiKey}`])
  })

  test.each<[what: string, headers: () => unknown, cause: object]>([
    ['throws', () => Promise.reject(new Error('logged out')), new Error('logged out')],
    ['returns no headers', () => 'Bearer abc', expect.any(TypeError)],
    [
      'never returns',
      () => new Promise(() => {}),
      expect.objectContaining({ message: expect.stringMatching(/^"headers" returned nothing within 20 ms/) }),
    ],
  ])('stops if the headers function %s, and sends nothing', async (_, headers, cause) => {
    const { options, inits } = spyOnCalls()
    const error = await rejection(registerAll(['a.com'], { ...options, headers: headers as never, timeLimit: 20 }))
    expect(error).toMatchObject({ code: 'headers_failed', message: 'The function "headers" failed.', cause })
    expect(error).toHaveProperty('status', undefined)
    expect(inits()).toEqual([])
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
    onTestFinished(() => void vi.useRealTimers())
    if (least === most) vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => void vi.restoreAllMocks())
    const headers = { 'Retry-After': retryAfter }
    const fetch = vi.fn(async () => Response.json({ error: 'busy', message: 'Later.' }, { status, headers }))
    const rejected = rejection(registerAll(['a.com'], { ...unused, patience: most, fetch }))
    await vi.advanceTimersByTimeAsync(least - 1)
    expect(fetch).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(most - least + 1)
    expect(fetch).toHaveBeenCalledTimes(2)
    expect(await rejected).toMatchObject({ status, code: 'busy' })
  })

  test('a little later than Retry-After says, so that many clients do not call at the same moment', () => {
    for (const [retryAfter, most] of [
      [17_000, 18_700],
      [3_600_000, 3_630_000],
    ] as const) {
      const waits = Array.from({ length: 1000 }, () => toWait(1, retryAfter))
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(retryAfter)
      expect(Math.max(...waits)).toBeLessThanOrEqual(most)
      expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan((most - retryAfter) / 2)
    }
  })

  test.each(['3 ', '3\t', ' 3'])('after the time in the Retry-After header %j, as it is on the wire', async wait => {
    let calls = 0
    const server = createServer(socket => {
      calls += 1
      socket.on('error', () => {})
      socket.once('data', () => socket.end(`HTTP/1.1 429 No\r\nRetry-After: ${wait}\r\nContent-Length: 2\r\n\r\n{}`))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const options = { url: `http://127.0.0.1:${port}/v1/domains`, apiKey: 'svc_team_1_00' }
    // A retry after the usual backoff of 0.5 to 1 s would come in time, and call the server again.
    const error = await rejection(registerAll(['a.com'], { ...options, patience: 2_900 }))
    expect(error).toMatchObject({ status: 429 })
    expect(calls).toBe(1)
  })

  test.each(['', '{"data":{"results":[{"status":"cre'])('if its JSON was cut short (%j)', async cut => {
    const { options } = await serve((call, response) => {
      if (call > 1) return false
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(cut)
      return true
    })
    expect((await registerAll(names(1), options)).totals).toMatchObject({ created: 1 })
  })
})

describe('a call is not retried', () => {
  const other = 'It comes from another service, or from a proxy.'
  const [withSlash, withoutSlash] = [
    'use the address without the slash',
    'use the address to which the service redirects',
  ]
  const html = { 'Content-Type': 'text/html; charset=utf-8' }
  test.each<[what: string, status: number, headers: object, body: string, code: string, message: string]>([
    ['a 401', 401, {}, '{"error":"unauthorized","message":"No."}', 'unauthorized', 'No.'],
    ['a 403 without a body', 403, {}, '', 'not_from_service', 'The response was HTTP 403.'],
    ['the 403 of a proxy', 403, html, '<h1>No</h1>', 'not_from_service', 'The response was HTTP 403.'],
    ['a 419', 419, {}, '{"message":"Your session has ended."}', 'not_from_service', 'Your session has ended.'],
    [
      ...(['a login page', 200, html, '<h1>Log in</h1>', 'not_from_service'] as const),
      `The response is not JSON: HTTP 200 with the content type "text/html". ${other}`,
    ],
    [
      ...(['a page that claims to be JSON', 200, { 'Content-Type': 'application/json' }, '<h1>Log in</h1>'] as const),
      'not_from_service',
      `The response is not JSON: HTTP 200 with the content type "application/json". ${other}`,
    ],
    [
      ...(['an empty response without a content type', 200, {}, '', 'not_from_service'] as const),
      `The response is not JSON: HTTP 200 without a content type. ${other}`,
    ],
    [
      ...([
        'a redirect to the same URL without its slash',
        308,
        { Location: '/v1/domains' },
        '',
        'redirected',
      ] as const),
      `The call was redirected to "/v1/domains"; ${withSlash}.`,
    ],
    [
      ...(['a redirect to another path', 302, { Location: '/login?token=1' }, '', 'redirected'] as const),
      `The call was redirected to "/login"; ${withoutSlash}.`,
    ],
    [
      ...(['a redirect elsewhere', 307, { Location: 'https://api.test/a/b/' }, '', 'redirected'] as const),
      `The call was redirected to another server; ${withoutSlash}.`,
    ],
    ['a redirect to nowhere', 303, {}, '', 'redirected', `The call was redirected; ${withSlash}.`],
  ])('after %s, and the error says what arrived', async (_, status, headers, body, code, message) => {
    const { options, countCalls } = await serve((_, response) => {
      response.writeHead(status, { ...headers }).end(body)
      return true
    })
    const error = await rejection(registerAll(names(1), { ...options, url: `${options.url}/`, patience: 1200 }))
    expect(error).toMatchObject({ name: 'RegisterAllError', status, code, message, results: [] })
    expect(countCalls()).toBe(1)
  })

  test.each([
    ['/v1/domains/', withSlash],
    ['/v1/domains', withoutSlash],
  ])('after a redirect of %s of which a browser hides the status and the target', async (path, advice) => {
    const fetch = vi.fn(async () => Object.defineProperty(new Response(null), 'status', { value: 0 }))
    const error = await rejection(registerAll(['a.com'], { url: `https://api.test${path}`, fetch }))
    const message = `The call was redirected; ${advice}.`
    expect(error).toMatchObject({ status: undefined, code: 'redirected', message })
    expect(fetch).toHaveBeenCalledTimes(1)
  })

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
  ])('if its response has %s', async (_, body, message) => {
    const fetch = vi.fn(async () => Response.json(body))
    const error = await rejection(registerAll(['a.com', 'b.com'], { ...unused, fetch }))
    expect(error).toMatchObject({ code: 'unexpected_response', status: 200, message: expect.stringMatching(message) })
    expect(fetch).toHaveBeenCalledTimes(1)
  })
})

test.each([408, 429, 502, 503, 504])('a %i of a proxy is told from a response of the service', async status => {
  const fetch = async () => new Response('<h1>Later</h1>', { status })
  const error = await rejection(registerAll(['a.com'], { ...unused, fetch, patience: 0 }))
  expect(error).toMatchObject({ status, code: 'unavailable' })
})

test('an error shows a hostile response as one line, without the key and headers that a proxy has copied', async () => {
  const { options } = await serve((_, response) => {
    const { authorization, cookie } = response.req.headers
    const copied = `\u001b[2J\u202eYou sent ${authorization}\r\nand ${cookie}.`
    return answer(response, 401, { error: `no ${authorization}`, message: copied + 'x'.repeat(100_000) })
  })
  const headers = { Authorization: 'Bearer token-12345678', Cookie: 'session=secret-99999999' }
  for (const [secrets, authorization, cookie] of [
    [{ apiKey: options.apiKey }, 'Bearer [API key]', 'undefined'],
    [{ headers }, '[header]', '[header]'],
  ] as const) {
    const error = (await rejection(registerAll(names(1), { url: options.url, ...secrets }))) as Error
    expect(error).toMatchObject({ status: 401, code: `no ${authorization}` })
    expect(error.message.startsWith(`[2J You sent ${authorization} and ${cookie}.x`, 1)).toBe(true)
    expect(error.message.length).toBeLessThanOrEqual(1000)
    const shown = inspect(error, { depth: null, showHidden: true })
    expect(shown).not.toMatch(/12345678|99999999/)
    expect(shown).not.toContain(options.apiKey.slice(0, 20))
  }
})

test.each<[what: string, fetch: typeof globalThis.fetch]>([
  ['ignores its signal', () => new Promise(() => {})],
  ['returns a body that never ends', async () => new Response(new ReadableStream())],
])('a client does not hang if fetch %s', async (_, fetch) => {
  const limited = await rejection(registerAll(['a.com'], { ...unused, fetch, timeLimit: 5, patience: 0 }))
  expect(limited).toMatchObject({
    code: 'unreachable',
    message: '1 name has no result. The last failure: The response was lost, or none arrived.',
    cause: { message: 'No response within 5 ms' },
  })
  const signal = AbortSignal.timeout(5)
  expect(await rejection(registerAll(['a.com'], { ...unused, fetch, signal }))).toBe(signal.reason)
})

test.each<[what: string, changes: object, message: RegExp]>([
  [
    'an API key that ends with a line break',
    { apiKey: 'svc_team_1_hidden\n' },
    /"apiKey" must be an API key, without white space around it; it is a string, not shown here$/,
  ],
  ['an empty API key', { apiKey: '' }, /"apiKey" must be an API key/],
  ...['https://user:hidden@api.test/v1/domains', 'ftp://api.test/hidden', 'hidden/v1/domains'].map(
    (url): [string, object, RegExp] => [
      url,
      { url },
      /"url" must be an http: or https: URL without a user name .*; it is a string, not shown here$/,
    ],
  ),
  ['text as `headers`', { headers: 'hidden: b' }, /"headers" must be headers such as \{.*; it is a string, not shown/],
  ['a header with a line break', { headers: { a: 'hidden\r\nc: d' } }, /"headers" must be headers .*; it is object/],
  ['"all" as `credentials`', { credentials: 'all' }, /"credentials" must be "omit", "same-origin" or "include"/],
  ['the unknown option "teamid"', { teamid: '1' }, /"teamid" does not exist; there are .*"teamId"/],
  ['-1 as `patience`', { patience: -1 }, /"patience" must be a number of milliseconds, 0 or more/],
  ['0 as `concurrency`', { concurrency: 0 }, /"concurrency" must be an integer above 0/],
  ['"yes" as `fix`', { fix: 'yes' }, /"fix" must be true or false/],
])('registerAll rejects %s before any call, and the error shows no secret', async (_, changes, message) => {
  const fetch = vi.fn<typeof globalThis.fetch>()
  const error = await rejection(registerAll(['a.com'], { ...unused, fetch, ...changes } as never))
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).toMatch(message)
  expect(String(error)).not.toContain('hidden')
  expect(fetch).not.toHaveBeenCalled()
})
