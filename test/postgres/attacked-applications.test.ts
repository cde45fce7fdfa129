import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { save } from '../../src/testing/calls.ts'
import { counts, isLong, seed } from '../counts.ts'
import { teams } from '../fixtures.ts'
import { createRandom } from '../simulation/random.ts'
import type { ApplicationTask, ScheduleReport } from './application.ts'
import { createFaultyNetwork, type Fault, type FaultyNetwork } from './faulty-network.ts'
import { openDatabase, type TestServer } from './server.ts'

const SCHEDULES = counts.transactions
const random = createRandom(seed)
/** Few registrable domains for many transactions: they wait for each other until one of them ends. */
const SHARED = Array.from({ length: 24 }, (_, index) => `shared${index}.com`)

/** Registered before the attack, for a transaction to release. */
const heldBy = (schedule: number): readonly string[] =>
  ['a', 'b'].map((label, index) => `${label}.held${schedule}.${SHARED[(schedule * 7 + index * 3) % SHARED.length]}`)
const HELD = Array.from({ length: SCHEDULES }, (_, schedule) => heldBy(schedule))

let server: TestServer
let network: FaultyNetwork
let pool: Pool
let application: ChildProcess | undefined
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '50ms' })
  network = await createFaultyNetwork({ host: '127.0.0.1', port: server.config.port as number })
  pool = server.createPool()
  await migrate({ database: pool })
  await pool.query('CREATE TABLE orders (schedule integer, step integer, PRIMARY KEY (schedule, step))')
  const held = HELD.flat()
  const store = createPostgresStore({ database: pool, findTeam: () => teams[0] ?? null })
  for (let start = 0; start < held.length; start += 1000) await save(store, '1', held.slice(start, start + 1000))
})
afterAll(async () => {
  application?.kill('SIGKILL')
  await network.goDown()
  await server.stop()
})

/** Cuts a connection now and then, in the middle of what is on its way. */
const cutSometimes: Fault = ({ chunk }) =>
  random.chance(0.002)
    ? { passes: random.integer(0, chunk.length), isCut: true }
    : { passes: chunk.length, isCut: false }

async function attack(child: ChildProcess): Promise<{ reports: readonly ScheduleReport[]; stops: number }> {
  const counted = { stops: 0 }
  let isOver = false
  async function stopAndContinue(): Promise<void> {
    while (!isOver) {
      await sleep(random.integer(100, 1500))
      child.kill('SIGSTOP')
      await sleep(random.integer(20, 500))
      child.kill('SIGCONT')
      counted.stops += 1
    }
  }
  async function lock(): Promise<void> {
    const client = await pool.connect()
    while (!isOver) {
      await client.query('BEGIN')
      const claim = 'SELECT FROM domain_registration.locks WHERE registrable_domain = $1 FOR UPDATE'
      // It may be the victim of a deadlock among those that wait for it.
      await client.query(claim, [random.pick(SHARED)]).catch(() => {})
      await sleep(random.integer(0, 400))
      await client.query('ROLLBACK')
      await sleep(random.integer(0, 100))
    }
    client.release()
  }

  const attacks = [stopAndContinue(), lock()]
  const answer = once(child, 'message')
  const config = { ...server.config, port: network.port }
  child.send({ config, seed, held: HELD, shared: SHARED } satisfies ApplicationTask)
  const [reports] = (await answer) as [ScheduleReport[]]
  isOver = true
  await Promise.all(attacks)
  return { reports, ...counted }
}

async function readDatabase() {
  const left = "SELECT FROM pg_stat_activity WHERE application_name = 'application' AND datname = current_database()"
  await vi.waitFor(async () => expect((await pool.query(left)).rows).toEqual([]), { timeout: 20_000, interval: 50 })
  const { rows: names } = await pool.query('SELECT domain, domain_id FROM domain_registration.names')
  const { rows: changes } = await pool.query('SELECT domain, domain_id, kind FROM domain_registration.changes')
  const { rows: orders } = await pool.query('SELECT schedule, count(*)::int AS count FROM orders GROUP BY schedule')
  return {
    ids: new Map<string, string>(names.map(row => [row.domain, row.domain_id])),
    changes: new Map<string, string>(changes.map(row => [row.domain, row.kind])),
    orders: new Map<number, number>(orders.map(row => [row.schedule, row.count])),
  }
}

type Contents = Awaited<ReturnType<typeof readDatabase>>

/** What is wrong with one transaction, judged by what is there when all have ended. */
function judge(report: ScheduleReport, { ids, changes, orders }: Contents): string[] {
  const { schedule, sent, answer, told, isSpoiled } = report
  const wrong: string[] = []
  const require = (holds: boolean, what: string) => void (holds || wrong.push(`${schedule}: ${what}`))
  const held = heldBy(schedule)
  const kept = orders.get(schedule) ?? 0
  const isCommitted = kept > 0

  require(report.late === 0, 'a statement was sent after the end of the transaction')
  require(!report.failures.includes('25P02'), 'a call left the transaction unusable')
  if (answer === 'COMMIT') require(kept === report.orders, 'work of the application is lost')
  if (sent === 'COMMIT' && answer === 'ROLLBACK') require(isSpoiled, 'COMMIT was answered ROLLBACK')
  if (sent !== 'COMMIT' || answer === 'ROLLBACK') require(!isCommitted, 'committed, and nobody asked for it')
  if (isCommitted) require(kept === report.orders, 'half of the work of the application is there')

  for (const { domain, domainId, was } of told) {
    if (was === 'created' && isCommitted) require(ids.get(domain) === domainId, `${domain} was created and is lost`)
    if (was === 'released' && isCommitted) require(!ids.has(domain), `${domain} was released and is still there`)
    if (isCommitted || held.includes(domain)) continue
    require(!ids.has(domain), `${domain} is there without its transaction`)
  }
  for (const domain of held) {
    if (!isCommitted) require(ids.has(domain), `${domain} was released without its transaction`)
    require(ids.has(domain) !== (changes.get(domain) === 'released'), `${domain} is half released`)
  }
  for (const { domain } of told) {
    if (held.includes(domain)) continue
    require(ids.has(domain) === (changes.get(domain) === 'registered'), `${domain} is half registered`)
  }
  return wrong
}

test('an application that is stopped, cut off and kept waiting loses nothing in its transactions', async () => {
  application = fork(fileURLToPath(new URL('application.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
  network.suffer(cutSometimes)
  const { reports, stops } = await attack(application)
  const contents = await readDatabase()
  expect(reports.flatMap(report => judge(report, contents))).toEqual([])

  const all = reports.flatMap(({ told }) => told)
  const number = (holds: (report: ScheduleReport) => boolean) => reports.filter(holds).length
  const were = (what: string) => all.filter(({ was }) => was === what).length
  const figures = {
    transactions: reports.length,
    committed: number(({ answer }) => answer === 'COMMIT'),
    cutOff: number(({ sent, answer }) => sent === 'nothing' || answer === null),
    rolledBackInPlaceOfCommit: number(({ sent, answer }) => sent === 'COMMIT' && answer === 'ROLLBACK'),
    created: were('created'),
    released: were('released'),
    failed: were('failed'),
    stops,
    freezes: reports.reduce((sum, { freezes }) => sum + freezes, 0),
  }
  console.info(JSON.stringify(figures))
  expect(figures.transactions).toBe(SCHEDULES)
  const { committed, created, released, cutOff, freezes } = figures
  const happened = { committed, created, released, stops, ...(isLong && { cutOff, freezes }) }
  expect(Object.entries(happened).filter(([, count]) => count === 0)).toEqual([])
}, 600_000)
