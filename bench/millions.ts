/** 100 new names in PostgreSQL among ten million, against an empty table; beside it the same of a bare INSERT. */
import type { Pool } from 'pg'
import { migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { compare, newNames, report, time } from './measure.ts'
import { createBareInsert, createRegister } from './postgres.ts'

const MILLIONS = 10
/** After a checkpoint, each page that is touched goes into the write-ahead log whole; later only what has changed. */
const TURNS = { warmUp: 3000, rounds: 400 }

/** One to three names below each registrable domain. Indexes are made afterwards, which is quicker. */
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
       (n % 1000)::text
     FROM generate_series(1, ${(MILLIONS * 1_000_000) / 2}) AS n, LATERAL (SELECT md5(n::text) || '.com') AS bases (base),
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

// Into the same two tables, what the store makes of the names in a third.
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
await server.stop()
report({ postgresMillions })
