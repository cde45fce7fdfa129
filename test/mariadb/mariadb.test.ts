import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateApiKey, type KeyRecord, type ManagedStore } from 'domain-registration'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import { createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMariadbStore } from '../../examples/mariadb-store.ts'
import { createTransact } from '../../examples/mariadb-transact.ts'
import { counts, isLong, seed } from '../counts.ts'
import { scopes } from '../fixtures.ts'
import { findTeam, listAll, now } from '../linearizability/race.ts'
import { type Deed, findFault } from '../linearizability/registry.ts'
import { createCalls, startCallers } from '../postgres/callers.ts'
import { expectAgreement, type HeldRow } from '../postgres/ledger.ts'
import { createRandom } from '../simulation/random.ts'
import type { NodeTask } from './node.ts'
import { bundlePrograms, kill } from './programs.ts'
import type { RacerTask } from './racer.ts'
import { createMariadbServer, createTables, findMariadb, type MariadbServer } from './server.ts'

const program = findMariadb()
const name = program
  ? `the store of examples/mariadb-store.ts, on MariaDB ${program.version} with SEED=${seed},`
  : 'MariaDB: skipped, since this machine has none (Debian: apt-get install mariadb-server)'

const random = createRandom(seed)
const RACES = isLong ? Math.ceil(counts.races / 4) : 4
const KILLS = isLong ? 2 * counts.kills : 2
const CALLS_PER_KILL = 12
const LATE_WORK = 200
const TIME_LIMIT = 600_000

describe.skipIf(!program)(name, () => {
  let directory: string
  let server: MariadbServer
  let programs: Awaited<ReturnType<typeof bundlePrograms>>
  const pools: Pool[] = []
  beforeAll(async () => {
    server = await createMariadbServer(program?.path ?? '')
    directory = mkdtempSync(join(tmpdir(), 'mariadb-programs-'))
    programs = await bundlePrograms(directory)
    await server.start()
  })
  afterAll(async () => {
    await programs.stop()
    await Promise.all(pools.map(pool => pool.end()))
    await server.remove()
    rmSync(directory, { recursive: true })
  })

  function connect(options: PoolOptions): Pool {
    const pool = createPool({ ...server.config, ...options })
    pools.push(pool)
    return pool
  }

  /** A database of its own with the tables of the example. */
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
        for (const table of ['names', 'changes']) await pool.query(`DELETE FROM domain_${table}`)
        const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
        return createMariadbStore({ ...options, database: pool, findTeam })
      },
      features: managedStoreFeatures,
    })
    for (const { name, run } of cases) test(name, run)
    test('is asked many cases', () => expect(cases.length).toBeGreaterThan(100))
  })

  test(
    'work that goes on after the time limit saves nothing',
    async () => {
      const pool = await open('late')
      await pool.query('CREATE TABLE notes (note INT NOT NULL)')
      const transact = createTransact(pool)
      const expected: number[] = []
      for (let round = 0; round < LATE_WORK; round += 1) {
        const write = transact(
          async ask => {
            for (let statement = 0; statement < 40; statement += 1) await ask('INSERT INTO notes VALUES (?)', round)
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
    'some order explains the answers of calls that race from several processes',
    async () => {
      const database = await open('races')
      const config = { ...server.config, database: 'races' }
      const clients = [['A', 'B', 'C'], ['D', 'E', 'F'], ...(isLong ? [['G', 'H', 'I']] : [])]
      const racers = await Promise.all(
        clients.map((names, index) =>
          programs.start('racer', { config, names, seed: seed + index } satisfies RacerTask),
        ),
      )
      const store: ManagedStore = createMariadbStore({ database, findTeam })
      for (let round = 1; round <= RACES; round += 1) {
        // Every other round is the first on its registrable domains.
        const registrableDomains = ['a.com', 'b.com', 'c.github.io'].map(name => `r${Math.ceil(round / 2)}-${name}`)
        const outcomes = await Promise.all(
          racers.map(async ({ child }) => {
            const answer = once(child, 'message')
            child.send({ registrableDomains, calls: 13 })
            return (await answer)[0] as readonly Deed[]
          }),
        )
        const listed = await listAll(store)
        const end = {
          client: 'in the end',
          operation: { kind: 'list' as const, listed },
          startedAt: now(),
          endedAt: now(),
        }
        const deeds = [...outcomes.flat(), end]
        expect(deeds.filter(deed => typeof deed === 'string')).toEqual([])
        for (const each of registrableDomains) expect(findFault(deeds, [each]), `round ${round}`).toBeNull()
        expect(findFault(deeds, registrableDomains.slice(0, 2)), `round ${round}`).toBeNull()
        for (const { teamId, domain } of listed) await store.release(teamId, [domain])
      }
    },
    TIME_LIMIT,
  )

  test(
    'applications and a MariaDB that are killed again and again lose nothing that was acknowledged',
    async () => {
      const pool = await open('kills')
      await pool.query('CREATE TABLE pushes (domainId CHAR(36) NOT NULL, node INT NOT NULL)')
      const records: KeyRecord[] = []
      const keys = new Map<string, string>()
      for (const id of ['1', '2', '3']) {
        const { key, hash } = await generateApiKey({ type: 'team', id })
        records.push({ hash, type: 'team', ownerId: id, scopes })
        keys.set(id, key)
      }
      const task: NodeTask = { config: { ...server.config, database: 'kills' }, keys: records }
      const startNode = async () => {
        const { child, told } = await programs.start('node', task)
        return { child, port: told as number }
      }
      const nodes: { child: ChildProcess; port: number }[] = await Promise.all([startNode(), startNode()])
      const origins = nodes.map((_, index) => () => `http://127.0.0.1:${nodes[index]?.port}`)

      const calls = createCalls(random, (KILLS + 1) * CALLS_PER_KILL)
      const callers = startCallers({ calls, keys, origins })
      for (let index = 0; index < KILLS; index += 1) {
        await callers.answeredFor((index + 1) * CALLS_PER_KILL)
        await new Promise(resolve => setTimeout(resolve, random.integer(0, 20)))
        if (index % 2 === 0) {
          await server.kill()
          await server.start()
        } else {
          const which = index % nodes.length
          await kill(nodes[which]?.child as ChildProcess)
          nodes[which] = await startNode()
        }
      }
      await callers.done
      expect(callers.refusals).toContain('500 internal_error')
      expect(nodes.map(({ child }) => child.exitCode)).toEqual([null, null])

      const again = startCallers({ calls, keys, origins: origins.toReversed() })
      await again.done
      expect(again.answers.flatMap(({ results }) => results.filter(({ status }) => status === 'created'))).toEqual([])
      const [rows] = await pool.query<(HeldRow & RowDataPacket)[]>(
        `SELECT domain, registrableDomain AS registrable_domain, domainId AS domain_id, teamId AS team_id
         FROM domain_names`,
      )
      expect(rows.length).toBeGreaterThan(calls.length)
      expectAgreement([...callers.answers, ...again.answers], rows)
      const [waiting] = await pool.query('SELECT * FROM domain_changes')
      expect(waiting).toEqual([])
      const [pushed] = await pool.query<RowDataPacket[]>('SELECT DISTINCT domainId FROM pushes')
      expect(pushed.map(row => row.domainId).toSorted()).toEqual(rows.map(row => row.domain_id).toSorted())
    },
    TIME_LIMIT,
  )
})

test('examples/mariadb-store.ts is short enough to be copied', () => {
  const source = readFileSync(new URL('../../examples/mariadb-store.ts', import.meta.url), 'utf8')
  expect(source.split('\n').length).toBeLessThanOrEqual(201)
})
