import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHandler, type HandlerRequest } from '../../src/http/handler.ts'
import { ApiError } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'

const body = '{"domains":["www.example.com"]}'
const type = 'application/json'

/**
 * What the handler is given by accessors and readers that only a host of its own brings, which no adapter of ours is.
 */
function request(fields: Record<string, unknown>, readBody: HandlerRequest['readBody'] = () => ({ text: body })) {
  return { header: (name: string) => fields[name] as string, readBody }
}

async function createCase(options = {}) {
  const { keys, issue } = createKeys()
  const authorization = `Bearer ${await issue('team', '1')}`
  const other = `Bearer ${await issue('team', '3')}`
  return { handle: createHandler({ store: createStore(), keys, ...options }), authorization, other }
}

/** A promise that is rejected and that nobody holds ends a process of Node's. */
const unhandled = vi.fn()
beforeEach(() => {
  unhandled.mockClear()
  process.on('unhandledRejection', unhandled)
})
afterEach(async () => {
  await new Promise(resolve => setTimeout(resolve, 5))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

describe('an accessor that gives the lines of a field as an array', () => {
  test('is read like one that joins them', async () => {
    const { handle, authorization, other } = await createCase()
    const cases: [fields: Record<string, unknown>, status: number][] = [
      [{ authorization: [authorization], 'content-type': [type], 'content-length': ['31'] }, 200],
      [{ authorization: [authorization, other], 'content-type': type }, 401],
      [{ authorization: [authorization, authorization], 'content-type': type }, 401],
      [{ authorization: [], 'content-type': type }, 401],
      [{ authorization, 'content-type': [type, 'text/plain'] }, 415],
      [{ authorization, 'content-type': type, 'content-encoding': ['identity', 'gzip'] }, 415],
      [{ authorization, 'content-type': type, 'content-length': ['999999'] }, 413],
      [{ authorization, 'content-type': type, 'content-length': 999999 }, 413],
    ]
    for (const [fields, status] of cases) {
      expect((await handle(request(fields))).status, JSON.stringify(fields)).toBe(status)
    }
  })
})

describe('a body', () => {
  const bytes = (text: string) => ({ bytes: new TextEncoder().encode(text) })
  const asText = (text: string) => ({ text })

  test('is the same as text and as bytes: with a byte order mark, with two, with nothing', async () => {
    const { handle, authorization } = await createCase()
    for (const [text, status] of [
      [body, 200],
      [`\ufeff${body}`, 200],
      [`\ufeff\ufeff${body}`, 400],
      ['\ufeff', 400],
      ['', 400],
    ] as const) {
      for (const read of [bytes, asText]) {
        const answer = await handle(request({ authorization, 'content-type': type }, () => read(text)))
        expect(answer.status, JSON.stringify(text)).toBe(status)
      }
    }
  })

  test('is held to the limit, in bytes, also where the reader did not keep to it', async () => {
    const { handle, authorization } = await createCase({ bodyLimit: 60 })
    const text = JSON.stringify({ domains: ['ü'.repeat(25)] })
    expect(text.length).toBeLessThan(60)
    for (const read of [bytes, asText]) {
      const answer = await handle(request({ authorization, 'content-type': type }, () => read(text)))
      expect(answer.status).toBe(413)
    }
  })
})

test('an onError that is rejected later does no harm', async () => {
  const { handle, authorization } = await createCase({
    store: { ...createStore(), findTeam: () => Promise.reject(new Error('down')) },
    onError: async () => {
      throw new Error('logger down')
    },
  })
  expect((await handle(request({ authorization, 'content-type': type }))).status).toBe(500)
})

test('a store that fails after the time limit is over does no harm', async () => {
  const { handle, authorization } = await createCase({
    timeLimit: 1,
    keys: { findKey: () => new Promise((_, reject) => setTimeout(reject, 3, new Error('late'))) },
  })
  expect((await handle(request({ authorization, 'content-type': type }))).status).toBe(500)
})

describe('whatever is thrown, the handler answers', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  /** As another version of this package, or plain JavaScript, may make it. */
  const apiError = (fields: object) => Object.assign(new ApiError('unauthorized', 'No.'), fields)
  const thrown: [what: string, make: () => unknown][] = [
    ['a code that every object answers to', () => new ApiError('constructor' as 'unauthorized', 'No.')],
    ['a status that is no error', () => apiError({ status: 200 })],
    ['no status', () => apiError({ status: undefined })],
    ['a header field that cannot be sent', () => apiError({ headers: { 'X-A': 'a\nb' } })],
    ['no header fields', () => apiError({ headers: null })],
    ['a message that is no text', () => apiError({ message: 7n })],
    ['a revoked proxy', revoked],
    ['nothing', () => undefined],
  ]
  test.each(thrown)('%s', async (_, make) => {
    const onError = vi.fn()
    const { handle } = await createCase({
      keys: undefined,
      authenticate() {
        throw make()
      },
      onError,
    })
    const answer = await handle(request({ 'content-type': type }))
    expect(answer.status).toBe(500)
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'internal_error' })
    expect(onError).toHaveBeenCalledTimes(1)
  })

  test('a code of the host’s own with its status', async () => {
    const { handle } = await createCase({
      keys: undefined,
      authenticate() {
        throw new ApiError('payment_required', 'The trial has ended.', { status: 402 })
      },
    })
    const answer = await handle(request({ 'content-type': type }))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      402,
      { error: 'payment_required', message: 'The trial has ended.' },
    ])
  })
})

test('a host’s own authenticate may refuse with an ApiError of its own', async () => {
  const { handle } = await createCase({
    keys: undefined,
    authenticate: () => {
      throw new ApiError('unauthorized', 'Log in first.', { headers: { 'WWW-Authenticate': 'Session' } })
    },
  })
  const answer = await handle(request({ 'content-type': type }))
  expect(answer).toMatchObject({ status: 401, headers: { 'WWW-Authenticate': 'Session' } })
  expect(JSON.parse(answer.body)).toEqual({ error: 'unauthorized', message: 'Log in first.' })
})
