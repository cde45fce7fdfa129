import { Pool, type PoolConfig } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from '../random.ts'
import { type Call, type Callers, createCalls, startCallers } from './callers.ts'
import { connectToMortal, engine, isGiven } from './engine.ts'
import { expectAgreement, type HeldRow } from './ledger.ts'
import { createMortalServer, type MortalServer } from './mortal-server.ts'
import { ENDED, type Node, type Nodes, startNodes } from './nodes.ts'

/** With SEED=…, a run repeats the same calls and kills. The results of races may still differ. */
const random = createRandom(seed)
const soon = (most: number) => new Promise(resolve => setTimeout(resolve, random.integer(0, most)))

/** A command that kills a given server takes longer, so it runs less often. */
const CALLS_PER_KILL = isGiven ? 120 : 30
/** Milliseconds. */
const TIME_LIMIT = isGiven ? 600_000 : 120_000

let server: MortalServer
let pool: Pool
/** The table in which the monitor saves its changes. */
let monitor: PoolConfig
let nodes: Nodes | undefined
beforeAll(async () => {
  server = isGiven ? await connectToMortal() : await createMortalServer()
  await server.start()
  monitor = server.config
  pool = new Pool(monitor)
  pool.on('error', () => {})
  await pool.query('CREATE SCHEMA monitor')
  await pool.query('CREATE TABLE monitor.pushes (domain_id uuid NOT NULL, node integer NOT NULL)')
}, 60_000)
afterEach(async () => {
  await nodes?.stop()
  nodes = undefined
})
afterAll(async () => {
  await server.remove()
  await pool.end()
})

describe(`with SEED=${seed},`, () => {
  test.skipIf(isGiven && !engine.kill)(
    'no acknowledged registration is lost if PostgreSQL is killed repeatedly',
    async () => {
      const scene = await open('killed_postgres', 2)
      const callers = scene.startCallers(createCalls(random, CALLS_PER_KILL * 7))
      const kinds = (['postmaster', 'all', 'backend', 'postmaster', 'all', 'backend'] as const).slice(0, counts.kills)
      for (const [index, kind] of kinds.entries()) {
        await callers.answeredFor((index + 1) * CALLS_PER_KILL)
        await soon(20)
        if (kind === 'backend') await server.killBackend()
        if (kind === 'postmaster') await server.killPostmaster()
        if (kind === 'all') await server.killAll()
        if (kind !== 'backend') await server.start()
      }
      await scene.expectNothingLost(callers)
      expect(scene.nodes.failures).not.toContain(ENDED)
      if (isGiven) return
      expect(countLearnedByRetry(callers)).toBeGreaterThan(0)
      expect(server.log.join('').split('automatic recovery in progress').length - 1).toBe(kinds.length)
    },
    TIME_LIMIT,
  )

  test(
    'four servers that are killed during calls lose no acknowledged registration, and register no overlapping names',
    async () => {
      const scene = await open('many_servers', 4)
      const kills = Math.max(4, counts.kills)
      const callers = scene.startCallers(createCalls(random, (kills + 1) * 40))
      for (let kill = 0; kill < kills; kill += 1) {
        const node = scene.nodes.all[kill % 4] as Node
        await callers.answeredFor(kill * 40 + 20)
        await soon(20)
        await node.kill()
        // The other processes continue in the meantime.
        await callers.answeredFor(kill * 40 + 32)
        await node.start()
      }
      await scene.expectNothingLost(callers)
      expect(callers.refusals).toContain('cut')
      expect(countLearnedByRetry(callers)).toBeGreaterThan(0)
      expect(callers.answers.some(({ results }) => results.some(hasCode('domain_already_licensed')))).toBe(true)
      expect(new Set(scene.nodes.failures)).toEqual(new Set(['Error: The monitor is unavailable']))
      const { rows } = await pool.query('SELECT DISTINCT node FROM monitor.pushes ORDER BY node')
      expect(rows).toEqual([{ node: 1 }, { node: 2 }, { node: 3 }, { node: 4 }])
    },
    TIME_LIMIT,
  )
})

/** A separate registry in the database, and our servers that use it. */
async function open(schema: string, count: number) {
  const configs: PoolConfig[] = Array.from({ length: count }, () => server.config)
  await pool.query('TRUNCATE monitor.pushes')
  await migrate({ database: pool, schema })
  const keyStore = createPostgresKeyStore({ database: pool, schema })
  const keys = new Map<string, string>()
  for (const id of ['1', '2', '3']) {
    const { key, hash } = await generateApiKey({ type: 'team', id })
    await keyStore.addKey({ hash, type: 'team', ownerId: id, scopes: ['domains:create'] })
    keys.set(id, key)
  }
  const opened = await startNodes(configs, { monitor, schema })
  nodes = opened
  const origins = opened.all.map(({ origin }) => origin)

  /** Waits for the callers, repeats all calls, and checks everything. */
  async function expectNothingLost(callers: Callers): Promise<void> {
    await callers.done
    const calls = [...new Set(callers.answers.map(({ call }) => call))]
    const again = startCallers({ calls, keys, origins: origins.toReversed() })
    await again.done
    expect(again.answers.flatMap(({ results }) => results.filter(({ status }) => status === 'created'))).toEqual([])

    const { rows } = await pool.query<HeldRow>(`SELECT * FROM ${schema}.names`)
    expect(rows.length).toBeGreaterThan(calls.length)
    expectAgreement([...callers.answers, ...again.answers], rows)
    await expectAllPushed(schema, rows)
    if (isGiven) process.stdout.write(`${schema}: ${callers.answers.length} acknowledged calls, ${rows.length} names\n`)
  }

  return { nodes: opened, startCallers: (calls: Call[]) => startCallers({ calls, keys, origins }), expectNothingLost }
}

async function expectAllPushed(schema: string, rows: readonly HeldRow[]): Promise<void> {
  const store = createPostgresStore({ database: pool, schema, findTeam: () => null })
  expect(await store.countPending()).toBe(0)
  const pushed = await pool.query('SELECT DISTINCT domain_id FROM monitor.pushes')
  expect(pushed.rows.map(row => row.domain_id).toSorted()).toEqual(rows.map(row => row.domain_id).toSorted())
}

/** The number of registrations that were saved although the response was lost, so only a retry reported them. */
const countLearnedByRetry = ({ answers }: Callers): number =>
  answers.filter(({ attempt, results }) => attempt > 1 && results.some(({ status }) => status === 'existing')).length

const hasCode = (code: string) => (result: object) => 'code' in result && result.code === code
