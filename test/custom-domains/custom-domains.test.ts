import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { compile } from '../compile.ts'
import { type Reply, txt } from '../dns-verification/dns-server.ts'
import { serveDns } from '../dns-verification/serve-dns.ts'
import { listen } from '../listen.ts'
import { startProxy, testBehind } from '../proxies.ts'
import { readUntil } from '../read-until.ts'
import { waitFor } from '../wait-for.ts'
import { createPlatform } from './platform.ts'

const root = new URL('../..', import.meta.url)
const secret = 'the secret of the tests, 32 bytes and more'
const { record } = createDnsVerification({ label: '_example-challenge', secret })

/** Runs examples/custom-domains.ts with a platform and a DNS of the test. */
async function start(interval = '20') {
  const platform = createPlatform('t0ken')
  const { origin, close } = await listen(platform.listener)
  onTestFinished(close)
  const replies = new Map<string, Reply>()
  const dns = await serveDns(name => replies.get(name) ?? { rcode: 'NXDOMAIN' })
  const settings = {
    PLATFORM_URL: `${origin}/zones/z1`,
    PLATFORM_TOKEN: 't0ken',
    VERIFICATION_SECRET: secret,
    RESOLVER: dns.address,
    INTERVAL: interval,
    PORT: '0',
    LOOKUP_PORT: '0',
  }
  const program = spawn(process.execPath, [await compile('examples/custom-domains.ts')], {
    cwd: root,
    env: { ...process.env, ...settings },
  })
  const exited = once(program, 'exit')
  onTestFinished(async () => {
    program.kill()
    await exited
  })
  let errors = ''
  program.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  const printed = await readUntil(program, /\n$/)
  const [port, lookupPort] = (printed().match(/\d+/g) ?? []).map(Number) as [number, number]

  /** Sends a call of a team's page. */
  async function call(method: string, path: string, domains?: readonly string[], team = '1') {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { Cookie: `team=${team}`, 'Content-Type': 'application/json' },
      ...(domains && { body: JSON.stringify({ domains }) }),
    })
    const body = (await response.json()) as { data: { results: Record<string, unknown>[] } }
    return { status: response.status, body, results: body.data?.results }
  }
  return {
    ...{ platform, port, lookupPort, call },
    errors: () => errors,
    states: async (team = '1') => (await call('GET', '/states', undefined, team)).body,
    async prove(team: string, domain: string) {
      const { name, value } = await record(team, domain)
      replies.set(name, txt(name, value))
    },
  }
}

/** Sends a GET with a `Host` header, which `fetch` does not allow. */
async function get(to: { port: number } | { socketPath: string }, path: string, headers: Record<string, string>) {
  const sent = request({ ...to, path, headers })
  const [response] = await Promise.all([once(sent, 'response').then(([response]) => response), sent.end()])
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

test('a name needs a proof, is pending, is active, and leaves the platform when it is deleted', async () => {
  const { platform, port, call, states, prove } = await start()
  const domains = ['example.com', 'www.example.com', '*.example.com']
  const { results } = await call('POST', '/v1/domains/preview', ['example.org', 'www.example.org', '*.example.org'])
  expect(results).toMatchObject([
    { status: 'invalid', reason: 'not_verified', record: await record('1', 'example.org') },
    { status: 'invalid', reason: 'not_verified' },
    { status: 'invalid', reason: 'no_wildcards' },
  ])

  await prove('1', 'example.com')
  const { status, results: registered } = await call('POST', '/v1/domains', domains)
  expect(status).toBe(200)
  expect(registered).toMatchObject([{ status: 'created' }, { status: 'created' }, { code: 'invalid_domain' }])
  expect([...platform.hostnames.keys()].sort()).toEqual(['example.com', 'www.example.com'])
  expect(await states()).toEqual({ 'example.com': { status: 'pending' }, 'www.example.com': { status: 'pending' } })
  expect(await states('2')).toEqual({})

  const [apex, www] = ['example.com', 'www.example.com'].map(name => platform.hostnames.get(name))
  if (!apex || !www) throw new Error('The platform lacks a name')
  apex.status = apex.ssl.status = 'active'
  www.verification_errors = ['custom hostname does not CNAME to this zone.']
  const message = 'custom hostname does not CNAME to this zone.'
  await waitFor(async () =>
    expect(await states()).toEqual({
      'example.com': { status: 'active' },
      'www.example.com': { status: 'pending', message },
    }),
  )
  www.ssl.status = 'validation_timed_out'
  await waitFor(async () => expect(await states()).toMatchObject({ 'www.example.com': { status: 'error', message } }))

  const site = (Host: string) => get({ port }, '/', { Host })
  expect((await site('EXAMPLE.com:8443')).body).toBe('The site of team 1\n')
  expect(await site('shop.example.com')).toMatchObject({ status: 404 })

  expect(await call('POST', '/v1/domains/delete', ['example.com'])).toMatchObject({ status: 200 })
  expect(await call('POST', '/v1/domains', ['net.example.com'], '2')).toMatchObject({
    results: [{ status: 'invalid' }],
  })
  await waitFor(() => expect([...platform.hostnames.keys()]).toEqual(['www.example.com']))
  expect(Object.keys(await states())).toEqual(['www.example.com'])
  expect(await site('example.com')).toMatchObject({ status: 404 })
})

test('names that stay pending are asked for less and less, and ten at a time', async () => {
  const { platform, call, prove } = await start('400')
  await prove('1', 'example.com')
  const names = Array.from({ length: 25 }, (_, index) => `n${index}.example.com`)
  await call('POST', '/v1/domains', names)
  platform.lookups.length = 0
  await waitFor(() => expect(platform.lookups.length).toBeGreaterThan(60))
  let burst = 0
  for (const [index, { at }] of platform.lookups.entries()) {
    // A round ends 400 ms before the next one begins.
    burst = at - (platform.lookups[index - 1]?.at ?? 0) > 390 ? 1 : burst + 1
    expect(burst).toBeLessThanOrEqual(10)
  }
})

test('a name that is abandoned is asked for after a tenth of its age, not in each round', async () => {
  const { platform, call, prove } = await start()
  await prove('1', 'example.com')
  await call('POST', '/v1/domains', ['www.example.com'])
  const begin = performance.now()
  platform.lookups.length = 0
  await waitFor(() => expect(performance.now() - begin).toBeGreaterThan(3000))
  const { length } = platform.lookups
  expect(length).toBeGreaterThan(5)
  // Ten rounds of 20 ms, and then each 1.1 times as late as the last one.
  expect(length).toBeLessThan(15 + Math.log((performance.now() - begin) / 200) / Math.log(1.1))
})

test('a name that pointed elsewhere for a while becomes active again', async () => {
  const { platform, call, states, prove } = await start()
  await prove('1', 'example.com')
  await call('POST', '/v1/domains', ['www.example.com'])
  const hostname = platform.hostnames.get('www.example.com')
  if (!hostname) throw new Error('The platform lacks the name')
  hostname.status = 'moved'
  await waitFor(() => expect(hostname.status).toBe('pending'))
  expect(await states()).toMatchObject({ 'www.example.com': { status: 'pending' } })
  hostname.status = hostname.ssl.status = 'active'
  await waitFor(async () => expect(await states()).toEqual({ 'www.example.com': { status: 'active' } }))
})

test('a name about which the platform fails again and again holds up no other name', async () => {
  const { platform, call, states, prove, errors } = await start()
  await prove('1', 'example.com')
  await call('POST', '/v1/domains', ['stuck.example.com', 'www.example.com'])
  const [stuck, www] = ['stuck.example.com', 'www.example.com'].map(name => platform.hostnames.get(name))
  if (!stuck || !www) throw new Error('The platform lacks a name')
  platform.settings.stuck.add(stuck.hostname)
  stuck.status = 'moved'
  await waitFor(() => expect(errors()).toContain('The platform responded with 400'))
  www.status = www.ssl.status = 'active'
  const active = { 'www.example.com': { status: 'active' } }
  await waitFor(async () => expect(await states()).toMatchObject(active))
})

test('a name that the platform rejects is an error, and other names are not late for it', async () => {
  const { platform, call, states, prove } = await start()
  platform.settings.prohibited.add('bad.example.com')
  await prove('1', 'example.com')
  expect(await call('POST', '/v1/domains', ['bad.example.com', 'good.example.com'])).toMatchObject({ status: 200 })
  expect(await states()).toEqual({
    'bad.example.com': { status: 'error', message: 'Custom hostnames like this are prohibited.' },
    'good.example.com': { status: 'pending' },
  })
})

test('while the platform is down or rejects the token, names are saved and pending, and arrive later', async () => {
  const { platform, call, states, prove } = await start()
  await prove('1', 'example.com')
  for (const [outage, name] of [
    [503, 'a.example.com'],
    [403, 'b.example.com'],
    [429, 'c.example.com'],
  ] as const) {
    platform.settings.outage = outage
    expect(await call('POST', '/v1/domains', [name])).toMatchObject({ status: 503 })
    expect(await states()).toMatchObject({ [name]: { status: 'pending' } })
    platform.settings.outage = undefined
    expect(await call('POST', '/v1/domains', [name])).toMatchObject({ status: 200, results: [{ status: 'existing' }] })
    expect(platform.hostnames.has(name)).toBe(true)
  }
})

test('a release that arrives late does not remove a name that is registered again', async () => {
  const { platform, call, states, prove } = await start()
  await prove('1', 'example.com')
  const late = { 'a.example.com': undefined, 'b.example.com': 503 }
  await call('POST', '/v1/domains', [...Object.keys(late), 'c.example.com'])
  // What is active is not asked for again, so nothing else could add the name again.
  for (const hostname of platform.hostnames.values()) hostname.status = hostname.ssl.status = 'active'
  const active = { status: 'active' }
  await waitFor(async () => expect(Object.values(await states())).toEqual([active, active, active]))
  for (const [name, status] of Object.entries(late)) {
    const isHeld = platform.hold(name)
    await call('POST', '/v1/domains/delete', [name])
    const goOn = await isHeld
    expect(await call('POST', '/v1/domains', [name])).toMatchObject({ results: [{ status: 'created' }] })
    const isTriedAgain = platform.hold(name)
    goOn(status)
    ;(await isTriedAgain)()
  }
  // A later sweep pushes this, when those of the other releases are over.
  await call('POST', '/v1/domains/delete', ['c.example.com'])
  await waitFor(() => expect(platform.hostnames.has('c.example.com')).toBe(false))
  expect([...platform.hostnames.keys()].sort()).toEqual(Object.keys(late))
})

test('Caddy may get certificates for registered names only', async () => {
  const { lookupPort, call, prove } = await start()
  await prove('1', 'example.com')
  await call('POST', '/v1/domains', ['www.example.com'])
  const ask = async (path: string) => (await get({ port: lookupPort }, path, {})).status
  expect(await ask('/ask?domain=www.example.com')).toBe(200)
  for (const query of ['?domain=example.com', '?domain=a.www.example.com', '?domain=127.0.0.1', '?domain=', ''])
    expect(await ask(`/ask${query}`)).toBe(404)
})

testBehind(
  'nginx',
  'nginx as in docs/custom-domains.md passes on requests for registered hosts, with their team',
  async () => {
    const { lookupPort, call, prove } = await start()
    await prove('1', 'example.com')
    await call('POST', '/v1/domains', ['www.example.com'])
    const site = await listen((request, response) => response.end(`${request.headers['x-team-id']}`))
    onTestFinished(site.close)
    const { socketPath, end } = await startProxy('nginx', 'docs/custom-domains.md', {
      '127.0.0.1:3000': new URL(site.origin).host,
      '127.0.0.1:3001': `127.0.0.1:${lookupPort}`,
    })
    onTestFinished(end)
    const ask = (path: string, Host: string) => get({ socketPath }, path, { Host, 'X-Team-Id': '2' })
    expect(await ask('/', 'www.example.com')).toMatchObject({ status: 200, body: '1' })
    expect(await ask('/', 'example.com')).toMatchObject({ status: 403 })
    expect(await ask('/_owner', 'www.example.com')).toMatchObject({ status: 404 })
  },
)
