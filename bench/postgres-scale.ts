import { cpus, loadavg } from 'node:os'
import type { Pool } from 'pg'
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate, postgresSchema } from '../src/postgres/index.ts'
import { startServer, type TestServer } from '../test/postgres/server.ts'
import { record } from './figures.ts'
import { BATCH, createBareInsert, inputs, keyContext, median, nextNames, print, team, time, word } from './postgres.ts'

/**
 * What registering costs among ten million rows, how large those are, and how many calls connections make that share
 * a registrable domain or none. Durability is at its defaults; what a host chooses is not, and is printed.
 * Run it with `node --import tsx bench/postgres-scale.ts`; it wants 4 GiB of memory and 12 GiB of disk.
 */
const SETTINGS = ['shared_buffers=2GB', 'max_wal_size=8GB', 'checkpoint_timeout=30min', 'maintenance_work_mem=1GB']

const ROWS = Number(process.env.ROWS ?? 10_000_000)
const MILLIONS = ROWS / 1e6
const PARTITIONS = 8
const WARM_UP = 50
const ROUNDS = 300
/** Calls after which nearly every page of the index has been touched. */
const LATER = 1500
/** Calls in a table of their own until the compiler is done. */
const COMPILED = 1000

const toMixedName = inputs['100 new names']
const registerIn = (pool: Pool, schema: string) => {
  const store = createPostgresStore({ pool, schema, findTeam: () => team })
  return async (domains: readonly string[]) => {
    const { data } = await registerDomains(keyContext, { domains }, store)
    if (data.totals.created !== BATCH) throw new Error('The names were not new')
  }
}

/**
 * Fills a table as customers would: of two registrable domains one is registered, and the other has a name below it.
 * IDs are in the order of registration. Indexes are made afterwards, that of the key as full as one is that has grown
 * in no order: to about 70 %.
 */
async function load(pool: Pool, schema: string): Promise<void> {
  await pool.query(`ALTER TABLE ${schema}.names DROP CONSTRAINT names_pkey`)
  for (const index of ['names_of_team', 'names_in_order', 'names_of_team_in_order', 'names_due'])
    await pool.query(`DROP INDEX ${schema}.${index}`)
  await pool.query(
    `INSERT INTO ${schema}.names (registrable_domain, path, inlined_path, domain_id, team_id, created_at)
     SELECT substr(md5(n::text), 1, 8) || '-' || to_hex(n) || '.com', '',
        CASE n % 4 WHEN 1 THEN '.www' WHEN 3 THEN '.api' END,
       (lpad(to_hex(n), 12, '0') || '7000' || '8' || substr(md5(n::text), 1, 15))::uuid, n % 10000, now()
     FROM generate_series(1, $1::integer) AS n`,
    [ROWS],
  )
  await pool.query(`ALTER TABLE ${schema}.names ADD PRIMARY KEY (registrable_domain, path) WITH (fillfactor = 70)`)
  await pool.query(postgresSchema({ schema }))
  // Now, so that autovacuum does not come in the middle.
  await pool.query(`VACUUM (FREEZE, ANALYZE) ${schema}.names`)
}

async function printSizes(pool: Pool, schema: string): Promise<void> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pageinspect')
  const { rows } = await pool.query(
    `SELECT (SELECT count(*) FROM ${schema}.names)::float AS rows,
       pg_relation_size('${schema}.names')::float AS heap, pg_relation_size('${schema}.names_pkey')::float AS index,
       (SELECT level FROM bt_metap('${schema}.names_pkey')) + 1 AS depth`,
  )
  const [{ rows: count, heap, index, depth }] = rows
  console.log(
    `  ${count} rows: ${(heap / count).toFixed(0)} bytes a row in the table, ` +
      `${(index / count).toFixed(0)} in the index of ${depth} levels`,
  )
}

interface Comparison {
  readonly work: string
  readonly yardstick: string
  readonly schemas: readonly [work: string, yardstick: string]
  /** Default: registers in the schema. */
  readonly toRun?: (schema: string) => (domains: readonly string[]) => Promise<void>
  readonly toName?: (index: number) => string
  readonly goal?: string
}

/**
 * Makes calls against two schemas in turn.
 *
 * @returns The ratio of the medians.
 */
async function compare(pool: Pool, comparison: Comparison): Promise<number> {
  const {
    work,
    yardstick,
    schemas,
    toRun = schema => registerIn(pool, schema),
    toName = toMixedName,
    goal = '',
  } = comparison
  const sides = schemas.map(schema => ({ run: toRun(schema), spent: [] as number[], logged: 0 }))
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const side of sides) {
      const domains = nextNames(toName)
      const position = await findLogPosition(pool)
      const duration = await time(() => side.run(domains))
      if (round < WARM_UP) continue
      side.spent.push(duration)
      side.logged += ((await findLogPosition(pool)) - position) / ROUNDS
    }
  }
  const spent = sides.map(side => median(side.spent)) as [number, number]
  const ratio = spent[0] / spent[1]
  print({ work: `PostgreSQL, ${work}`, yardstick, ratio, spent, goal })
  console.log(`  bytes of write-ahead log a call: ${sides.map(({ logged }) => logged.toFixed(0)).join(' : ')}`)
  return ratio
}

async function findLogPosition(pool: Pool): Promise<number> {
  const { rows } = await pool.query("SELECT (pg_current_wal_insert_lsn() - '0/0')::float AS position")
  return rows[0].position
}

async function measureAmongMany(server: TestServer): Promise<void> {
  const pool = server.createPool({ max: 1, pipeline: true })
  for (const schema of ['large', 'fresh', 'alone', 'untouched', 'elsewhere']) await migrate({ pool, schema })
  await migrate({ pool, schema: 'parted', partitions: PARTITIONS })
  const loading = await time(() => load(pool, 'large'))
  console.log(`  loaded in ${(loading / 1000).toFixed(0)} s`)
  await printSizes(pool, 'large')

  const amongMany = { yardstick: 'an empty table', schemas: ['large', 'fresh'] } as const
  const registerElsewhere = registerIn(pool, 'elsewhere')
  for (let call = 0; call < COMPILED; call += 1) await registerElsewhere(nextNames(toMixedName))
  // The index is in memory, as that of a server is which has run for a while.
  await pool.query("CREATE EXTENSION pg_prewarm; SELECT pg_prewarm('large.names_pkey')")
  // At first each page that is touched goes into the log whole; later only what has changed does.
  await pool.query('CHECKPOINT')
  const work = `100 new names among ${MILLIONS} million rows`
  const afterCheckpoint = await compare(pool, { work: `${work}, right after a checkpoint`, ...amongMany })
  const register = registerIn(pool, 'large')
  for (let call = 0; call < LATER; call += 1) await register(nextNames(toMixedName))
  record('postgresHeld', await compare(pool, { work: `${work}, ${LATER} calls later`, ...amongMany, goal: '≤ 1.3' }))
  const toName = (index: number) => `*.${word(index)}.com`
  await compare(pool, { work: `100 new wildcards among ${MILLIONS} million rows, after that`, toName, ...amongMany })
  await compare(pool, {
    work: `100 new names in ${PARTITIONS} partitions`,
    yardstick: 'one table',
    schemas: ['parted', 'alone'],
  })
  await pool.query('CHECKPOINT')
  const bareAfterCheckpoint = await compare(pool, {
    yardstick: 'an empty table',
    schemas: ['large', 'untouched'],
    work: `a bare INSERT of 100 rows among ${MILLIONS} million, right after a checkpoint`,
    toRun(schema) {
      const insert = createBareInsert(pool, `${schema}.names`)
      return domains => insert(domains)()
    },
  })
  record('postgresCheckpoint', afterCheckpoint / bareAfterCheckpoint)
}

const SECONDS = 5
const owners: Readonly<Record<string, (index: number) => string>> = {
  'registrable domains of their own': toMixedName,
  'one registrable domain that all share': index => `host-${index}.shared.com`,
}

async function measureThroughput(server: TestServer): Promise<void> {
  await migrate({ pool: server.createPool(), schema: 'rates' })
  for (const [what, toName] of Object.entries(owners)) {
    for (const connections of [1, 4, 16]) {
      const pool = server.createPool({ max: connections, pipeline: true })
      const schema = 'rates'
      const register = registerIn(pool, schema)
      const start = performance.now()
      let calls = 0
      const callOn = async () => {
        for (; performance.now() - start < SECONDS * 1000; calls += 1) await register(nextNames(toName))
      }
      await Promise.all(Array.from({ length: connections }, callOn))
      const rate = calls / ((performance.now() - start) / 1000)
      console.log(
        `PostgreSQL, calls of 100 new names a second, ${connections} connections, ${what}: ${rate.toFixed(0)}`,
      )
      await pool.end()
    }
  }
}

console.log(
  `PostgreSQL among ten million rows, ${SETTINGS.join(', ')}; ` +
    `load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`,
)
const server = await startServer(SETTINGS.flatMap(setting => ['-c', setting]))
try {
  await measureAmongMany(server)
  await measureThroughput(server)
} finally {
  await server.stop()
}
