import { readFileSync } from 'node:fs'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import ts from 'typescript'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHandler, type HandlerRequest, type Step } from '../../src/http/index.ts'
import { readQuery } from '../../src/http/request.ts'
import { operationNames } from '../../src/http/routes.ts'
import { ApiError, createMemoryWaitingStore, hashApiKey } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'

const body = '{"domains":["www.example.com"]}'
const type = 'application/json'

const scopes = ['domains:create', 'domains:delete', 'domains:read']

/** A request as an application's own adapter would pass it to the handler. */
function request(fields: Record<string, unknown>, readBody: HandlerRequest['readBody'] = () => ({ text: body })) {
  return { header: (name: string) => fields[name] as string, readBody }
}

async function createCase(options = {}) {
  const { keys, issue } = createKeys()
  const authorization = `Bearer ${await issue('team', '1')}`
  const other = `Bearer ${await issue('team', '3')}`
  return { handle: createHandler({ store: createStore(), keys, ...options }), authorization, other }
}

/** An unhandled rejection would end the Node process. */
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

describe('a framework that returns the values of a header as an array', () => {
  test('gets the same responses as a framework that joins the values', async () => {
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

  test('gets the same response whether it is a string or bytes, even if empty or with byte order marks', async () => {
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

  test('is rejected if it has more bytes than the limit allows, even if it has fewer characters', async () => {
    const { handle, authorization } = await createCase({ bodyLimit: 60 })
    const text = JSON.stringify({ domains: ['ü'.repeat(25)] })
    expect(text.length).toBeLessThan(60)
    for (const read of [bytes, asText]) {
      const answer = await handle(request({ authorization, 'content-type': type }, () => read(text)))
      expect(answer.status).toBe(413)
    }
  })
})

test('if several checks fail, the call gets the error that docs/errors.md lists first', async () => {
  const { keys, issue } = createKeys()
  const rateLimiter = new RateLimiterMemory({ points: 0, duration: 60 })
  const handle = createHandler({ store: createStore(), keys, rateLimiter, bodyTimeLimit: 5 })
  const unscoped = `Bearer ${await issue('organization', '10', { scopes: [] })}`
  const authorization = `Bearer ${await issue('organization', '10')}`
  const inTeam = (team_id: string) => ({ body: { json: { domains: ['www.example.com'], team_id } } })

  const call = { authorization: '', points: 0, type: 'text/plain', length: '999999', body: new Promise(() => {}) }
  async function ask() {
    rateLimiter.points = call.points
    const fields = { ...call, 'content-type': call.type, 'content-length': call.length }
    const { status, headers, body } = await handle(request(fields, () => call.body as never))
    return { status, error: JSON.parse(body).error, isLimited: 'RateLimit' in headers }
  }
  const mends = [
    ...[{ authorization: unscoped }, { points: 100 }, { authorization }, { type }, { length: '31' }],
    ...[{ body: { text: '{' } }, inTeam('77'), inTeam('9'), inTeam('1')],
  ]
  const answers: Awaited<ReturnType<typeof ask>>[] = []
  for (const mend of mends) {
    answers.push(await ask())
    Object.assign(call, mend)
  }
  expect(await ask()).toMatchObject({ status: 200, isLimited: true })

  const guide = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  // The first two codes of the guide come from the adapters, which choose the operation.
  const [, , ...documented] = [...guide.matchAll(/^## \d+ `(\w+)`$/gm)].map(([, code]) => code)
  expect(answers.map(({ error }) => error)).toEqual(documented.slice(0, 9))
  expect(answers.map(({ isLimited }) => isLimited)).toEqual([false, ...Array(8).fill(true)])
})

test('a key that is revoked while the body arrives is rejected if the body took more than 20 ms', async () => {
  const { keys, issue } = createKeys()
  const handle = createHandler({ store: createStore(), keys })
  vi.useFakeTimers({ toFake: ['performance'] })
  for (const [milliseconds, status] of [
    [20, 200],
    [21, 401],
  ] as const) {
    const key = await issue('team', '1')
    const answer = await handle(
      request({ authorization: `Bearer ${key}`, 'content-type': type }, async () => {
        keys.revokeKey(await hashApiKey(key))
        vi.advanceTimersByTime(milliseconds)
        return { text: body }
      }),
    )
    expect(answer.status).toBe(status)
  }
  vi.useRealTimers()
})

test('onResult gets the call, key and duration of each 200; the call succeeds even if onResult throws', async () => {
  const onResult = vi.fn(() => {
    throw new Error('audit log down')
  })
  const { handle, authorization } = await createCase({ onResult })
  const call = request({ authorization, 'content-type': type })
  const answer = await handle(call)
  expect(answer.status).toBe(200)
  expect((await handle(request({ authorization }))).status).toBe(415)
  const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
  const { data } = JSON.parse(answer.body)
  const key = { hash: await hashApiKey(authorization.slice('Bearer '.length)), label: null, hint: null }
  const known = { request: call, requestId: undefined, keyContext, key, teamId: '1', operation: 'create', count: 1 }
  expect(onResult.mock.calls).toEqual([[{ ...known, status: 200, data, duration: expect.any(Number) }]])
})

test.each(operationNames)(
  'onResult and onError of "%s" say for which team an organization’s key acted',
  async operation => {
    const [onResult, onError] = [vi.fn(), vi.fn()]
    const authenticate = () => ({ type: 'organization', organizationId: '10', scopes }) as const
    const store = createStore()
    const settings = {
      authenticate,
      operations: operationNames,
      waiting: createMemoryWaitingStore(),
      onResult,
      onError,
    }
    const question = {
      ...request({ 'content-type': type }, () => ({ json: { team_id: '1', domains: ['a.com', 'b.com'] } })),
      operation,
      query: { team_id: '1' },
    }
    expect(await createHandler({ ...settings, store })(question)).toMatchObject({ status: 200 })
    const findTeam = () => Promise.reject(new Error('down'))
    expect(await createHandler({ ...settings, store: { ...store, findTeam } })(question)).toMatchObject({ status: 500 })
    const known = { teamId: '1', count: ['list', 'export', 'waiting'].includes(operation) ? undefined : 2 }
    expect(onResult.mock.calls).toMatchObject([[known]])
    expect(onError.mock.calls).toMatchObject([[{}, { ...known, step: 'findTeam' }]])
  },
)

test('if a call gets 503, onError gets the cause, and onResult gets the names that were saved, if any', async () => {
  const [onResult, onError] = [vi.fn(), vi.fn()]
  const store = createStore({ synchronize: () => Promise.reject(new Error('away')) })
  const { handle, authorization } = await createCase({ store, onResult, onError })
  for (let call = 1; call <= 2; call += 1)
    expect((await handle(request({ authorization, 'content-type': type }))).status).toBe(503)
  const key = { hash: expect.any(String), label: null, hint: null }
  const totals = { created: 1, existing: 0, invalid: 0 }
  expect(onResult.mock.calls).toMatchObject([[{ status: 503, operation: 'create', key, data: { totals } }]])
  expect(onError.mock.calls).toMatchObject([
    [{}, { step: 'synchronize', key }],
    [{}, { step: 'synchronize', key }],
  ])
})

describe('a failure', () => {
  const cause = new Error('password=secret')
  const fail = () => Promise.reject(cause)
  const failingTo = (method: string) => ({ store: { ...createStore(), [method]: fail } })
  const authenticate = () => ({ type: 'team', teamId: '1', scopes }) as const

  const key = 'svc_team_1_00000000000000000000000000000000'
  const everywhere: [step: Step, options: object][] = [
    ['authenticate', { authenticate: fail }],
    ['authenticate', { authenticate: undefined, keys: { findKey: fail } }],
    ['authenticate', { authenticate: () => new Promise(() => {}), timeLimit: 20 }],
    ['consume', { rateLimiter: { consume: fail } }],
    ['findTeam', failingTo('findTeam')],
  ]
  test.each([
    ...operationNames.flatMap(operation =>
      everywhere.map(([step, options]) => [step, operation, 500, options] as const),
    ),
    ['register', 'create', 500, failingTo('register')],
    ['synchronize', 'create', 503, { store: createStore({ synchronize: fail }) }],
    ['find', 'preview', 500, failingTo('find')],
    ['release', 'delete', 500, failingTo('release')],
    ['list', 'list', 500, failingTo('list')],
    ['list', 'export', 500, failingTo('list')],
    ['waiting', 'waiting', 500, { waiting: { ...createMemoryWaitingStore(), list: fail } }],
    ['waiting', 'delete', 500, { waiting: { ...createMemoryWaitingStore(), remove: fail } }],
  ] as const)(
    'in `%s` during the operation "%s" is reported to onError once, and its cause is hidden from the caller',
    async (step, operation, status, options) => {
      const onError = vi.fn()
      const operations = [operation]
      const waiting = createMemoryWaitingStore()
      const handle = createHandler({ store: createStore(), waiting, authenticate, operations, onError, ...options })
      const json = { domains: ['a.com', 'b.com', 'c.com'] }
      const fields = { 'content-type': type, authorization: `Bearer ${key}` }
      const answer = await handle({ ...request(fields, () => ({ json })), operation, query: {} })
      expect(answer).toMatchObject({ status, headers: { 'Retry-After': '5' } })
      expect(answer.body).not.toContain('secret')
      const told = 'timeLimit' in options ? { name: 'TimeLimitError' } : cause
      expect(onError.mock.calls).toMatchObject([[told, { step }]])
      expect(onError.mock.calls[0]?.[1].keyContext).toEqual(step === 'authenticate' ? undefined : authenticate())
    },
  )

  const rejections = [
    new ApiError('internal_error', 'The identity provider is down.', { headers: { 'Retry-After': '5' }, cause }),
    new ApiError('domain_registration_unavailable', 'The identity provider is down.', { cause }),
  ].map(error => [error.code, error] as const)
  test.each(rejections)(
    'in authenticate is reported to onError, even if it is an ApiError with the code %s',
    async (_, error) => {
      const onError = vi.fn()
      const handle = createHandler({ store: createStore(), authenticate: () => Promise.reject(error), onError })
      expect((await handle(request({ 'content-type': type }))).status).toBe(error.status)
      expect(onError.mock.calls).toMatchObject([[cause, { step: 'authenticate', keyContext: undefined }]])
    },
  )

  test('of many calls is logged to the console as one line and a stack trace if there is no onError', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { handle, authorization } = await createCase(failingTo('register'))
    for (let call = 1; call <= 3; call += 1) await handle(request({ authorization, 'content-type': type }))
    const line = expect.stringMatching(
      /Z domain-registration: registering names failed \(create, .*\): Error: .+\n {4}at /,
    )
    expect(log.mock.calls).toEqual([[line]])
    log.mockRestore()
  })

  test.each([
    ['throws', () => expect.fail('logger down')],
    ['rejects', async () => expect.fail('logger down')],
  ])('leads to a 500 response even if onError %s', async (_, onError) => {
    const { handle, authorization } = await createCase({ ...failingTo('findTeam'), onError })
    expect((await handle(request({ authorization, 'content-type': type }))).status).toBe(500)
  })
})

test('a key store that fails after the time limit causes no unhandled rejection', async () => {
  const { handle, authorization } = await createCase({
    timeLimit: 1,
    keys: { findKey: () => new Promise((_, reject) => setTimeout(reject, 3, new Error('late'))) },
  })
  expect((await handle(request({ authorization, 'content-type': type }))).status).toBe(500)
})

describe('the handler returns a response even if authenticate throws', () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }
  /** An error that another version of this package, or plain JavaScript, could create. */
  const apiError = (fields: object) => Object.assign(new ApiError('unauthorized', 'No.'), fields)
  const thrown: [what: string, make: () => unknown][] = [
    ['an error whose code is "constructor"', () => new ApiError('constructor' as 'unauthorized', 'No.')],
    ['an error with the status 200', () => apiError({ status: 200 })],
    ['an error without a status', () => apiError({ status: undefined })],
    ['an error with a header that cannot be sent', () => apiError({ headers: { 'X-A': 'a\nb' } })],
    ['an error whose headers are null', () => apiError({ headers: null })],
    ['an error whose message is not a string', () => apiError({ message: 7n })],
    ['a revoked proxy', revoked],
    ['undefined', () => undefined],
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

  test.each(['id', 'operation'])('an error, and the request’s property "%s" cannot be read', async name => {
    const { handle } = await createCase({ keys: undefined, authenticate: () => Promise.reject(new Error('down')) })
    const get = () => {
      throw new Error('unreadable')
    }
    const unreadable = Object.defineProperty(request({ 'content-type': type }), name, { get })
    expect(await handle(unreadable)).toMatchObject({ status: 500 })
  })
})

test('an adapter may leave out "query", which counts as no parameters', async () => {
  const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:read'] }) as const
  const { handle } = await createCase({ keys: undefined, authenticate, operations: ['list', 'export'] })
  expect(await handle({ ...request({}), operation: 'list' })).toMatchObject({ status: 200 })
  expect(await handle({ ...request({}), operation: 'export' })).toMatchObject({ status: 200 })
})

test.each([
  ['a UUID', '0199c0de-0000-7000-8000-000000000001', true],
  ['a number of 40 digits', '9'.repeat(40), true],
  ['an ID with a line break', '1\nfaked', false],
  ['an ID of 101 characters', 'x'.repeat(101), false],
])('onError gets the team of a call if its ID is printable and not too long: %s', async (_, teamId, isShown) => {
  const onError = vi.fn()
  const authenticate = () => ({ type: 'team', teamId, scopes: ['domains:create'] }) as const
  const findTeam = () => Promise.reject(new Error('down'))
  const { handle } = await createCase({ keys: undefined, authenticate, store: { ...createStore(), findTeam }, onError })
  await handle(request({ 'content-type': type }))
  expect(onError.mock.calls).toMatchObject([[{}, { teamId: isShown ? teamId : undefined, step: 'findTeam' }]])
})

test('the values of a query parameter that is sent several times become one array', () => {
  expect({ ...readQuery('/v1/domains?a=1&b=2&a=3&a=4') }).toEqual({ a: ['1', '3', '4'], b: '2' })
})

test.each([
  [new ApiError('payment_required', 'The trial has ended.', { status: 402 }), 402],
  [new ApiError('unauthorized', 'Log in first.', { headers: { 'WWW-Authenticate': 'Session' } }), 401],
])('an error from the application’s authenticate becomes the response (%s)', async (error, status) => {
  const { handle } = await createCase({ keys: undefined, authenticate: () => Promise.reject(error) })
  const answer = await handle(request({ 'content-type': type }))
  expect(answer).toMatchObject({ status, headers: error.headers })
  expect(JSON.parse(answer.body)).toEqual({ error: error.code, message: error.message })
})

test('the example of createHandler registers names, and does not read a body beyond the limit', async () => {
  const { keys, issue } = createKeys()
  const authorization = `Bearer ${await issue('team', '1')}`
  const source = readFileSync(new URL('../../src/http/handler.ts', import.meta.url), 'utf8')
  const [, example = ''] = / \* @example\n((?: \*(?!\/).*\n)+) \*\/\nexport function createHandler/.exec(source) ?? []
  const code = ts.transpile(example.replace(/^ \* ?/gm, ''), { target: ts.ScriptTarget.ES2022 })
  const run = new Function('createHandler', 'ApiError', 'store', 'keys', `${code}\nreturn answer`)
  const answer: (request: Request) => Promise<Response> = run(createHandler, ApiError, createStore(), keys)
  const post = (body: BodyInit) => {
    const headers = { authorization, 'content-type': type }
    return answer(new Request('http://localhost', { method: 'POST', headers, body, duplex: 'half' } as RequestInit))
  }
  expect(await (await post(body)).json()).toMatchObject({ data: { totals: { created: 1 } } })

  let chunks = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks += 1
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  expect((await post(endless)).status).toBe(413)
  // The limit is four chunks; the fifth exceeds it, and the stream prepares one more.
  expect(chunks).toBeLessThanOrEqual(6)
})
