import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { isLong, seed } from '../counts.ts'
import { createMariadbServer, createTables, findMariadb, type MariadbServer } from '../mariadb/server.ts'
import { expectNothingLost, type System, TIME_LIMIT } from './whole-system.ts'

const run = promisify(execFile)
const mariadb = findMariadb()
const name = mariadb
  ? `on MariaDB ${mariadb.version} with SEED=${seed},`
  : 'MariaDB: skipped, because it is not installed (Debian: apt-get install mariadb-server)'

describe.runIf(mariadb && isLong)(name, () => {
  let database: MariadbServer
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whole-system-'))
    database = await createMariadbServer(mariadb?.path ?? '')
    await database.start()
    await createDatabase('whole_system', true)
  })
  afterAll(async () => {
    await database?.remove()
    await rm(folder, { recursive: true })
  })

  async function createDatabase(name: string, hasTables: boolean): Promise<void> {
    const pool = createPool(database.config)
    await pool.query(`CREATE DATABASE ${name}`)
    await pool.end()
    if (!hasTables) return
    const inDatabase = createPool({ ...database.config, database: name })
    await createTables(inDatabase)
    await inDatabase.end()
  }

  test(
    'after random kills and a restored dump, exactly the registered names are watched',
    () => {
      const config = { ...database.config, database: 'whole_system' }
      const program = new URL('../mariadb/node.ts', import.meta.url)
      const killDatabase: System['killDatabase'] = async pause => {
        await database.kill()
        await pause(1000)
        await database.start()
      }
      return expectNothingLost({ program, nextConfig: () => config, isComplete: false, killDatabase, restore })
    },
    TIME_LIMIT,
  )

  async function restore(): Promise<object> {
    const { host, port, user } = database.config
    const server = [`--host=${host}`, `--port=${port}`, `--user=${user}`]
    const file = join(folder, 'dump')
    await run('mariadb-dump', [...server, '--single-transaction', `--result-file=${file}`, 'whole_system'])
    await createDatabase('restored', false)
    await run('mariadb', [...server, `--execute=source ${file}`, 'restored'])
    return { ...database.config, database: 'restored' }
  }
})
