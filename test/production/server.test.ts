import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { counts, sample } from '../counts.ts'
import { findFreePort } from '../free-port.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { configurations, proxyNames, startProxy, testBehind } from '../proxies.ts'
import { waitFor } from '../wait-for.ts'
import { addTeam, createCaller, killAll, readMetrics, root, start, toUrl } from './programs.ts'

afterAll(killAll)

describe('examples/production', () => {
  let database: TestServer
  beforeAll(async () => {
    database = await openDatabase()
  })
  afterAll(() => database.stop())

  test('registers, pushes, measures, limits, and stops although callers keep their connections', async () => {
    const env = { DATABASE_URL: toUrl(database.config) }
    const receiver = await start('receiver.ts', env)
    const server = await start('server.ts', { ...env, WEBHOOK_URL: `${receiver.origin}/` })
    const pool = database.createPool()
    const key = await addTeam(database.config, pool)
    const post = createCaller(server, key)
    const domains = ['www.example.com', '*.example.org', 'localhost']
    const { status, text, keepAlive } = await post(domains)
    expect([status, JSON.parse(text).data?.totals]).toEqual([200, { created: 2, existing: 0, invalid: 1 }])
    expect((await post(domains, '9'.repeat(29))).status).toBe(404)
    const { rows } = await pool.query('SELECT domain FROM watched WHERE NOT is_released ORDER BY domain')
    expect(rows).toEqual([{ domain: '*.example.org' }, { domain: 'www.example.com' }])
    expect((await fetch(`${server.origin}/health`)).status).toBe(204)
    expect((await fetch(`${server.origin}/ready`)).status).toBe(204)
    const metrics = await readMetrics(server.origin)
    // Without a type that it knows, Prometheus 3 rejects a response, unless `fallback_scrape_protocol` is set.
    expect(metrics.type).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(metrics.text).toContain('domains_calls_total{method="POST",status="200"} 1\n')
    expect(metrics.text).toContain('domains_calls_total{method="POST",status="404"} 1\n')
    // A load balancer keeps its connections for 600 s, and may use one at the moment in which a server closes it.
    expect(Number(/timeout=(\d+)/.exec(String(keepAlive))?.[1])).toBeGreaterThan(600)

    /** Calls without a pause, until the server accepts no more connections. */
    const statuses = new Set<number | undefined>()
    async function callOn(): Promise<void> {
      try {
        for (;;) statuses.add((await post(domains)).status)
      } catch {}
    }
    const callers = Promise.all(Array.from({ length: 4 }, callOn))
    await waitFor(() => expect(statuses.size).toBeGreaterThan(0))
    server.signal('SIGTERM')
    expect((await server.exited)[0]).toBe(0)
    await callers
    expect([...statuses]).toEqual([200])
    expect(server.printed()).toContain('"event":"stopped"')
    receiver.signal('SIGTERM')
    expect((await receiver.exited)[0]).toBe(0)
    expect(server.errors() + receiver.errors()).toBe('')

    const limited = await start('server.ts', { ...env, CALLS_PER_MINUTE: '2', WEBHOOK_URL: `${receiver.origin}/` })
    const postLimited = createCaller(limited, key)
    const answers = [await postLimited(domains), await postLimited(domains), await postLimited(domains)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
  })
})

test('several replicas may start at once on an empty database', async () => {
  const database = await openDatabase()
  onTestFinished(() => database.stop())
  const pool = database.createPool()
  const other = await pool.connect()
  // Another replica has created the tables, but has not committed yet.
  await other.query('BEGIN')
  await other.query(readFileSync(new URL('examples/production/tables.sql', root), 'utf8'))
  const env = { DATABASE_URL: toUrl(database.config), WEBHOOK_URL: 'http://127.0.0.1:9/' }
  const starting = Promise.all(Array.from({ length: 3 }, () => start('server.ts', env)))
  const waiting = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await Promise.race([starting, waitFor(async () => expect((await pool.query(waiting)).rowCount).toBe(3))])
  await other.query('COMMIT')
  other.release()
  const replicas = await starting
  for (const replica of replicas) replica.signal('SIGTERM')
  for (const replica of replicas) expect((await replica.exited)[0]).toBe(0)
})

for (const proxy of sample(proxyNames, counts.proxies))
  testBehind(
    proxy,
    `behind ${proxy} as in examples/production, restarts lose no call, and after a kill, calls succeed when repeated`,
    async () => {
      const database = await openDatabase()
      onTestFinished(() => database.stop())
      const env = { DATABASE_URL: toUrl(database.config) }
      const receiver = await start('receiver.ts', env)
      // nginx and HAProxy send a call again. Caddy asks each second whether a server is ready.
      const DRAIN = proxy === 'caddy' ? '5000' : '0'
      const ports = [await findFreePort(), await findFreePort()]
      const startReplica = (port: number) =>
        start('server.ts', { ...env, DRAIN, PORT: String(port), WEBHOOK_URL: `${receiver.origin}/` })
      const replicas = await Promise.all(ports.map(startReplica))
      const { socketPath, end } = await startProxy(proxy, configurations[proxy], {
        '127.0.0.1:3001': `127.0.0.1:${ports[0]}`,
        '127.0.0.1:3002': `127.0.0.1:${ports[1]}`,
      })
      onTestFinished(end)
      const pool = database.createPool()
      const post = createCaller({ socketPath }, await addTeam(database.config, pool))

      let succeeded = 0
      const lost: unknown[] = []
      const answered: string[] = []
      let isOver = false
      /** Sends calls of 1 and of 100 names, each until it succeeds. */
      async function callOn(caller: number): Promise<void> {
        const count = caller % 3 === 0 ? 100 : 1
        for (let turn = 0; !isOver; turn += 1) {
          const domains = Array.from(
            { length: count },
            (_, n) => `${'a'.repeat(60)}.n${n}.t${turn}.caller-${caller}.com`,
          )
          for (;;) {
            const { status, text } = await post(domains).catch(error => ({ status: error.code, text: '' }))
            if (status === 200) {
              for (const { domainId } of JSON.parse(text).data.results) answered.push(domainId)
              break
            }
            lost.push(status)
          }
          succeeded += 1
        }
      }
      const someMore = async () => {
        const before = succeeded
        await waitFor(() => expect(succeeded).toBeGreaterThan(before + 50))
      }
      const callers = Promise.all(Array.from({ length: 12 }, (_, caller) => callOn(caller)))
      for (const [index, port] of ports.entries()) {
        await someMore()
        replicas[index]?.signal('SIGTERM')
        expect((await replicas[index]?.exited)?.[0]).toBe(0)
        await someMore()
        const replica = await startReplica(port)
        replicas[index] = replica
        // Caddy asks each second whether a server is ready again. Until then, it would have none without the other one.
        await waitFor(() => expect(replica.printed()).toContain('"event":"call"'))
      }
      await someMore()
      expect(lost).toEqual([])
      replicas[0]?.signal('SIGKILL')
      await someMore()
      isOver = true
      await callers
      // The proxy had no response to pass on: any other failure would be one of the server.
      expect(lost.filter(status => ![502, 504, 'ECONNRESET'].includes(status as number))).toEqual([])
      await waitFor(async () => {
        const { rows } = await pool.query('SELECT domain_id FROM watched WHERE NOT is_released')
        const watched = new Set(rows.map(row => row.domain_id))
        expect(answered.filter(id => !watched.has(id))).toEqual([])
      })
      for (const replica of replicas) expect(replica.errors()).toBe('')
    },
  )
