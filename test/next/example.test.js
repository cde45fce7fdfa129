/** Builds, starts and calls `examples/nextjs`, and the program of AGENTS.md below /agents, with a real PostgreSQL. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { findFreePort } from '../free-port.ts'
import { startServer } from '../postgres/server.ts'

const examples = join(import.meta.dirname, '../../examples')
const folder = join(import.meta.dirname, 'example')
const start = (env, ...parameters) =>
  spawn(process.execPath, ['../node_modules/next/dist/bin/next', ...parameters], {
    cwd: folder,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Writes the blocks of AGENTS.md that begin with the name of a file, and the file that is left to the reader. */
function copyAgents(target) {
  const guide = readFileSync(join(examples, '../AGENTS.md'), 'utf8')
  const blocks = [...guide.matchAll(/^```ts\n\/\/ app\/(\S+)\n(.*?)^```/gms)]
  assert.equal(blocks.length, 3)
  for (const [, file, program] of blocks) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    writeFileSync(join(target, file), program)
  }
  writeFileSync(
    join(target, 'session.ts'),
    "export const findSession = async (headers: Headers) => headers.get('cookie') === 'ada' ? { teamId: '1' } : null",
  )
}

const pushed = []
const monitor = createServer(async (request, response) => {
  const { changes } = JSON.parse(await new Response(request).text()).data
  pushed.push(...changes.map(({ domain }) => domain))
  response.writeHead(204).end()
})

let database
let server
let origin

before(async () => {
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(examples, 'nextjs'), folder, { recursive: true })
  for (const file of ['within-drizzle.ts', 'sweep-by-cron.ts']) cpSync(join(examples, file), join(folder, 'app', file))
  // The package under test is in a folder above this one.
  renameSync(join(folder, 'next.config.ts'), join(folder, 'own.config.ts'))
  writeFileSync(
    join(folder, 'next.config.ts'),
    `import own from './own.config'
    export default { ...own, turbopack: { root: ${JSON.stringify(join(examples, '..'))} } }`,
  )
  copyAgents(join(folder, 'app/agents'))
  writeFileSync(join(folder, 'tsconfig.json'), '{"compilerOptions":{"strict":true}}')
  // The build gets no settings, because a build has no secrets.
  const build = start({}, 'build')
  build.stdout.pipe(process.stderr)
  assert.equal((await once(build, 'exit'))[0], 0)

  await once(monitor.listen(0, '127.0.0.1'), 'listening')
  database = await startServer()
  const { user, password, host, port, database: name } = database.config
  const own = await findFreePort()
  server = start(
    {
      BETTER_AUTH_URL: `http://127.0.0.1:${own}`,
      DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${name}`,
      BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
      CRON_SECRET: 'secret of a scheduler',
      MONITOR_URL: `http://127.0.0.1:${monitor.address().port}/`,
      WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    },
    ...['start', '--port', String(own), '--hostname', '127.0.0.1'],
  )
  let printed = ''
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += text
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
    if (origin && /Ready/.test(printed)) break
  }
  server.stdout.resume()
  assert.ok(origin, printed)
})

after(async () => {
  monitor.close()
  if (server && server.exitCode === null) {
    const exit = once(server, 'exit')
    server.kill()
    await exit
  }
  await database?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Logs a new user in. Returns how they call. */
async function signUp(name) {
  let cookie = ''
  async function call(method, path, body) {
    const headers = { 'Content-Type': 'application/json', Origin: origin, Cookie: cookie }
    const response = await fetch(origin + path, { method, headers, body: body && JSON.stringify(body) })
    const set = response.headers.getSetCookie().map(text => text.split(';')[0])
    if (set.length > 0) cookie = set.join('; ')
    return { status: response.status, answer: await response.json().catch(() => null) }
  }
  const { status } = await call('POST', '/api/auth/sign-up/email', {
    ...{ name, email: `${name}@example.com`, password: 'a long password' },
  })
  assert.equal(status, 200)
  return call
}

test('a member of an organization registers names, also with an order; others do not', async () => {
  const ada = await signUp('ada')
  const register = (call, ...domains) => call('POST', '/v1/domains/', { domains })
  assert.equal((await register(ada, 'www.example.com')).status, 403)
  const created = await ada('POST', '/api/auth/organization/create', { name: 'Ada', slug: 'ada' })
  assert.equal(created.status, 200)
  const active = { organizationId: created.answer.id }
  assert.equal((await ada('POST', '/api/auth/organization/set-active', active)).status, 200)
  const { status, answer } = await register(ada, 'www.example.com', 'localhost')
  assert.deepEqual([status, answer.data?.totals], [200, { created: 1, existing: 0, invalid: 1 }])

  // An order is placed with all of its names, or not at all.
  assert.equal((await ada('POST', '/api/orders', { domains: ['a.example.net', 'localhost'] })).status, 422)
  assert.equal((await ada('POST', '/api/orders', { domains: [] })).status, 400)
  assert.equal((await ada('POST', '/api/orders', { domains: ['b.example.net'] })).status, 201)
  const list = await ada('GET', '/v1/domains')
  assert.deepEqual(
    list.answer.data.domains.map(({ domain }) => domain),
    ['www.example.com', 'b.example.net'],
  )
  const pool = database.createPool()
  assert.equal((await pool.query('SELECT FROM orders')).rowCount, 1)

  const eve = await signUp('eve')
  assert.equal((await eve('POST', '/api/auth/organization/set-active', active)).status, 403)
  // Even a session that names the organization does not help somebody who does not belong to it.
  await pool.query(
    `UPDATE session SET "activeOrganizationId" = $1 WHERE "userId" = (
    SELECT id FROM "user" WHERE name = 'eve')`,
    [active.organizationId],
  )
  assert.equal((await register(eve, 'eve.example.com')).status, 403)
  assert.equal((await fetch(`${origin}/v1/domains`, { method: 'POST' })).status, 401)

  // The order's name is pending until a sweep.
  assert.deepEqual(pushed, ['www.example.com'])
  const sweep = key => fetch(`${origin}/api/sweep`, { headers: { Authorization: `Bearer ${key}` } })
  assert.equal((await sweep('wrong')).status, 401)
  const swept = await sweep('secret of a scheduler')
  assert.deepEqual([swept.status, (await swept.json()).count], [200, 0])
  assert.deepEqual(pushed.sort(), ['b.example.net', 'www.example.com'])

  // One pool for routes, pages and the start of the server.
  const text = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()`
  assert.ok((await pool.query(text)).rows[0].count <= 12)
})

test('the page has the element', async () => {
  assert.match(await (await fetch(`${origin}/domains`)).text(), /<domain-registration url="\/v1\/domains"/)
})

test('the program of AGENTS.md registers names, also with an order', async () => {
  const pool = database.createPool()
  await pool.query(`CREATE TABLE teams (id integer PRIMARY KEY, organization_id integer NOT NULL, state text NOT NULL)`)
  await pool.query(`INSERT INTO teams VALUES (1, 10, 'active')`)
  await pool.query('ALTER TABLE orders ALTER id SET DEFAULT gen_random_uuid()')
  async function call(path, domains, cookie = 'ada') {
    const headers = { 'Content-Type': 'application/json', Cookie: cookie }
    const body = domains && JSON.stringify({ domains })
    const response = await fetch(`${origin}/agents${path}`, { method: body ? 'POST' : 'GET', headers, body })
    return { status: response.status, answer: await response.json() }
  }
  const registered = await call('/v1/domains', ['www.example.org', 'localhost'])
  assert.deepEqual([registered.status, registered.answer.data?.totals.created], [200, 1])
  const countOrders = async () => (await pool.query(`SELECT FROM orders WHERE team_id = '1'`)).rowCount
  const refused = await call('/api/orders', ['a.example.org', 'localhost'])
  assert.deepEqual([refused.status, refused.answer.invalid?.map(({ input }) => input)], [422, ['localhost']])
  assert.equal((await call('/api/orders', [])).status, 400)
  const cut = { method: 'POST', headers: { Cookie: 'ada' }, body: '{' }
  assert.equal((await fetch(`${origin}/agents/api/orders`, cut)).status, 400)
  assert.equal(await countOrders(), 0)
  assert.equal((await call('/api/orders', ['b.example.org'])).status, 201)
  assert.equal(await countOrders(), 1)
  for (const path of ['/v1/domains', '/api/orders'])
    assert.equal((await call(path, ['c.example.org'], 'eve')).status, 401)
  const list = await call('/v1/domains')
  assert.deepEqual(
    list.answer.data.domains.map(({ domain }) => domain),
    ['www.example.org', 'b.example.org'],
  )
})
