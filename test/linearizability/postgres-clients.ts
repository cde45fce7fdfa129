import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { createPostgresStore, type PostgresPool } from '../../src/postgres/index.ts'
import type { Random } from '../simulation/random.ts'
import { type Client, createMonitor } from './race.ts'

/** How a process reaches the database. */
export interface Access {
  readonly config: PoolConfig
  readonly random: Random
  readonly now: () => number
  /** One for each client. */
  readonly names: readonly string[]
  /**
   * Whether statements go out without waiting. If not, some wait longer than they must, so that others come between.
   */
  readonly isPipelined: boolean
  /** Changes the text of each statement. */
  readonly alter?: ((text: string) => string) | undefined
}

/** Clients with a store each, over a pool of a connection each. */
export function createPostgresClients(access: Access): { clients: Client[]; end(): Promise<void> } {
  const { names, random, now, config, isPipelined } = access
  const pool = new Pool({ ...config, max: names.length, pipeline: isPipelined })
  pool.on('error', () => {})
  const clients = names.map((name): Client => {
    const monitor = createMonitor(random, now)
    const options = { pool: alterStatements(pool, access), findTeam: () => null, synchronize: monitor.push }
    return { name, monitor, store: createPostgresStore(options) }
  })
  return { clients, end: () => pool.end() }
}

const LATE_STATEMENTS = 0.1
/** In milliseconds. */
const LATEST = 3

function alterStatements(pool: Pool, { random, isPipelined, alter = text => text }: Access): PostgresPool {
  async function query(client: PoolClient, config: { text: string }) {
    if (!isPipelined && random.chance(LATE_STATEMENTS)) await wait(random.integer(0, LATEST))
    return client.query({ ...config, text: alter(config.text) } as never)
  }
  return {
    async connect(callback) {
      const client = await pool.connect()
      callback(undefined, {
        pipeline: isPipelined,
        query: config =>
          (isPipelined ? client.query({ ...config, text: alter(config.text) }) : query(client, config)) as never,
        release: error => client.release(error),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      })
    },
  }
}

const wait = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))
