import { execFileSync } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect as open } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Pool, type PoolConfig } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { domainsHandler } from '../../src/http/fetch.ts'
import { generateApiKey } from '../../src/index.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import type { TraceContext } from '../../src/runtime/tracing.ts'
import type { DomainStore } from '../../src/store/contract.ts'
import { save } from '../../src/testing/calls.ts'
import { createWebhook, verifyWebhook } from '../../src/webhook/index.ts'
import { scopes } from '../fixtures.ts'
import { findFreePort } from '../free-port.ts'
import { fill, mountSmall } from '../mount-small.ts'
import { createMortalServer } from '../postgres/mortal-server.ts'
import { openDatabaseWithTables, startServer, type TestServer } from '../postgres/server.ts'
import { waitFor } from '../wait-for.ts'
import { receive } from '../webhook/receiver.ts'
import { createSqliteProject, type RunOptions, run, toUrl } from './program.ts'

/** Runs the doctor, and returns its exit status and the findings from the given checks. */
async function examine(config: PoolConfig, checks: string | readonly string[], { env, ...options }: RunOptions = {}) {
  const DATABASE_URL = toUrl(config)
  const { code, stdout } = await run(['doctor', '--json'], { ...options, env: { DATABASE_URL, ...env } })
  const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; finding: string }[] }
  return { code, findings: findings.filter(({ check }) => checks.includes(check)) }
}

const team = { organizationId: '10', state: 'active' } as const
const findTeam = (id: string) => ({ ...team, id })

/** A database with tables, for one test, on a separate server or on the shared one. */
async function openWithTables(opened?: Promise<TestServer>): Promise<TestServer> {
  const server = await (opened ?? openDatabaseWithTables())
  onTestFinished(() => server.stop())
  if (opened) await migrate({ database: server.createPool() })
  return server
}

/** The row of docs/runbook.md for each fault. */
const runbook = new Map(
  [
    ...readFileSync('docs/runbook.md', 'utf8').matchAll(
      /^\| (.+?) \| (.*?50[03].*?) \| .+? \| (.+?) \| (.+?) \| .+ \|$/gm,
    ),
  ].map(([, fault = '', callersGet = '', log = '', found = '']) => [
    fault,
    { callersGet, log: quoted(log), checks: quoted(found) },
  ]),
)

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`(.+?)`/g)].map(([, text = '']) => text)
}

const asFound: Fault = async server => ({ config: server.config })

/** Causes a fault. @returns How the application then connects to its database. */
type Fault = (server: TestServer) => Promise<{ config: PoolConfig; timeLimit?: number }>

const sql =
  (statement: string): Fault =>
  async server => {
    const admin = server.createPool()
    await admin.query(sqlOf(statement, server))
    return asFound(server)
  }

const sqlOf = (statement: string, { config }: TestServer) => statement.replace('$database', String(config.database))

/** Faults of the database, by their names in the runbook. Faults that are not listed have their own tests below. */
const databaseFaults: Readonly<Record<string, Fault>> = {
  async 'the database is stopped'(server) {
    return { config: { ...server.config, port: await findFreePort() } }
  },
  async 'the database is slow'({ config }) {
    return { config: { ...config, port: await slowDown(config, 40) }, timeLimit: 100 }
  },
  'the database is read-only': sql('ALTER DATABASE $database SET default_transaction_read_only = on'),
  'tables are missing or changed': sql('DROP TABLE domain_registration.names'),
  async 'the role lacks a privilege'(server) {
    const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
    const admin = server.createPool()
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'its password'`)
    onTestFinished(async () => void (await admin.query(`DROP ROLE ${role}`)))
    return { config: { ...server.config, user: role, password: 'its password' } }
  },
  async 'the password is wrong'({ config }) {
    return { config: { ...config, password: 'wrong' } }
  },
}

test.each(Object.entries(databaseFaults))(
  'when %s, responses, the log, metrics and doctor show what the runbook says',
  async (name, make) => {
    const { config, timeLimit } = await make(await openWithTables())
    const pool = new Pool(config)
    onTestFinished(() => pool.end())
    await compareWithRunbook(name, config, createPostgresStore({ database: pool, findTeam, timeLimit }))
  },
)

/**
 * Makes a call, runs the doctor, and compares both results with the fault's row in the runbook.
 *
 * @returns The doctor's finding.
 */
async function compareWithRunbook(fault: string, config: PoolConfig, store: DomainStore) {
  const { callersGet, log, checks } = runbook.get(fault) ?? { callersGet: '', log: [], checks: [] }
  expect([fault, log]).not.toContainEqual([])
  const { status, outcomes, line } = await callAndReadLog(store)
  expect([callersGet, outcomes]).toEqual([expect.stringContaining(`${status}`), [status === 503 ? 'saved' : 'failed']])
  expect(line).toMatch(
    /^\d{4}-\S+Z domain-registration: \w+ing .+ failed \(create, team 1, 1 name(?:, monitor 127[\d.:]+)?\): /,
  )
  for (const words of log) expect(line).toContain(words)
  const { code, findings } = await examine(config, checks)
  const faults = findings.filter(({ state }) => state !== 'ok')
  expect([code, faults.length]).toEqual([faults.some(({ state }) => state === 'wrong') ? 1 : 0, checks.length])
  return faults[0] as (typeof faults)[0]
}

/** Failures of the database or its driver, by their message in the log. */
const messages: Readonly<Record<string, (server: TestServer) => Promise<Pool>>> = {
  async 'timeout exceeded when trying to connect'(server) {
    const pool = server.createPool({ max: 1 })
    const client = await pool.connect()
    onTestFinished(() => client.release())
    // This limit is set only after the first connection, which may take longer on a busy machine.
    pool.options.connectionTimeoutMillis = 100
    return pool
  },
}

test.each(Object.entries(messages))('docs/runbook.md explains the log message "%s"', async (message, fail) => {
  const pool = await fail(await openWithTables())
  const { status, line } = await callAndReadLog(createPostgresStore({ database: pool, findTeam }))
  expect([status, line]).toEqual([500, expect.stringContaining(message)])
  expect(readFileSync('docs/runbook.md', 'utf8')).toContain(`\n| \`${message}\` |`)
})

test('the runbook explains twenty-one faults', () => {
  expect(runbook.size).toBe(21)
})

/** The queries of the runbook, by the first words of what they answer. */
const queries = [
  ...readFileSync('docs/runbook.md', 'utf8').matchAll(/^([A-Z][^\n]*)(?:\n[^\n]+)*\n\n```sql\n(.*?)```/gms),
].map(([, answers = '', sql = '']) => ({ answers, sql }))

/** Runs the query of the runbook that answers a question. */
async function ask(pool: Pool, question: string) {
  const found = queries.filter(({ answers }) => answers.startsWith(question))
  expect([question, found.length]).toEqual([question, 1])
  return (await pool.query(found[0]?.sql ?? '')).rows
}

test('when a table or a row is locked, responses, the log, metrics and doctor show what the runbook says', async () => {
  const server = await openWithTables()
  const pool = server.createPool()
  const holder = await server.createPool({ application_name: 'report of Ann' }).connect()
  onTestFinished(() => holder.release(true))
  await holder.query('BEGIN; LOCK TABLE domain_registration.names')
  const waiting = server.createPool().query('SELECT FROM domain_registration.names')
  const store = createPostgresStore({ database: server.createPool(), findTeam, timeLimit: 5000 })
  const { finding } = await compareWithRunbook('a table or a row is locked', server.config, store)
  expect(finding).toMatch(
    /^1 connection waits for a lock of session \d+ \(role "postgres", application "report of Ann"\)$/,
  )

  const here = ({ held_by }: { held_by: number }) => held_by === (holder as unknown as { processID: number }).processID
  await waitFor(async () => expect((await ask(pool, 'Who waits')).filter(here)).toHaveLength(1))
  const [found] = (await ask(pool, 'Who waits')).filter(here)
  expect(found).toMatchObject({ application_name: 'report of Ann', state: 'idle in transaction' })
  expect(await ask(pool, 'Which transactions')).toContainEqual(
    expect.objectContaining({ application_name: 'report of Ann', state: 'idle in transaction' }),
  )
  const ended = new Promise(resolve => holder.on('error', resolve))
  await pool.query('SELECT pg_terminate_backend($1)', [found?.held_by])
  await Promise.all([ended, waiting])
})

test('the runbook has a query that shows prepared transactions, which hold locks without a session', async () => {
  const server = await openWithTables(startServer(['-c', 'max_prepared_transactions=1']))
  const pool = server.createPool()
  await pool.query("BEGIN; LOCK TABLE domain_registration.names; PREPARE TRANSACTION 'Ann''s payroll'")
  const waiting = pool.query('SELECT FROM domain_registration.names')
  await waitFor(async () => expect(await ask(pool, 'Who waits')).toMatchObject([{ held_by: 0 }]))
  const { findings } = await examine(server.config, 'locks')
  expect(findings).toMatchObject([
    { state: 'note', finding: '1 connection waits for a lock of a prepared transaction' },
  ])
  expect(await ask(pool, 'Which prepared')).toMatchObject([{ gid: "Ann's payroll", owner: 'postgres' }])
  await pool.query("ROLLBACK PREPARED 'Ann''s payroll'")
  await waiting
})

test('each query of the runbook runs, and shows what it says', async () => {
  const server = await openWithTables()
  const pool = server.createPool()
  await pool.query(sqlOf('ALTER DATABASE $database SET default_transaction_read_only = on', server))
  const database = server.config.database
  expect(await ask(pool, 'Where')).toContainEqual(
    expect.objectContaining({ datname: database, setconfig: ['default_transaction_read_only=on'] }),
  )
  expect(await ask(pool, 'Who uses')).toContainEqual(expect.objectContaining({ usename: 'postgres' }))
  const [clock] = await ask(pool, "The database's clock")
  expect(Object.keys(clock)).toEqual(['now'])
  const sizes = await ask(pool, 'How large')
  expect(sizes.map(({ relname }) => relname).sort()).toEqual([
    'changes',
    'keys',
    'locks',
    'monitor',
    'names',
    'version',
    'waiting',
  ])
  const before = queries.length
  for (const { sql } of queries) await pool.query(sql)
  expect(before).toBe(7)
})

/**
 * Sends one call to a server that uses this store. Returns the response, the first line of the log, and the trace of
 * the call.
 */
async function callAndReadLog(store: DomainStore) {
  const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
  const outcomes: (string | undefined)[] = []
  const note = (context: unknown) => void outcomes.push((context as TraceContext).outcome)
  const end = channel('tracing:domain-registration:register:asyncEnd')
  end.subscribe(note)
  const handle = domainsHandler({ store, authenticate: () => ({ type: 'team', teamId: '1', scopes }) })
  const headers = { 'Content-Type': 'application/json' }
  const request = { method: 'POST', headers, body: '{"domains":["www.example.net"]}' }
  const { status } = await handle(new Request('http://localhost/v1/domains', request))
  const [line] = String(shown.mock.calls[0]?.[0]).split('\n')
  end.unsubscribe(note)
  shown.mockRestore()
  return { status, outcomes, line }
}

/** A network with a latency of some milliseconds in each direction. */
async function slowDown({ host, port }: PoolConfig, milliseconds: number): Promise<number> {
  const server = createServer(client => {
    const upstream = open({ host: String(host), port: Number(port) })
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', chunk => setTimeout(() => to.writable && to.write(chunk), milliseconds))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

test('when no connections are left, responses, the log, metrics and doctor show what the runbook says', async () => {
  const server = await openWithTables(
    startServer(['-c', 'max_connections=4', '-c', 'superuser_reserved_connections=0']),
  )
  const pool = server.createPool({ max: 10 })
  const clients = []
  while (clients.length < 10) {
    const client = await pool.connect().catch(() => undefined)
    if (!client) break
    clients.push(client)
  }
  const store = createPostgresStore({ database: server.createPool(), findTeam })
  const { finding } = await compareWithRunbook('no connections are left', server.config, store)
  for (const client of clients) client.release()
  expect(finding).toContain('too many clients')
})

/** Mounts a small file system for one test, if the current user may. @returns Its folder. */
function mountForTest(bytes: number): string | undefined {
  const disk = mountSmall(bytes)
  if (disk) onTestFinished(disk.unmount)
  return disk?.folder
}

test('when the disk is full, responses, the log, metrics and doctor show what the runbook says', async ({ skip }) => {
  const folder = mountForTest(64_000_000)
  if (folder === undefined) return skip('this user may not mount a file system')
  const server = await openWithTables(startServer())
  const admin = new Client(server.config)
  await admin.connect()
  const owner = execFileSync('stat', ['-c', '%u:%g', (await admin.query('SHOW data_directory')).rows[0].data_directory])
  execFileSync('chown', [String(owner).trim(), folder])
  await admin.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
  await admin.query('CREATE DATABASE small TABLESPACE small')
  await admin.end()
  const config = { ...server.config, database: 'small' }
  const pool = server.createPool({ database: 'small' })
  await migrate({ database: pool })
  const filling = fill(folder)
  const store = createPostgresStore({ database: pool, findTeam })
  const found = await compareWithRunbook('the disk is full', config, store)
  expect(found.finding).toMatch(/No space left/)
  rmSync(filling)
  expect((await examine(config, 'writing')).findings).toMatchObject([{ state: 'ok' }])
})

test('doctor reports that the disk with the SQLite file is full, or is read-only', async ({ skip }) => {
  const folder = mountForTest(2_000_000)
  if (folder === undefined) return skip('this user may not mount a file system')
  const project = createSqliteProject()
  onTestFinished(() => project.remove())
  const surroundings = { cwd: project.folder, env: { DATABASE_URL: join(folder, 'registrations.db') } }
  const examine = async () => {
    const { code, stdout } = await run(['doctor', '--json'], surroundings)
    const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; finding: string }[] }
    return [code, findings.find(({ check, state }) => check === 'writing' || state === 'wrong')?.finding]
  }
  await run(['migrate'], surroundings)
  const filling = fill(folder)
  expect(await examine()).toEqual([1, expect.stringMatching(/(?:is full|disk I\/O error)/)])
  rmSync(filling)
  expect(await examine()).toEqual([0, expect.stringContaining('can be saved')])
  execFileSync('mount', ['--bind', folder, folder])
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  execFileSync('mount', ['-o', 'remount,bind,ro', folder])
  expect(await examine()).toEqual([1, expect.stringMatching(/is read-only|cannot be opened|Could not open/)])
})

test('when the database is a standby, responses, the log, metrics and doctor show what the runbook says', async () => {
  const server = await createMortalServer()
  onTestFinished(() => server.remove())
  await server.start()
  const pool = new Pool(server.config)
  pool.on('error', () => {})
  await migrate({ database: pool })
  const { rows } = await pool.query('SHOW data_directory')
  const signal = join(rows[0].data_directory, 'standby.signal')
  await pool.query('CHECKPOINT')
  await pool.end()
  await server.killAll()
  writeFileSync(signal, '')
  // Not awaited: `start` waits until the server accepts writes, which a standby never does.
  void server.start().catch(() => {})
  const isStandby = async () => {
    const asking = new Client(server.config)
    asking.on('error', () => {})
    try {
      await asking.connect()
      return true
    } catch {
      return false
    } finally {
      await asking.end().catch(() => {})
    }
  }
  while (!(await isStandby())) await sleep(50)
  const after = new Pool(server.config)
  after.on('error', () => {})
  const store = createPostgresStore({ database: after, findTeam })
  const { finding } = await compareWithRunbook(
    'after a failover, the server is connected to a standby',
    server.config,
    store,
  )
  await after.end()
  rmSync(signal)
  expect(finding).toBe('the server is a standby, and read-only')
})

test('when the server’s clock is ahead, a key that expires soon gets 401 early, as the runbook says', async () => {
  expect(runbook.get('a clock is wrong')?.callersGet).toContain('401 for keys with an expiry date')
  const server = await openWithTables()
  const database = server.createPool()
  const keys = createPostgresKeyStore({ database })
  const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
  const expiresAt = new Date(Date.now() + 60_000)
  await keys.addKey({ hash, type: 'team', ownerId: '1', scopes, expiresAt })
  const handle = domainsHandler({ store: createPostgresStore({ database, findTeam }), keys })
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
  const request = () =>
    new Request('http://localhost/v1/domains', { method: 'POST', headers, body: '{"domains":["www.example.com"]}' })
  expect((await handle(request())).status).toBe(200)
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 180_000)
  const { status } = await handle(request())
  clock.mockRestore()
  expect(status).toBe(401)
})

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const otherSecret = `whsec_${Buffer.alloc(24, 2).toString('base64')}`

interface Monitor {
  readonly answer?: Parameters<typeof receive>[0]
  readonly isGone?: boolean
}

/** A receiver that verifies requests with a wrong secret or a wrong clock. */
const verifying = (expected: string, skew = 0): Monitor => ({
  async answer(response, { headers, body }) {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + skew)
    const verified = verifyWebhook(headers, body, expected)
    await verified.then(
      () => response.writeHead(204).end(),
      ({ message }: Error) => response.writeHead(401).end(message),
    )
    clock.mockRestore()
  },
})

/** Faults of the monitor, by their names in the runbook. */
const monitors: Readonly<Record<string, Monitor>> = {
  'the monitor is unavailable': { isGone: true },
  'the monitor refuses changes': { answer: response => response.writeHead(422).end('unknown team') },
  'the monitor has a different secret': verifying(otherSecret),
  'the monitor is slow': { answer: () => {} },
  'a clock is wrong': verifying(secret, 600_000),
}

test.each(Object.entries(monitors))(
  'when %s, responses, the log, metrics and doctor show what the runbook says',
  async (name, { answer, isGone }) => {
    const server = await openWithTables()
    const pool = server.createPool()
    const { url } = isGone ? { url: `http://127.0.0.1:${await findFreePort()}/changes` } : await receive(answer)
    const synchronize = createWebhook({ url, secret, timeLimit: 500 })
    const store = createPostgresStore({ database: pool, findTeam, synchronize, onError: () => {} })
    const saved = await save(store, '1', ['www.example.com', 'www.example.org'])
    await Promise.resolve(store.synchronize?.(saved)).catch(() => {})
    await pool.query("UPDATE domain_registration.changes SET since = since - interval '6 minutes'")
    const row = runbook.get(name)
    const found = await compareWithRunbook(name, server.config, store)
    for (const words of row?.log ?? []) expect(found.finding).toContain(words)
  },
)
