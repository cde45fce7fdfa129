import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { type Reply, txt } from '../dns-verification/dns-server.ts'
import { serveDns } from '../dns-verification/serve-dns.ts'
import { listen } from '../listen.ts'
import { createPlatform } from './platform.ts'

vi.setConfig({ testTimeout: 60_000 })
/** Releases are pushed by a sweep. */
const patience = 30_000
const root = new URL('../..', import.meta.url)
const secret = 'the secret of the tests, 32 bytes and more'
const { record } = createDnsVerification({ label: '_example-challenge', secret })

/** Runs examples/custom-domains.ts with a platform and a DNS of the test. */
async function start() {
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
    INTERVAL: '20',
    PORT: '0',
    LOOKUP_PORT: '0',
  }
  const program = spawn(process.execPath, ['--import', 'tsx', 'examples/custom-domains.ts'], {
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
  let printed = ''
  program.stdout.setEncoding('utf8')
  while (!printed.endsWith('\n')) {
    const chunk = await Promise.race([once(program.stdout, 'data'), exited.then(() => null)])
    if (!chunk) throw new Error(errors)
    printed += chunk[0]
  }
  const [port, lookupPort] = (printed.match(/\d+/g) ?? []).map(Number) as [number, number]

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
  const { results } = await call('POST', '/v1/domains/preview', domains)
  expect(results).toMatchObject([
    { status: 'invalid', reason: 'not_verified', record: await record('1', 'example.com') },
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
  await vi.waitFor(
    async () =>
      expect(await states()).toEqual({
        'example.com': { status: 'active' },
        'www.example.com': { status: 'pending', message },
      }),
    patience,
  )
  www.ssl.status = 'validation_timed_out'
  await vi.waitFor(async () =>
    expect(await states()).toMatchObject({ 'www.example.com': { status: 'error', message } }),
  )

  const site = (Host: string) => get({ port }, '/', { Host })
  expect((await site('EXAMPLE.com:8443')).body).toBe('The site of team 1\n')
  expect(await site('shop.example.com')).toMatchObject({ status: 404 })

  expect(await call('POST', '/v1/domains/delete', ['example.com'])).toMatchObject({ status: 200 })
  expect(await call('POST', '/v1/domains', ['net.example.com'], '2')).toMatchObject({
    results: [{ status: 'invalid' }],
  })
  await vi.waitFor(() => expect([...platform.hostnames.keys()]).toEqual(['www.example.com']), patience)
  expect(Object.keys(await states())).toEqual(['www.example.com'])
  expect(await site('example.com')).toMatchObject({ status: 404 })
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

test('a change that arrives late does not remove a name that is registered again', async () => {
  const { platform, call, states, prove } = await start()
  const isGone = (domain: string) => vi.waitFor(() => expect(platform.hostnames.has(domain)).toBe(false), patience)
  await prove('1', 'example.com')
  await call('POST', '/v1/domains', ['example.com', 'a.example.com', 'b.example.com'])
  // What is active is not asked for again, so nothing else could add the name again.
  for (const hostname of platform.hostnames.values()) hostname.status = hostname.ssl.status = 'active'
  await vi.waitFor(async () => expect(await states()).toMatchObject({ 'example.com': { status: 'active' } }), patience)
  platform.settings.outage = 503
  await call('POST', '/v1/domains/delete', ['example.com', 'a.example.com'])
  const calls = platform.calls.length
  await vi.waitFor(() => expect(platform.calls.length).toBeGreaterThan(calls + 1), patience)
  platform.settings.outage = undefined
  expect(await call('POST', '/v1/domains', ['example.com'])).toMatchObject({ results: [{ status: 'created' }] })
  // Two sweeps: the first one pushes the release of the first registration of example.com.
  await isGone('a.example.com')
  await call('POST', '/v1/domains/delete', ['b.example.com'])
  await isGone('b.example.com')
  expect([...platform.hostnames.keys()]).toEqual(['example.com'])
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

const NGINX = '/usr/sbin/nginx'
const hasNginx = existsSync(NGINX)
test.skipIf(!hasNginx)(
  hasNginx
    ? 'nginx as in docs/custom-domains.md passes on requests for registered hosts, with their team'
    : 'behind nginx: skipped, because nginx is not installed (Debian: apt-get install nginx)',
  async () => {
    const { lookupPort, call, prove } = await start()
    await prove('1', 'example.com')
    await call('POST', '/v1/domains', ['www.example.com'])
    const site = await listen((request, response) => response.end(`${request.headers['x-team-id']}`))
    onTestFinished(site.close)
    const nginx = { socketPath: await startNginx(new URL(site.origin).port, lookupPort) }
    expect(await get(nginx, '/', { Host: 'www.example.com', 'X-Team-Id': '2' })).toMatchObject({
      status: 200,
      body: '1',
    })
    expect(await get(nginx, '/', { Host: 'example.com', 'X-Team-Id': '2' })).toMatchObject({ status: 403 })
    expect(await get(nginx, '/_owner', { Host: 'www.example.com' })).toMatchObject({ status: 404 })
  },
)

/** Starts nginx with the configuration of docs/custom-domains.md. Resolves to its socket. */
async function startNginx(port: string, lookupPort: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o755)
  const [, shown = ''] = /```nginx\n(.*?)```/s.exec(readFileSync(new URL('docs/custom-domains.md', root), 'utf8')) ?? []
  const socketPath = join(folder, 'socket')
  const conf = shown
    .replace(/listen 443 .*?;\n.*ssl_certificate .*;\n.*ssl_certificate_key .*;/, `listen unix:${socketPath};`)
    .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
    .replace('127.0.0.1:3001', `127.0.0.1:${lookupPort}`)
  expect(conf).not.toMatch(/:300\d|443/)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${folder}/${name};`,
  )
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; error_log /dev/null; pid ${folder}/pid; events {}
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    http { access_log off; ${temporary.join(' ')} ${conf} }`,
  )
  const nginx = spawn(NGINX, ['-c', join(folder, 'nginx.conf'), '-e', '/dev/null'], { stdio: 'ignore' })
  const exited = once(nginx, 'exit')
  onTestFinished(async () => {
    nginx.kill()
    await exited
  })
  await vi.waitFor(() => expect(existsSync(socketPath)).toBe(true), 10_000)
  return socketPath
}
