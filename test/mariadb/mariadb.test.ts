import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMariadbBackend, createMariadbStore } from '../../examples/mariadb-store.ts'
import { createTransact } from '../../examples/mariadb-transact.ts'
import { counts, isLong, seed } from '../counts.ts'
import { exploreScenario } from '../exploration/explore-scenario.ts'
import { scenarios } from '../exploration/scenarios.ts'
import { findTeam } from '../linearizability/race.ts'
import { startRacers } from '../linearizability/racers.ts'
import { createMariadbServer, createTables, findMariadb, type MariadbServer } from './server.ts'

const program = isLong ? findMariadb() : undefined
const missing = isLong ? 'it is not installed (Debian: apt-get install mariadb-server)' : 'the run is short'
const name = program
  ? `the store of examples/mariadb-store.ts, on MariaDB ${program.version} with SEED=${seed},`
  : `MariaDB: skipped, because ${missing}`

const RACES = Math.ceil(counts.races / 4)
const LATE_WORK = 200
const TIME_LIMIT = 600_000

describe.skipIf(!program)(name, () => {
  let server: MariadbServer
  let racers: Awaited<ReturnType<typeof startRacers>> | undefined
  const pools: Pool[] = []
  beforeAll(async () => {
    server = await createMariadbServer(program?.path ?? '')
    await server.start()
  })
  afterAll(async () => {
    await racers?.stop()
    await Promise.all(pools.map(pool => pool.end()))
    await server.remove()
  })

  function connect(options: PoolOptions): Pool {
    const pool = createPool({ ...server.config, ...options })
    pools.push(pool)
    return pool
  }

  /** A separate database with the tables of the example. */
  async function open(database: string): Promise<Pool> {
    await connect({}).query(`CREATE DATABASE ${database}`)
    const pool = connect({ database, connectionLimit: 12 })
    await createTables(pool)
    return pool
  }

  describe('passes the suite:', () => {
    let pool: Pool
    beforeAll(async () => {
      pool = await open('suite')
    })
    const cases = domainStoreSuite({
      async createStore({ teams, ...options }) {
        for (const table of ['names', 'changes', 'monitor']) await pool.query(`DELETE FROM domain_${table}`)
        const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
        return createMariadbStore({ ...options, database: pool, findTeam })
      },
      features: managedStoreFeatures,
      timeLimit: 20_000,
    })
    for (const { name, run } of cases) test(name, run)
  })

  test(
    'passes the exploration of one scenario',
    async () => {
      const pool = await open('exploration')
      async function createBackend() {
        for (const table of ['names', 'changes', 'monitor']) await pool.query(`DELETE FROM domain_${table}`)
        return createMariadbBackend(createTransact(pool))
      }
      const explored = await exploreScenario(scenarios['calls of one team reach its limit'], createBackend)
      expect(explored).toEqual({ states: 80 })
    },
    TIME_LIMIT,
  )

  test(
    'rolls back work that is still running after its time limit',
    async () => {
      const pool = await open('late')
      await pool.query('CREATE TABLE notes (note INT NOT NULL)')
      const transact = createTransact(pool)
      const expected: number[] = []
      for (let round = 0; round < LATE_WORK; round += 1) {
        const write = transact(
          async send => {
            for (let statement = 0; statement < 40; statement += 1) await send('INSERT INTO notes VALUES (?)', round)
          },
          { timeLimit: 2 + (round % 8) },
        )
        await write.then(() => expected.push(...Array(40).fill(round))).catch(() => {})
      }
      await new Promise(resolve => setTimeout(resolve, 100))
      const [rows] = await pool.query<RowDataPacket[]>('SELECT note FROM notes ORDER BY note')
      expect(rows.map(({ note }) => note)).toEqual(expected)
    },
    TIME_LIMIT,
  )

  test(
    'is linearizable under concurrent calls from several processes',
    async () => {
      const database = await open('races')
      const config = { ...server.config, database: 'races' }
      racers = await startRacers(new URL('open-store.ts', import.meta.url), Array(3).fill(config))
      await racers.expectOrder(createMariadbStore({ database, findTeam }), RACES)
    },
    TIME_LIMIT,
  )
})
