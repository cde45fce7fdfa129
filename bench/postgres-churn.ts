/**
 * Registers and releases a million names while 100,000 others stay registered. Finds out which tables grow, and how
 * much slower calls become. To replace three million names: `CHURN=3000000 node --import tsx bench/postgres-churn.ts`.
 */
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { compare, keyContext, newNames, report, team, time } from './measure.ts'

const HELD = 100_000
const CHURN = Number(process.env.CHURN ?? 1_000_000)
const SIZE = 100
const CALLERS = 4
/** After a checkpoint, the first write to a page logs the whole page; later writes log only the change. */
const FLAGS = ['shared_buffers=4GB', 'max_wal_size=16GB', 'checkpoint_timeout=1h']
const TURNS = { warmUp: 50, rounds: 200 }

const server = await startServer(FLAGS.flatMap(flag => ['-c', flag]))
const database = server.createPool({ max: CALLERS + 1, pipeline: true })

/** Registers 100,000 names in a separate schema, and returns a function that replaces 100 of them. */
async function hold(schema: string): Promise<() => Promise<void>> {
  await migrate({ database, schema })
  const store = createPostgresStore({
    database,
    schema,
    findTeam: () => team,
    timeLimit: 60_000,
    synchronize: () => {},
  })
  const held: string[] = []

  /** Removes names of random age, so some old names remain and keep their index pages in use. */
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

  await repeat(register, HELD / SIZE)
  await database.query('VACUUM ANALYZE')
  return async () => {
    const released = await store.release(team.id, drawHeld())
    if (released.length !== SIZE) throw new Error('Not released')
    await store.synchronizePending({ limit: 1000 })
    await register()
  }
}

/** Makes calls from several callers at the same time. */
async function repeat(work: () => Promise<void>, calls: number): Promise<void> {
  let left = calls
  async function call(): Promise<void> {
    while (left > 0) {
      left -= 1
      if (left % 1000 === 0) console.log(`${left} calls left after ${Math.round(performance.now() / 1000)} s`)
      await work()
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
}

async function readSizes(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.query<{ name: string; size: string }>(
    `SELECT relname AS name, pg_relation_size(oid) AS size FROM pg_class
     WHERE relnamespace = 'churned'::regnamespace AND relkind IN ('r', 'i') ORDER BY relname`,
  )
  return new Map(rows.map(({ name, size }) => [name, Number(size) / 2 ** 20]))
}

const replaceChurned = await hold('churned')
await repeat(replaceChurned, CHURN / SIZE)
const grown = await readSizes()
const { rows } = await database.query(
  `SELECT (SELECT count(*) FROM churned.locks)::integer AS locks, (SELECT count(*) FROM churned.changes) AS pending,
     (SELECT count(DISTINCT registrable_domain) FROM churned.names)::integer AS held`,
)

// Compares calls to this schema with calls to a second schema, which has as many names, but where no name was ever
// replaced. Calls to the two schemas alternate. When the second schema is filled, all tables are vacuumed, as
// autovacuum would do.
const replaceFresh = await hold('fresh')
const churnCall = await compare(
  () => {},
  TURNS,
  () => time(replaceChurned),
  () => time(replaceFresh),
)

for (const table of ['names', 'changes', 'locks']) await database.query(`VACUUM FULL churned.${table}`)
const rebuilt = await readSizes()
for (const [name, size] of grown)
  if (size > 1) console.log(`${name}: ${size.toFixed(1)} MB, rebuilt ${(rebuilt.get(name) ?? 0).toFixed(1)} MB`)
console.log(rows[0])
await server.stop()
report({ churnLocks: rows[0].locks / rows[0].held, churnCall })
