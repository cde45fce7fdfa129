/**
 * The longest time for which an export and a `reconcile` of a million names block the event loop, with each store. Each
 * run measures the CPU time of the longest turn of the event loop; the figure is the minimum of several runs. Reader
 * and server share one process.
 */
import { domainsHandler } from '../src/http/fetch.ts'
import { createMemoryStore, type DomainStore, eachRegistration, reconcile } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { createSqliteStore } from '../src/sqlite/index.ts'
import { createRequest, toTestName } from '../src/testing/calls.ts'
import { startServer } from '../test/postgres/server.ts'
import { openDatabase } from '../test/sqlite/open-database.ts'
import { keyContext, report, team } from './measure.ts'

const MILLION = 1_000_000
const RUNS = 2

/** CPU time of the longest turn of the event loop, in milliseconds. */
async function measureTurns(work: () => Promise<void>): Promise<number> {
  let longest = 0
  let before = process.cpuUsage()
  let isOver = false
  function turn(): void {
    const { user, system } = process.cpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.cpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return longest
}

async function exportAll(store: DomainStore): Promise<void> {
  const authenticate = () => ({ ...keyContext, scopes: ['domains:read'] })
  const handle = domainsHandler({ store, authenticate, operations: ['export'] })
  const response = await handle(new Request('http://localhost/v1/domains/export?format=csv'))
  let lines = 0
  for await (const chunk of response.body ?? []) for (const byte of chunk) if (byte === 10) lines += 1
  if (lines < MILLION) throw new Error(`Only ${lines} lines`)
}

/** Calls `reconcile` with the list of a monitor that watches all names except one. */
async function compareAll(store: DomainStore): Promise<void> {
  const corrections: unknown[] = []
  for await (const correction of reconcile(store, withoutFirst(eachRegistration(store)))) corrections.push(correction)
  if (corrections.length !== 1) throw new Error(`${corrections.length} corrections`)
}

async function* withoutFirst<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let isFirst = true
  for await (const item of items) {
    if (!isFirst) yield item
    isFirst = false
  }
}

const findTeam = () => team

async function fillMemory(): Promise<DomainStore> {
  const store = createMemoryStore({ teams: [team] })
  for (let first = 0; first < MILLION; first += 1000) {
    const names = Array.from({ length: 1000 }, (_, index) => `name-${first + index}.com`)
    await store.register(createRequest(team.id, [], [], () => names.map(toTestName)))
  }
  return store
}

async function fillSqlite(): Promise<DomainStore> {
  const database = openDatabase()
  const store = createSqliteStore({ database, findTeam })
  database.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MILLION})
    INSERT INTO domain_registration_names
      (domain_id, domain, registrable_domain, second_level_domain, path, team_id, created_at)
    SELECT printf('%08x-0000-7000-8000-000000000000', n), name, name, name, '', '${team.id}', 0
    FROM (SELECT n, 'name-' || n || '.com' AS name FROM numbers)`)
  return store
}

const server = await startServer(['-c', 'fsync=off'])
async function fillPostgres(): Promise<DomainStore> {
  const database = server.createPool({ max: 2 })
  await migrate({ database })
  await database.query(`
    INSERT INTO domain_registration.names
      (domain_id, created_at, second_level_domain, path, domain, registrable_domain, team_id)
    SELECT lpad(to_hex(n), 32, '0')::uuid, now(), name, '', name, name, '${team.id}'
    FROM generate_series(1, ${MILLION}) AS n, LATERAL (SELECT 'name-' || n || '.com') AS names (name)`)
  return createPostgresStore({ database, findTeam })
}

let longest = { name: '', spent: 0 }
for (const [name, fill] of Object.entries({ memory: fillMemory, SQLite: fillSqlite, PostgreSQL: fillPostgres })) {
  const store = await fill()
  for (const work of [exportAll, compareAll]) {
    let spent = Number.POSITIVE_INFINITY
    for (let run = 0; run < RUNS; run += 1) spent = Math.min(spent, await measureTurns(() => work(store)))
    console.log(`${work.name}, ${name}: ${spent.toFixed(1)} ms`)
    if (spent > longest.spent) longest = { name: `${work.name}, ${name}`, spent }
  }
}
await server.stop()
console.log(`longest: ${longest.name}, ${longest.spent.toFixed(1)} ms`)
report({ holdMillion: longest.spent })
