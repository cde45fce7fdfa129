/** What callers in a browser need: headers and cookies in place of an API key, previews, and redirects explained. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deleteAll, listAll, PreviewAllError, previewAll, registerAll, syncAll } from '../../src/client/index.ts'
import { createStore, rejection } from '../fixtures.ts'
import { callHere } from './fake-time.ts'
import { answer, names, serve } from './serve.ts'

/** A `fetch` that calls a service in this process, and keeps what it was called with. */
function spyOnCalls() {
  const { options } = callHere(createStore())
  const inits: RequestInit[] = []
  const fetch: typeof globalThis.fetch = (url, init = {}) => {
    inits.push(init)
    return options.fetch(url, init)
  }
  const read = (name: string) => inits.map(({ headers }) => new Headers(headers).get(name))
  return { options: { url: options.url, fetch }, inits, read }
}

describe('without an API key, the client', () => {
  test('sends no Authorization header of its own', async () => {
    const { options, read, inits } = spyOnCalls()
    await registerAll(['a.com'], options)
    await deleteAll(['a.com'], options)
    for await (const _ of listAll(options));
    await syncAll(['b.com'], options)
    expect(read('Authorization')).toEqual(Array(inits.length).fill(null))
    expect(inits.some(init => 'credentials' in init)).toBe(false)
  })

  test('sends the given headers and credentials with every call', async () => {
    const { options, read, inits } = spyOnCalls()
    const page = { ...options, headers: { 'X-CSRF-Token': 'abc' }, credentials: 'include' } as const
    await registerAll(['https://a.com/'], { ...page, fix: true })
    for await (const _ of listAll(page));
    expect(read('X-CSRF-Token')).toEqual(['abc', 'abc', 'abc'])
    expect(read('Content-Type')).toEqual(['application/json', 'application/json', null])
    expect(inits.map(({ credentials }) => credentials)).toEqual(['include', 'include', 'include'])
  })

  test('calls a headers function before each call, so a retry has a fresh token', async () => {
    const { options } = await serve((call, response) => {
      sent.push(response.req.headers.authorization)
      return call === 1 && answer(response, 503, {}, { 'Retry-After': '0' })
    })
    const sent: (string | undefined)[] = []
    let tokens = 0
    const headers = async () => {
      tokens += 1
      return { Authorization: tokens === 1 ? 'Bearer token-1' : `Bearer ${options.apiKey}` }
    }
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
    expect(error).toMatchObject({ message: 'The function "headers" failed.', status: undefined, cause })
    expect(inits).toEqual([])
  })

  test('shows no header in errors, even if a proxy responds with the headers of the request', async () => {
    const { options } = await serve((_, response) => {
      const { authorization, cookie } = response.req.headers
      return answer(response, 401, { error: 'no', message: `You sent ${authorization} and ${cookie}` })
    })
    const headers = { Authorization: 'Bearer token-12345678', Cookie: 'session=secret-99999999' }
    const error = await rejection(registerAll(names(1), { url: options.url, headers }))
    expect(error).toMatchObject({ message: 'You sent [header] and [header]' })
    expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/12345678|99999999/)
  })
})

describe('previewAll', () => {
  test('previews any number of names in calls of 100, with progress and results in order, and saves none', async () => {
    const { options, store } = await serve()
    const all = [...names(249), 'https://Bücher.de/']
    const progress: unknown[] = []
    const onProgress = ({ done, total, resumeAt }: { done: number; total: number | undefined; resumeAt: number }) =>
      progress.push([done, total, resumeAt])
    const { results, totals } = await previewAll(all, { ...options, onProgress })
    expect(results.map(({ input }) => input)).toEqual(all)
    expect(totals).toEqual({ created: 249, existing: 0, invalid: 1 })
    expect(results.at(-1)).toMatchObject({ reason: 'url', suggestion: 'xn--bcher-kva.de' })
    expect(progress.at(-1)).toEqual([250, 250, 250])
    expect(await store.count({ teamId: '1' })).toBe(0)
    const streamed = []
    for await (const { status } of previewAll(['a.com', 'localhost'], options)) streamed.push(status)
    expect(streamed).toEqual(['created', 'invalid'])
  })

  test('rejects with the results so far and the place to resume from', async () => {
    const { options } = await serve((call, response) => call === 2 && answer(response, 403, { error: 'no' }))
    const error = await rejection(previewAll(names(250), { ...options, concurrency: 1 }))
    expect(error).toBeInstanceOf(PreviewAllError)
    expect(error).toMatchObject({ status: 403, code: 'no', resumeAt: 100 })
    expect((error as PreviewAllError).results).toHaveLength(100)
  })
})

test.each([
  ['/v1/domains/', '/v1/domains', 'use the address without the slash'],
  ['/v1/domains/', 'https://api.test/v1/domains/', 'use the address to which the service redirects'],
  ['/v1/domains', '/login', 'use the address to which the service redirects'],
])('for a redirect from %s to %s, the error says: %s', async (from, to, advice) => {
  const { options } = await serve((_, response) => answer(response, 308, {}, { Location: to }))
  const url = new URL(from, options.url)
  const error = await rejection(registerAll(['a.com'], { ...options, url }))
  expect(error).toMatchObject({ status: 308, message: `The call was redirected; ${advice}.` })
})

test('a redirect of which a browser hides the status says to leave out the slash', async () => {
  const fetch = async () => Object.defineProperty(new Response(null), 'status', { value: 0 })
  const error = await rejection(registerAll(['a.com'], { url: 'https://api.test/v1/domains/', fetch }))
  expect(error).toMatchObject({
    status: undefined,
    message: 'The call was redirected; use the address without the slash.',
  })
})

test.each(['3 ', '3\t', ' 3'])('the wait of the Retry-After header %j is kept', async retryAfter => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.end(`HTTP/1.1 429 No\r\nRetry-After: ${retryAfter}\r\nContent-Length: 2\r\n\r\n{}`),
    )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const options = { url: `http://127.0.0.1:${port}/v1/domains`, apiKey: 'svc_team_1_00' }
  // A retry after the usual backoff of 0.5 to 1 s would come in time, and call the server again.
  let calls = 0
  server.on('connection', () => {
    calls += 1
  })
  const error = await rejection(registerAll(['a.com'], { ...options, patience: 2_900 }))
  expect(error).toMatchObject({ status: 429 })
  expect(calls).toBe(1)
})

test('registerAll causes no warning about listeners, even with 30 calls at once', async () => {
  const { options } = callHere(createStore())
  const warnings: unknown[] = []
  const note = (warning: unknown) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const { signal } = new AbortController()
  const fetch: typeof globalThis.fetch = async (url, init) => {
    await new Promise(resolve => setImmediate(resolve))
    return options.fetch(url, init)
  }
  await registerAll(names(4000), { ...options, fetch, signal, concurrency: 30 })
  await new Promise(resolve => setImmediate(resolve))
  expect(warnings).toEqual([])
})
