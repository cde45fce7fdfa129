import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { importDomains } from '../../src/operations/import-domains.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { createWebhook } from '../../src/webhook/index.ts'
import { createFaultyNetwork, noFault, silence } from '../postgres/faulty-network.ts'
import { createMortalServer } from '../postgres/mortal-server.ts'
import { openDatabase } from '../postgres/server.ts'
import { waitFor } from '../wait-for.ts'
import { addTeam, createCaller, killAll, readMetrics, secret, start, toUrl } from './programs.ts'

afterAll(killAll)

test.concurrent('an export that nobody reads, and a second signal, do not delay or spoil the stop', async ({
  onTestFinished,
}) => {
  const database = await openDatabase()
  onTestFinished(() => database.stop())
  const server = await start('server.ts', { DATABASE_URL: toUrl(database.config), WEBHOOK_URL: 'http://127.0.0.1:9/' })
  const pool = database.createPool()
  const key = await addTeam(database.config, pool)
  const store = createPostgresStore({ database: pool, findTeam: () => null })
  const now = new Date()
  // 18 MB, more than the buffers of the connection hold.
  const long = `${'a'.repeat(60)}.`.repeat(3)
  await importDomains(
    store,
    (function* () {
      for (let index = 0; index < 60_000; index += 1)
        yield {
          domain: `host-${index}.${long}example.com`,
          domainId: `01a1fdc4-24dc-7291-9bdf-${index.toString(16).padStart(12, '0')}`,
          teamId: '1',
          createdAt: now,
          synchronized: true,
        }
    })(),
  )
  const caller: Socket = connect(server.port, '127.0.0.1')
  onTestFinished(() => void caller.destroy())
  caller.on('error', () => {})
  caller.write(
    `GET /v1/domains/export?format=ndjson&team_id=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  )
  expect(String((await once(caller, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
  caller.pause()

  server.signal('SIGTERM')
  server.signal('SIGINT')
  server.signal('SIGTERM')
  // By itself, an export ends after 30 s without a reader.
  const killer = setTimeout(() => server.signal('SIGKILL'), 25_000)
  expect(await server.exited).toEqual([0, null])
  clearTimeout(killer)
  expect(server.printed()).toContain('"event":"stopped"')
  expect(server.errors()).toBe('')
})

test.concurrent('while PostgreSQL is stopped, metrics count failures; once it is back, calls succeed', async ({
  onTestFinished,
}) => {
  const database = await createMortalServer()
  onTestFinished(() => database.remove())
  await database.start()
  const server = await start('server.ts', { DATABASE_URL: toUrl(database.config), WEBHOOK_URL: 'http://127.0.0.1:9/' })
  const pool = new pg.Pool(database.config)
  pool.on('error', () => {})
  const key = await addTeam(database.config, pool)
  await pool.end()
  const post = createCaller(server, key)

  await database.killAll()
  expect((await post(['www.example.com'])).status).toBe(500)
  const metrics = await readMetrics(server.origin)
  expect(metrics.status).toBe(200)
  expect(metrics.text).toContain('domains_calls_total{method="POST",status="500"} 1\n')
  expect((await fetch(`${server.origin}/health`)).status).toBe(204)
  await waitFor(async () =>
    expect((await readMetrics(server.origin)).text).toContain('domain_registration_pending Nan\n'),
  )
  await database.start()
  // There is no receiver: the name is saved, and the push is pending.
  expect((await post(['www.example.com'])).status).toBe(503)
  await waitFor(async () =>
    expect((await readMetrics(server.origin)).text).toContain('domain_registration_pending 1\n'),
  )
  server.signal('SIGTERM')
  expect((await server.exited)[0]).toBe(0)
})

test.concurrent('while the database accepts and never answers, metrics respond, calls fail, and a stop ends', async ({
  onTestFinished,
}) => {
  const database = await openDatabase()
  onTestFinished(() => database.stop())
  const network = await createFaultyNetwork({ host: '127.0.0.1', port: Number(database.config.port) })
  onTestFinished(() => network.goDown())
  const url = toUrl({ ...database.config, port: network.port })
  const server = await start('server.ts', { DATABASE_URL: url, WEBHOOK_URL: 'http://127.0.0.1:9/' })
  const receiver = await start('receiver.ts', { DATABASE_URL: url })
  const key = await addTeam(database.config, database.createPool())
  const post = createCaller(server, key)
  expect((await post(['www.example.com'])).status).toBe(503)

  const synchronize = createWebhook({ url: `${receiver.origin}/`, secret, timeLimit: 60_000 })
  const change = {
    ...{ kind: 'registered' as const, domainId: '1', domain: 'example.org', registrableDomain: 'example.org' },
    ...{ teamId: '1', at: new Date() },
  }
  const push = () => Promise.resolve(synchronize([change]))

  network.suffer(silence)
  const call = post(['www.example.org'])
  await waitFor(async () =>
    expect((await readMetrics(server.origin)).text).toContain('domain_registration_pending Nan\n'),
  )
  await expect(push()).rejects.toThrow('503')
  expect((await call).status).toBe(500)
  expect((await readMetrics(server.origin)).text).toContain('domains_calls_total{method="POST",status="500"} 1\n')

  network.suffer(noFault)
  expect((await post(['www.example.org'])).status).toBe(503)
  await push()

  network.suffer(silence)
  const { client } = network.carried
  const lost = post(['www.example.net']).catch(() => null)
  await waitFor(() => expect(network.carried.client).toBeGreaterThan(client))
  const killer = setTimeout(() => server.signal('SIGKILL'), 25_000)
  for (const each of [server, receiver]) each.signal('SIGTERM')
  expect(await server.exited).toEqual([0, null])
  clearTimeout(killer)
  expect(await receiver.exited).toEqual([0, null])
  await lost
})
