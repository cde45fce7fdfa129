import dns from 'node:dns/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createVerification } from '../../src/dns-verification/create-dns-verification.ts'
import { createDnsVerification, type ResolveTxt } from '../../src/dns-verification/index.ts'
import { openNodeResolver } from '../../src/dns-verification/resolver.ts'
import { registerDomains } from '../../src/index.ts'
import { createStore, rejection, team1 } from '../fixtures.ts'
import { serveDns, serveRecords } from './serve-dns.ts'

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'
const at = (domain: string) => `${label}.${domain}`
const { record } = createDnsVerification({ label, secret })

const domains = Array.from({ length: 100 }, (_, index) => `d${index}.com`)
const values = new Map(
  await Promise.all(domains.map(async domain => [at(domain), (await record('1', domain)).value] as const)),
)
const statuses = (results: readonly { status: string }[]) => results.map(({ status }) => status)
const count = (results: readonly { status: string }[], status: string) =>
  results.filter(each => each.status === status).length

/** Fires once a promise has settled, or the event loop has turned many times without it. */
const isSettled = async (promise: Promise<unknown>) => {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  for (let turn = 0; turn < 50; turn += 1) await new Promise(resolve => setImmediate(resolve))
  return isSettled
}

describe('queries', () => {
  test('of 100 names that are not proven: 15 for one domain, 500 with a domain for each name', async () => {
    const server = await serveRecords({})
    const { checkNames } = createDnsVerification({ label, secret, servers: [server.address] })
    for (const [names, most] of [
      [domains.map((_, index) => `a.b.c${index}.example.com`), 15],
      [domains.map(domain => `a.b.c.${domain}`), 500],
    ] as const) {
      server.asked.length = 0
      const { data } = await registerDomains(team1, { domains: [...names] }, createStore(), { checkNames })
      expect(data.totals.invalid).toBe(100)
      expect(server.asked.length).toBeLessThanOrEqual(most)
      expect(new Set(server.asked).size).toBe(server.asked.length)
    }
  })

  test('at most as many as the option allows are under way at once', async () => {
    let running = 0
    let most = 0
    const resolveTxt: ResolveTxt = async () => {
      most = Math.max(most, ++running)
      await new Promise(resolve => setImmediate(resolve))
      running -= 1
      return []
    }
    for (const atOnce of [1, 8, undefined]) {
      const { verify } = createDnsVerification({ label, secret, resolveTxt, atOnce })
      most = 0
      await verify('1', domains.slice(0, 50))
      expect(most).toBe(Math.ceil((atOnce ?? 100) / 2))
      most = 0
      await Promise.all(['1', '2', '3', '4'].map(teamId => verify(teamId, [...domains.slice(50)])))
      expect(most).toBeGreaterThan((atOnce ?? 100) / 2)
      expect(most).toBeLessThanOrEqual(atOnce ?? 100)
    }
  })
})

describe('time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Answers about the last 60 domains at once, and never about the others. */
  const resolveTxt: ResolveTxt = (name, { signal }) =>
    domains.slice(40).map(at).includes(name)
      ? [[values.get(name) ?? '']]
      : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

  test('40 silent zones before 60 proven ones: all 60 are created, after the limit of a query', async () => {
    const { checkNames } = createDnsVerification({ label, secret, resolveTxt })
    const call = registerDomains(team1, { domains }, createStore(), { checkNames })
    await isSettled(call)
    await vi.advanceTimersByTimeAsync(2999)
    expect(await isSettled(call)).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const { data } = await call
    expect(data.totals).toEqual({ created: 60, existing: 0, invalid: 40 })
    for (const result of data.results.slice(0, 40))
      expect(result).toMatchObject({ message: expect.stringContaining('(TIMEOUT)') })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('90 silent zones before 10 proven ones: what one call does not come to, the next one does', async () => {
    const asked = vi.fn<ResolveTxt>((name, options) =>
      domains.slice(90).map(at).includes(name) ? [[values.get(name) ?? '']] : resolveTxt('', options),
    )
    const { verify } = createDnsVerification({ label, secret, resolveTxt: asked, onError() {} })
    const first = verify('1', domains)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(statuses(await first)).toEqual(domains.map(() => 'unreachable'))
    expect(asked).toHaveBeenCalledTimes(50)
    const second = verify('1', domains)
    await isSettled(second)
    await vi.advanceTimersByTimeAsync(3000)
    expect(count(await second, 'verified')).toBe(10)
    expect(asked).toHaveBeenCalledTimes(100)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a call ends after its own limit, with what it knows by then', async () => {
    for (const timeLimit of [undefined, 4000, 2000]) {
      const names = [...domains, ...Array.from({ length: 150 }, (_, index) => `e${index}.com`)]
      const call = createDnsVerification({ label, secret, resolveTxt, timeLimit, onError() {} }).verify('1', names)
      await isSettled(call)
      await vi.advanceTimersByTimeAsync((timeLimit ?? 10_000) - 1)
      expect(await isSettled(call)).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(count(await call, 'verified')).toBe(60)
      expect(count(await call, 'unreachable')).toBe(190)
      expect(vi.getTimerCount()).toBe(0)
    }
  })
})

describe('a caller who leaves', () => {
  test('is asked for no more: no packet is sent afterwards, not even by the next step of a chain', async () => {
    const controller = new AbortController()
    const server = await serveDns(name => {
      if (server.asked.length === 3) controller.abort(new Error('left'))
      // After the abort, this answer would lead to the questions for the servers of the zone.
      return name.startsWith('silent') ? null : { rcode: 'NXDOMAIN' }
    })
    const verification = createVerification({ label, secret, atOnce: 2 }, closed =>
      openNodeResolver(
        dns,
        { servers: [server.address], zoneServers: { port: server.port, isAllowed: () => true } },
        closed,
      ),
    )
    expect(await rejection(verification.verify('1', domains, controller))).toEqual(new Error('left'))
    const { length } = server.asked
    // Both queries that were under way may have arrived after the abort.
    expect(length).toBeLessThanOrEqual(5)
    await new Promise(resolve => setTimeout(resolve, 1200))
    expect(server.asked).toHaveLength(length)
  })

  test('before the first query causes none', async () => {
    const resolveTxt = vi.fn()
    const { verify } = createDnsVerification({ label, secret, resolveTxt })
    const signal = AbortSignal.abort(new Error('left'))
    expect(await rejection(verify('1', domains, { signal }))).toEqual(new Error('left'))
    expect(resolveTxt).not.toHaveBeenCalled()
  })
})

test('a resolver whose call is over sends nothing', async () => {
  const server = await serveRecords({})
  const call = new AbortController()
  const { resolveTexts, resolveAlias } = openNodeResolver(dns, { servers: [server.address] }, call.signal)
  call.abort(new Error('left'))
  await expect(resolveTexts('a.com', 'a.com', call.signal)).rejects.toThrow('left')
  await expect(resolveAlias?.('a.com')).rejects.toThrow('left')
  expect(server.asked).toEqual([])
})

describe('a resolver that does not work', () => {
  const broken: [string, ResolveTxt][] = [
    ['throws', () => raise(new TypeError('fetch failed'))],
    ['rejects', () => Promise.reject(new TypeError('fetch failed'))],
    ['rejects with nothing', () => Promise.reject()],
    ['resolves to nothing', () => undefined as never],
    ['resolves to a string', () => 'text' as never],
    ['resolves to strings', () => [7] as never],
  ]
  test.each(broken)('that %s refuses each name, never the call, and is reported once', async (_, resolveTxt) => {
    const onError = vi.fn()
    const { checkNames } = createDnsVerification({ label, secret, resolveTxt, onError })
    const { data } = await registerDomains(team1, { domains }, createStore(), { checkNames })
    expect(data.totals).toEqual({ created: 0, existing: 0, invalid: 100 })
    expect(JSON.stringify(data)).not.toContain('fetch failed')
    expect(onError).toHaveBeenCalledTimes(1)
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ message: expect.stringContaining('Nobody answers DNS queries') })
  })

  test('that is down is reported, and without onError on the console; a broken zone is not', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const down = await serveDns(() => null)
    down.close()
    for (const address of [down.address, (await serveDns(() => ({ rcode: 'SERVFAIL' }))).address]) {
      const { verify } = createDnsVerification({ label, secret, servers: [address] })
      expect(statuses(await verify('1', ['www.example.com']))).toEqual(['unreachable'])
    }
    expect(log).toHaveBeenCalledTimes(1)
    expect(log.mock.calls[0]?.[0]).toMatch(/asking the DNS failed: Error: Nobody answers DNS queries \(ECONNREFUSED\)/)
    expect(log.mock.calls[0]?.[0]).not.toContain('example.com')
    log.mockRestore()
  })
})

function raise(error: Error): never {
  throw error
}

describe('options', () => {
  const valid = { label, secret }
  test.each<[string, object]>([
    ['label', { secret }],
    ['label', { ...valid, label: 'challenge' }],
    ['label', { ...valid, label: '_a._b' }],
    ['label', { ...valid, label: '_A' }],
    ['label', { ...valid, label: `_${'a'.repeat(63)}` }],
    ['secret', { label }],
    ['secret', { ...valid, secret: 'x'.repeat(31) }],
    ['secret', { ...valid, secret: [] }],
    ['secret', { ...valid, secret: [secret, 'short'] }],
    ['resolveTxt', { ...valid, resolveTxt: 'dns' }],
    ['resolveTxt', { ...valid, resolveTxt: () => [], servers: ['127.0.0.1'] }],
    ['resolveTxt', { ...valid, resolveTxt: () => [], asksZoneServers: true }],
    ['servers', { ...valid, servers: [] }],
    ['servers', { ...valid, servers: ['dns.example.com'] }],
    ['asksZoneServers', { ...valid, asksZoneServers: 'yes' }],
    ['timeLimit', { ...valid, timeLimit: 0 }],
    ['atOnce', { ...valid, atOnce: 0 }],
    ['onError', { ...valid, onError: true }],
    ['lable', { ...valid, lable: label }],
  ])('an invalid or unknown %s is a TypeError that names it, and shows no secret', (name, options) => {
    const create = () => createDnsVerification(options as never)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(`"${name}"`)
    expect(create).not.toThrow(/the secret|xxx|short/)
  })

  test('the ID of a team is a string: a number would make another value', async () => {
    const verification = createDnsVerification(valid)
    for (const teamId of [7, '', undefined] as never[]) {
      expect(await rejection(verification.record(teamId, 'example.com'))).toBeInstanceOf(TypeError)
      expect(await rejection(verification.verify(teamId, ['example.com']))).toBeInstanceOf(TypeError)
      expect(await rejection(verification.claim(createStore(), teamId, ['example.com']))).toBeInstanceOf(TypeError)
    }
    for (const names of ['example.com', [7], [null], [{}]] as never[])
      expect(await rejection(verification.verify('1', names))).toBeInstanceOf(TypeError)
  })
})
