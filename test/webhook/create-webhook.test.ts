import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { inspect } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Change } from '../../src/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createWebhook, MonitorUnavailableError, verifyWebhook } from '../../src/webhook/index.ts'
import { createStore, rejection } from '../fixtures.ts'
import { findFreePort } from '../free-port.ts'
import { listen } from '../listen.ts'
import { waitFor } from '../wait-for.ts'
import { receive, toIds } from './receiver.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const newSecret = `whsec_${Buffer.alloc(64, 7).toString('base64')}`
const toChange = (index: number, kind: Change['kind'] = 'registered') =>
  ({
    kind,
    domainId: `id-${index}`,
    domain: `n${index}.com`,
    registrableDomain: `n${index}.com`,
    teamId: '1',
    at: new Date(1_767_323_045_678 + index),
    lease: 7, // a property that only the store uses
  }) as Change
const changes = (count: number) => Array.from({ length: count }, (_, index) => toChange(index))

test('a push contains each change with all fields, and is accepted by standardwebhooks and verifyWebhook', async () => {
  const { url, received } = await receive()
  await createWebhook({ url, secret })([toChange(0), toChange(1, 'released')])
  const [{ headers, body } = { headers: {}, body: '' }] = received
  const toNames = (index: number) => {
    const domain = `n${index}.com`
    return { domainId: `id-${index}`, domain, registrableDomain: domain, teamId: '1' }
  }
  const expected = {
    type: 'domains.changed',
    data: {
      changes: [
        { kind: 'registered', ...toNames(0), at: '2026-01-02T03:04:05.678Z' },
        { kind: 'released', ...toNames(1), at: '2026-01-02T03:04:05.679Z' },
      ],
    },
  }
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(expected)
  expect(await verifyWebhook(headers, body, secret)).toEqual(expected)
  expect(headers).toMatchObject({ 'content-type': 'application/json' })
  expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
})

test('1,000 calls at once open few connections to the monitor, and all changes arrive', async () => {
  const AT_ONCE = 20
  const sockets = new Set<Socket>()
  let mostOpen = 0
  let running = 0
  let begin = () => {}
  const begun = new Promise<void>(resolve => {
    begin = resolve
  })
  const { origin, close } = await listen(async (request, response) => {
    if (!sockets.has(request.socket)) request.socket.once('close', () => sockets.delete(request.socket))
    sockets.add(request.socket)
    mostOpen = Math.max(mostOpen, sockets.size)
    if (++running === AT_ONCE) begin()
    await begun
    request.resume()
    response.writeHead(204).end()
  })
  onTestFinished(close)
  const store = createStore({ synchronize: createWebhook({ url: origin, secret }) })
  await Promise.all(manyDomains(1000).map(async domain => store.synchronize?.(await save(store, '1', [domain]))))
  expect(running).toBe(1000)
  // A connection is perhaps not free again when its response has arrived.
  expect(mostOpen).toBeLessThanOrEqual(2 * AT_ONCE)
})

test('the webhook-id is the same for the same changes from any sender, and differs for other changes', async () => {
  const { url, received } = await receive()
  await createWebhook({ url, secret })([toChange(0)])
  await createWebhook({ url, secret: newSecret })([toChange(0)])
  await createWebhook({ url, secret })([toChange(0, 'released')])
  await createWebhook({ url, secret })([toChange(1)])
  await createWebhook({ url, secret })([toChange(0), toChange(1)])
  const [first, second, ...others] = received.map(({ headers }) => headers['webhook-id'])
  expect(first).toMatch(/^msg_[0-9a-f]{32}$/)
  expect(second).toBe(first)
  expect(new Set([first, ...others]).size).toBe(4)
})

test('while a secret is rotated, a receiver with either secret accepts a push', async () => {
  const { url, received } = await receive()
  await createWebhook({ url, secret: [newSecret, secret] })(changes(1))
  const [{ headers, body } = { headers: {}, body: '' }] = received
  for (const each of [secret, newSecret]) {
    new Webhook(each).verify(body, headers as Record<string, string>)
    await verifyWebhook(headers, body, each)
  }
})

test('changes are sent in batches, one after the other, in order', async () => {
  const { url, received } = await receive()
  await createWebhook({ url, secret })(changes(250))
  expect(received.map(each => toIds(each).length)).toEqual([100, 100, 50])
  expect(received.flatMap(toIds)).toEqual(changes(250).map(({ domainId }) => domainId))
  const webhook = createWebhook({ url, secret, batchSize: 2 })
  expect(webhook.batchSize).toBe(2)
  await webhook(changes(3))
  expect(received.slice(3).map(each => toIds(each).length)).toEqual([2, 1])
  await createWebhook({ url, secret })([])
  expect(received).toHaveLength(5)
})

describe('a response', () => {
  async function push(status: number, headers: Record<string, string> = {}, body = ''): Promise<unknown> {
    const { url } = await receive(response => response.writeHead(status, headers).end(body))
    return createWebhook({ url, secret })(changes(1)).catch((cause: unknown) => cause)
  }

  test.each([200, 201, 202, 204])('of %i means success', async status => {
    expect(await push(status)).toBeUndefined()
  })

  test.each([400, 401, 404, 409, 410, 413, 422, 500, 501, 505])(
    'of %i means that the monitor refuses the change',
    async status => {
      const error = await push(status, {}, 'no\r\nsuch\u202e thing')
      expect(error).toHaveProperty('monitor', expect.stringMatching(/^127\.0\.0\.1:\d+$/))
      expect(error).toHaveProperty('message', `The monitor returned ${status}: no such  thing`)
      expect(error).not.toBeInstanceOf(MonitorUnavailableError)
    },
  )

  test.each<[status: number, headers: Record<string, string>, retryAfter: number | undefined]>([
    [408, {}, undefined],
    [429, { 'Retry-After': '7' }, 7000],
    [425, {}, undefined],
    [502, { 'Retry-After': 'soon' }, undefined],
    [504, {}, undefined],
    [503, { 'Retry-After': '0' }, 0],
    [302, { Location: 'https://elsewhere.test/' }, undefined],
  ])('of %i means that the monitor is unavailable', async (status, headers, retryAfter) => {
    const error = await push(status, headers)
    expect(error).toBeInstanceOf(MonitorUnavailableError)
    expect(error).toMatchObject({ message: `The monitor returned ${status}`, retryAfter })
  })
})

test('a monitor that cannot be reached, or does not respond in time, counts as unavailable', async () => {
  const nobody = createWebhook({ url: 'http://127.0.0.1:1/', secret })
  expect(await rejection(nobody(changes(1)))).toMatchObject({
    name: 'MonitorUnavailableError',
    message: 'The monitor cannot be reached',
    cause: expect.any(Error),
  })
  const { url } = await receive(() => {})
  const error = await rejection(createWebhook({ url, secret, timeLimit: 20 })(changes(1)))
  expect(error).toMatchObject({
    name: 'MonitorUnavailableError',
    message: 'The monitor did not respond within 20 ms',
  })
})

test('the saved reason of a failed push tells a closed port, a reset, a certificate and DNS apart', async () => {
  const resetting = createServer(request => request.socket.resetAndDestroy())
  await new Promise<void>(resolve => resetting.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void resetting.close())
  const { port } = resetting.address() as AddressInfo
  const failing = (message: string, code: string) => () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) }))
  const reasons: unknown[] = []
  for (const options of [
    { url: `http://127.0.0.1:${await findFreePort()}/` },
    { url: `http://127.0.0.1:${port}/` },
    { url: 'https://127.0.0.1/', fetch: failing('certificate has expired', 'CERT_HAS_EXPIRED') },
    { url: 'https://127.0.0.1/', fetch: failing('getaddrinfo ENOTFOUND monitor.test', 'ENOTFOUND') },
  ]) {
    const store = createStore({ synchronize: createWebhook({ ...options, secret }), onError() {} })
    await rejection(Promise.resolve(store.synchronize?.(await save(store, '1', ['a.com']))))
    reasons.push((await store.listPending())[0]?.lastFailure)
  }
  expect(reasons).toEqual(
    [
      'connect ECONNREFUSED 127.0.0.1:',
      'read ECONNRESET',
      'certificate has expired (CERT_HAS_EXPIRED)',
      'getaddrinfo ENOTFOUND monitor.test',
    ].map(cause =>
      expect.stringContaining(
        `: The monitor cannot be reached; cause: TypeError: fetch failed; cause: Error: ${cause}`,
      ),
    ),
  )
})

test('a push times out after 15 seconds by default', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const fetch = vi.fn(() => new Promise<never>(() => {}))
  const pushing = rejection(createWebhook({ url: 'https://monitor.test/', secret, fetch })(changes(1)))
  await waitFor(() => expect(fetch).toHaveBeenCalled())
  await vi.advanceTimersByTimeAsync(15_000)
  expect(await pushing).toMatchObject({ message: 'The monitor did not respond within 15000 ms' })
})

test('an aborted signal ends a push, even between batches', async () => {
  const controller = new AbortController()
  const { url, received } = await receive(response => {
    response.writeHead(204).end()
    controller.abort('enough')
  })
  const error = await rejection(createWebhook({ url, secret })(changes(300), { signal: controller.signal }))
  expect(error).toBe('enough')
  expect(received).toHaveLength(1)
})

const wrong: readonly [options: object, message: RegExp][] = [
  [{ secret: undefined }, /^The option "secret" must be a string/],
  [{ secret: 'hidden' }, /^A secret must be "whsec_" and 24 to 64 random bytes in base64/],
  [{ secret: `whsec_${btoa('hidden')}` }, /^A secret must be/],
  [{ secret: [secret, 'hidden'] }, /^A secret must be/],
  [{ secret: `whsec_${btoa('hidden'.repeat(11))}` }, /^A secret must be/],
  [{ secret: [] }, /^The secret must be a string or a non-empty array of strings/],
  [{ url: 'https://me:hidden@monitor.test/' }, /"url" must be an http: or https: URL without a user name/],
  [{ url: 'ftp://monitor.test/hidden' }, /"url" must be/],
  [{ batchSize: 0 }, /"batchSize" must be an integer above 0/],
  [{ timeLimit: Number.NaN }, /"timeLimit" must be/],
  [{ timeout: 5 }, /"timeout" does not exist/],
]
const named = wrong.map(each => [inspect(each[0], { breakLength: Number.POSITIVE_INFINITY }), ...each] as const)
test.each(named)('createWebhook rejects %s, and the error shows no secret', (_, options, message) => {
  const call = () => createWebhook({ url: 'https://monitor.test/', secret, ...options } as never)
  expect(call).toThrow(TypeError)
  expect(call).toThrow(message)
  expect(call).not.toThrow(/hidden/)
})

test('an unavailable monitor gets only a few pushes; once available, all changes, and refuses one', async () => {
  let status = 503
  const { url, received } = await receive((response, { body }) => {
    response.writeHead(status === 503 || body.includes('refused.com') ? status : 204).end()
  })
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const store = createStore({ synchronize: createWebhook({ url, secret }), onError })
  const saved = await save(store, '1', ['a.com', 'b.com', 'refused.com', 'd.com'])
  await expect(store.synchronize?.(saved)).rejects.toBeInstanceOf(MonitorUnavailableError)
  expect(received.length).toBeLessThanOrEqual(8)
  expect(await store.pendingStats()).toMatchObject({ count: 4, refused: 0 })

  status = 422
  await rejection(Promise.resolve(store.synchronize?.(saved)))
  expect(await store.pendingStats()).toMatchObject({ count: 1 })
})
