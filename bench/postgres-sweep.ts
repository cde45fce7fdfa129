/**
 * The buffers that PostgreSQL reads or writes during a sweep, beside many changes that it must not push: a count, which
 * does not depend on the machine. The sweep must push the only due change of a team behind 150 teams with nothing due.
 */
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { report, team } from './measure.ts'

const DUE = 20_000
const HELD = 100_000
const LATER_TEAMS = 150

const server = await startServer(['-c', 'fsync=off', '-c', 'autovacuum=off'])
const pool = server.createPool({ max: 1, idleTimeoutMillis: 0 })

async function readBuffers(): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()')
  const { rows } = await pool.query(
    'SELECT (blks_hit + blks_read)::integer AS buffers FROM pg_stat_database WHERE datname = current_database()',
  )
  return rows[0].buffers
}

async function countBuffers(schema: string, isCrowded: boolean): Promise<number> {
  await migrate({ database: pool, schema })
  const add = (rows: number, columns: Readonly<Record<'id' | 'due' | 'kind' | 'team' | 'follows', string>>) =>
    pool.query(
      `INSERT INTO ${schema}.changes
         (domain_id, due, since, kind, second_level_domain, domain, registrable_domain, team_id, follows)
       SELECT lpad(${columns.id}, 32, '0')::uuid, now() + ${columns.due}, now(), ${columns.kind}, name, name, name,
         ${columns.team}, ${columns.follows}
       FROM generate_series(1, ${rows}) AS n, LATERAL (SELECT 'name-' || n || '.com') AS names (name)`,
    )
  const [past, later] = ["interval '-1 minute'", "interval '30 minutes'"]
  const released = { kind: "'released'", follows: 'NULL' }
  await add(DUE, { ...released, id: "'a' || n", due: past, team: "'1'" })
  await add(5, { ...released, id: "'b' || n", due: `${past} / 2`, team: "'9'" })
  if (isCrowded) {
    const next = "lpad('d' || n, 32, '0')::uuid"
    await add(HELD, { id: "'d' || n", due: later, kind: "'registered'", team: "'2'", follows: 'NULL' })
    await add(HELD, { id: "'e' || n", due: past, kind: "'released'", team: "'3'", follows: next })
    await add(LATER_TEAMS, { ...released, id: "'c' || n", due: later, team: "'5' || n" })
  }
  await pool.query(`VACUUM ANALYZE ${schema}.changes`)
  const pushed = new Set<string>()
  const store = createPostgresStore({
    database: pool,
    schema,
    findTeam: () => team,
    batchSize: 100,
    synchronize(changes) {
      for (const { teamId } of changes) pushed.add(teamId)
    },
  })
  // The first statements of a connection also read the catalogs.
  await store.synchronizePending({ limit: 2 })
  pushed.clear()
  const before = await readBuffers()
  await store.synchronizePending()
  const buffers = (await readBuffers()) - before
  if ([...pushed].sort().join() !== '1,9') throw new Error(`Teams ${[...pushed].join()} were served`)
  return buffers
}

const alone = await countBuffers('alone', false)
const crowded = await countBuffers('crowded', true)
console.log(`buffers of a sweep: ${alone} alone, ${crowded} beside the others`)
await server.stop()
report({ sweepBuffers: crowded / alone })
