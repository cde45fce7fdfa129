/**
 * The cost of calls in PostgreSQL if ten million names are registered: registering 100 new names, compared with an
 * empty table and with a bare INSERT; finding the owners of 1,000 hostnames; exporting a million names.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Pool } from 'pg'
import { domainsRouter } from '../src/http/express.ts'
import { findOwners } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { compare, keyContext, newNames, report, team, time } from './measure.ts'
import { createBareInsert, createRegister } from './postgres.ts'

const MILLIONS = 10
/** After a checkpoint, the first write to a page logs the whole page; later writes log only the change. */
const TURNS = { warmUp: 3000, rounds: 400 }

/** One to three names below each registrable domain. Indexes are created afterwards, which is faster. */
async function fill(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE schemaname = '${schema}' AND tablename = 'names'`,
  )
  await pool.query(`ALTER TABLE ${schema}.names DROP CONSTRAINT names_pkey`)
  const others = rows.filter(({ name }) => name !== 'names_pkey')
  for (const { name } of others) await pool.query(`DROP INDEX ${schema}.${name}`)
  await pool.query(
    `INSERT INTO ${schema}.names
       (domain_id, created_at, second_level_domain, path, domain, registrable_domain, team_id)
     SELECT uuidv7(), now(), base, path, substr(path, 2) || CASE path WHEN '' THEN '' ELSE '.' END || base, base,
       (n % 10)::text
     FROM generate_series(1, ${MILLIONS * 500_001}) AS n, LATERAL (SELECT md5(n::text) || '.com') AS bases (base),
       unnest(CASE n % 3 WHEN 0 THEN '{""}'::text[] WHEN 1 THEN '{"",.www}' ELSE '{"",.www,.api}' END) AS path`,
  )
  const primary = rows.find(({ name }) => name === 'names_pkey')?.definition.replace(/^.*\(/, '(')
  await pool.query(`ALTER TABLE ${schema}.names ADD PRIMARY KEY ${primary}`)
  for (const { definition } of others) await pool.query(definition)
  await pool.query(`VACUUM ANALYZE ${schema}.names`)
}

const flags = ['shared_buffers=4GB', 'max_wal_size=16GB', 'checkpoint_timeout=1h', 'maintenance_work_mem=1GB']
const server = await startServer(flags.flatMap(flag => ['-c', flag]))
const database = server.createPool({ max: 1, pipeline: true })
for (const schema of ['large', 'fresh']) await migrate({ database, schema })
console.log(`filled in ${((await time(() => fill(database, 'large'))) / 1000).toFixed(0)} s`)
await database.query('CHECKPOINT')
const [inLarge, inFresh] = ['large', 'fresh'].map(schema => createRegister(database, schema)) as [
  ReturnType<typeof createRegister>,
  ReturnType<typeof createRegister>,
]
const postgresMillions = await compare(
  newNames,
  TURNS,
  names => inLarge(names),
  names => inFresh(names),
)

// The store creates rows in the schema `source`. One bare INSERT copies these rows into `large`, and another copies
// them into `fresh`.
await migrate({ database, schema: 'source' })
const registerInSource = createRegister(database, 'source')
const [insertInLarge, insertInFresh] = await Promise.all(
  ['large', 'fresh'].map(schema => createBareInsert(database, 'source', `${schema}.names`)),
)
const registered = async () => {
  const names = newNames()
  await registerInSource(names)
  return names
}
if (insertInLarge && insertInFresh) {
  const bare = await compare(registered, { warmUp: 300, rounds: 400 }, insertInLarge, insertInFresh)
  console.log(`a bare INSERT: ${bare.toFixed(2)} ×`)
}

const store = createPostgresStore({ database, schema: 'large', findTeam: id => ({ ...team, id }) })
report({ postgresMillions, findOwners: await measureOwners(), export: await measureExport() })
await server.stop()

/** Compares `findOwners` with one statement that finds the same names by primary key, with the same columns. */
async function measureOwners(): Promise<number> {
  const { rows } = await database.query('SELECT * FROM large.names TABLESAMPLE SYSTEM (0.5)')
  const byKey = `SELECT name.* FROM unnest($1::text[], $2::text[]) AS asked (base, path)
    JOIN large.names AS name ON name.second_level_domain = asked.base AND name.path = asked.path`
  let picks = 0
  const pickRows = () => {
    picks += 1
    return Array.from({ length: 1000 }, (_, index) => rows[(picks * 1000 + index * 7919) % rows.length])
  }
  return compare(
    pickRows,
    { warmUp: 30, rounds: 60 },
    picked =>
      time(async () => {
        const owners = await findOwners(
          store,
          picked.map(({ domain }) => domain),
        )
        if (owners.some(({ registration }) => !registration)) throw new Error('An owner was not found')
      }),
    picked => {
      const values = [picked.map(row => row.second_level_domain), picked.map(({ path }) => path)]
      return time(() => database.query({ name: 'by key', text: byKey, values }))
    },
  )
}

/**
 * The peak memory of this process, which is both server and reader, during an export, compared with the peak during the
 * export's first tenth.
 */
async function measureExport(): Promise<number> {
  const authenticate = () => ({ ...keyContext, scopes: ['domains:read'] })
  const http = createServer(express().use(domainsRouter({ store, authenticate, operations: ['export'] })))
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/v1/domains/export?format=csv`)
  let [lines, peak, early] = [0, 0, 0]
  for await (const chunk of response.body ?? []) {
    for (const byte of chunk) if (byte === 10) lines += 1
    peak = Math.max(peak, process.memoryUsage.rss())
    if (lines < MILLIONS * 10_000) early = peak
  }
  http.close()
  if (lines < MILLIONS * 100_000) throw new Error(`Only ${lines} lines`)
  return peak / early
}
