import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { counts, seed } from '../counts.ts'
import { findFreePort } from '../postgres/free-port.ts'
import { createMortalServer, type MortalServer } from '../postgres/mortal-server.ts'
import { ENDED, type Nodes, startNodes } from '../postgres/nodes.ts'
import { createRandom } from '../simulation/random.ts'
import { createMonitorProcess, type MonitorProcess, secret } from './monitor-process.ts'
import { type Owner, startOwner } from './owners.ts'

/** The seed decides what is called and killed, and when; the outcome of races depends on the machine. */
const random = createRandom(seed)
const schema = 'whole_system'
const SERVERS = 3
/** Milliseconds for everything to settle at the end. */
const TO_REST = 60_000

let database: MortalServer
let monitor: MonitorProcess
let nodes: Nodes
let pool: Pool
const owners: Owner[] = []
beforeAll(async () => {
  database = await createMortalServer()
  await database.start()
  monitor = await createMonitorProcess(await findFreePort())
  await monitor.start()
  pool = new Pool({ ...database.config, connectionTimeoutMillis: 5000 })
  pool.on('error', () => {})
  await migrate({ database: pool, schema })
  const configs = Array.from({ length: SERVERS }, () => database.config)
  nodes = await startNodes(configs, { monitor: { url: monitor.url, secret }, schema })
  const keys = createPostgresKeyStore({ database: pool, schema })
  const origins = nodes.all.map(({ origin }) => origin)
  for (let index = 0; index < 6; index += 1) {
    const teamId = String(1 + (index % 3))
    const { key, hash } = await generateApiKey({ type: 'team', id: teamId })
    await keys.addKey({ hash, type: 'team', ownerId: teamId, scopes: ['domains:create', 'domains:delete'] })
    owners.push(startOwner({ number: index, key, origins, random }))
  }
}, 60_000)
afterAll(async () => {
  await Promise.allSettled(owners.map(owner => owner.stop()))
  await nodes?.stop()
  await monitor?.remove()
  await database?.remove()
  await pool?.end()
})

describe(`with SEED=${seed},`, () => {
  test(
    'servers, PostgreSQL and the monitor are killed at random; in the end exactly what is registered is watched',
    async () => {
      const sum = (count: (owner: Owner) => number) => owners.reduce((total, owner) => total + count(owner), 0)
      await vi.waitFor(() => expect(sum(owner => owner.deleted())).toBeGreaterThan(0), { timeout: TO_REST })
      const kills = await killEverything(counts.secondsOfKilling * 1000)
      await Promise.all(owners.map(owner => owner.stop()))
      const store = createPostgresStore({ database: pool, schema, findTeam: () => null })
      await vi.waitFor(async () => expect(await store.countPending()).toBe(0), { timeout: TO_REST, interval: 50 })

      const registered = await readRegistered()
      expect(await monitor.watched()).toEqual(registered)
      const held = new Set(Object.values(registered))
      for (const owner of owners) {
        const { present, absent } = owner.told()
        expect(present.filter(name => !held.has(name))).toEqual([])
        expect(absent.filter(name => held.has(name))).toEqual([])
      }

      const seen = { created: sum(each => each.created()), deleted: sum(each => each.deleted()) }
      const failed = sum(each => each.failed())
      console.info({ kills, ...seen, failed, watched: held.size, SEED: seed })
      for (const count of [...Object.values(kills), ...Object.values(seen), failed, held.size]) {
        expect(count).toBeGreaterThan(0)
      }
      expect(nodes.failures).not.toContain(ENDED)
    },
    counts.secondsOfKilling * 1000 + 3 * TO_REST,
  )
})

/** Kills each process repeatedly, by its own clock, until the time is over and all are up again. */
async function killEverything(milliseconds: number) {
  const end = performance.now() + milliseconds
  const kills = { servers: 0, database: 0, monitor: 0 }

  async function again(what: keyof typeof kills, longest: number, killAndStart: () => Promise<void>) {
    do {
      await pause(longest)
      await killAndStart()
      kills[what] += 1
    } while (performance.now() < end)
  }

  await Promise.all([
    ...nodes.all.map(node =>
      again('servers', 4000, async () => {
        await node.kill()
        await pause(500)
        // As a supervisor does: a server that finds no database exits, and is started again.
        for (let isUp = false; !isUp; ) isUp = await node.start().then(toTrue, toFalse)
      }),
    ),
    again('database', 6000, async () => {
      const kind = random.pick(['all', 'all', 'postmaster', 'backend'] as const)
      if (kind === 'backend') return database.killBackend()
      await (kind === 'all' ? database.killAll() : database.killPostmaster())
      await pause(1000)
      await database.start()
    }),
    again('monitor', 3000, async () => {
      await monitor.kill()
      await pause(1000)
      await monitor.start()
    }),
  ])
  return kills
}

const toTrue = () => true
const toFalse = () => false
const pause = (most: number) => new Promise(resolve => setTimeout(resolve, random.integer(0, most)))

async function readRegistered(): Promise<Record<string, string>> {
  const { rows } = await pool.query(`SELECT domain_id AS id, domain FROM ${schema}.names`)
  return Object.fromEntries(rows.map(({ id, domain }) => [id, domain]))
}
