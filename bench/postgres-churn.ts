/** A million names registered and released with 100,000 held all the time: what grows, and what that costs a call. */
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { keyContext, median, newNames, report, team, time } from './measure.ts'

const HELD = 100_000
const CHURN = 1_000_000
const SIZE = 100
const CALLERS = 4
const CALLS = 200
const SCHEMA = 'domain_registration'

const server = await startServer()
const database = server.createPool({ max: CALLERS + 1, pipeline: true })
await migrate({ database })
const store = createPostgresStore({ database, findTeam: () => team, synchronize: () => {} })

const held: string[] = []

/** Removes names of any age: what is left of old ones keeps their pages of an index. */
function drawHeld(): string[] {
  return Array.from({ length: SIZE }, () => {
    const place = Math.floor(Math.random() * held.length)
    const last = held.pop() as string
    return place === held.length ? last : (held.splice(place, 1, last)[0] as string)
  })
}

async function register(): Promise<void> {
  const domains = newNames(SIZE)
  const { data } = await registerDomains(keyContext, { domains }, store)
  if (data.totals.created !== SIZE) throw new Error('Not created')
  held.push(...domains)
}

async function replace(): Promise<void> {
  const released = await store.release(team.id, drawHeld())
  if (released.length !== SIZE) throw new Error('Not released')
  await store.synchronizePending({ limit: 1000 })
  await register()
}

/** Several callers make so many calls together. */
async function repeat(work: () => Promise<void>, calls: number): Promise<void> {
  let left = calls
  async function call(): Promise<void> {
    while (left > 0) {
      left -= 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
}

/** @returns The median time of a call that replaces 100 names, alone, in milliseconds. */
async function measure(): Promise<number> {
  const spent: number[] = []
  for (let call = 0; call < CALLS; call += 1) spent.push(await time(replace))
  return median(spent)
}

async function readSizes(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.query<{ name: string; size: string }>(
    `SELECT relname AS name, pg_relation_size(oid) AS size FROM pg_class
     WHERE relnamespace = '${SCHEMA}'::regnamespace AND relkind IN ('r', 'i') ORDER BY relname`,
  )
  return new Map(rows.map(({ name, size }) => [name, Number(size) / 2 ** 20]))
}

await repeat(register, HELD / SIZE)
await database.query('VACUUM ANALYZE')
const before = await measure()
await repeat(replace, CHURN / SIZE)
const after = await measure()
const grown = await readSizes()
const { rows } = await database.query(
  `SELECT (SELECT count(*) FROM ${SCHEMA}.locks)::integer AS locks,
     (SELECT count(DISTINCT registrable_domain) FROM ${SCHEMA}.names)::integer AS held`,
)
for (const table of ['names', 'changes', 'locks']) await database.query(`VACUUM FULL ${SCHEMA}.${table}`)
const rebuilt = await readSizes()
for (const [name, size] of grown)
  console.log(`${name}: ${size.toFixed(1)} MB, rebuilt ${(rebuilt.get(name) ?? 0).toFixed(1)} MB`)
await server.stop()
report({ churnLocks: rows[0].locks / rows[0].held, churnCall: after / before })
