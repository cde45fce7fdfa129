import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createInterface, type Interface } from 'node:readline'
import { Pool, type PoolConfig } from 'pg'
import { findFreePort } from './free-port.ts'
import { findChildren, untilGone } from './process-table.ts'
import { createFiles, READY } from './server.ts'

/** A real PostgreSQL that can be killed, and started again on what it has left. */
export interface MortalServer {
  readonly config: PoolConfig
  /** What it has written so far, in all its lives. */
  readonly log: readonly string[]
  /**
   * Starts it, and waits until it has recovered.
   *
   * @param largestFile In bytes, a multiple of 1,024; a file does not grow any further. By default there is no such
   * limit.
   */
  start(largestFile?: number): Promise<void>
  /** Kills what accepts connections; the processes behind the connections find out for themselves. */
  killPostmaster(): Promise<void>
  /** Kills all of it at once, and waits until nothing is left of it. */
  killAll(): Promise<void>
  /** Kills the process behind one connection; PostgreSQL then ends all the others, and recovers by itself. */
  killBackend(): Promise<void>
  /** Ends it, and removes what it has left. */
  remove(): Promise<void>
}

/** From one start to the next. */
interface Life {
  /** What accepts connections. */
  readonly postmaster: ChildProcess
  /** What it writes. */
  readonly lines: Interface
}

/** Makes a PostgreSQL that has not been started yet. Its settings are its defaults, `fsync` among them. */
export async function createMortalServer(initdbFlags: readonly string[] = []): Promise<MortalServer> {
  const files = await createFiles(initdbFlags)
  const log: string[] = []
  const port = await findFreePort()
  const config = { ...files.config, port }
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories='].flatMap(setting => ['-c', setting])
  const flags = ['-D', files.databaseDir, '-p', String(port), ...settings]

  let life: Life | undefined
  /** What the postmaster had started, when it was killed alone. */
  let orphans: readonly number[] = []
  const endWithUs = () => life?.postmaster.kill('SIGKILL')
  process.once('exit', endWithUs)

  async function start(largestFile?: number): Promise<void> {
    await untilGone(orphans)
    const limit = largestFile === undefined ? 'unlimited' : largestFile / 1024
    const script = `ulimit -f ${limit}; exec "$0" "$@"`
    const postmaster = spawn('bash', ['-c', script, files.program, ...flags], {
      ...files.owner,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const lines = createInterface(postmaster.stderr).on('line', line => log.push(`${line}\n`))
    life = { postmaster, lines }
    await untilReady(life)
  }

  /** Until it accepts connections, for the first time or again. */
  function untilReady({ postmaster, lines }: Life): Promise<void> {
    return new Promise((resolve, reject) => {
      lines.on('line', line => line.includes(READY) && resolve())
      postmaster.once('close', () => reject(new Error(`PostgreSQL has ended:\n${log.slice(-20).join('')}`)))
    })
  }

  /** Kills the postmaster, and what it has started too, or lists it. */
  async function kill(what: 'postmaster' | 'all'): Promise<void> {
    if (!life || !isAlive(life.postmaster)) return
    const { postmaster } = life
    const exit = once(postmaster, 'exit')
    // One that is stopped starts no others while we look.
    postmaster.kill('SIGSTOP')
    orphans = await findChildren(postmaster.pid as number)
    // None may be left out: one that waits for a lock which a killed one held waits for ever.
    if (what === 'all') for (const orphan of orphans) process.kill(orphan, 'SIGKILL')
    postmaster.kill('SIGKILL')
    await exit
    if (what === 'all') await untilGone(orphans)
  }

  async function shutDown(): Promise<void> {
    if (!life) return
    // Only its next life frees the shared memory of one that was killed.
    if (!isAlive(life.postmaster)) await start()
    const exit = once(life.postmaster, 'exit')
    life.postmaster.kill('SIGQUIT')
    await exit
  }

  return {
    config,
    log,
    start,
    killPostmaster: () => kill('postmaster'),
    killAll: () => kill('all'),
    async killBackend() {
      const isReady = untilReady(life as Life)
      const pool = new Pool({ ...config, max: 1 })
      // While all applications are down, there is no connection until one of them is up again.
      for (let isDone = false; !isDone; ) {
        const { rows } = await pool.query(
          "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
        )
        isDone = rows.some(({ pid }) => isKilled(pid))
        if (!isDone) await new Promise(resolve => setTimeout(resolve, 10))
      }
      await pool.end().catch(() => {})
      await isReady
    },
    async remove() {
      process.removeListener('exit', endWithUs)
      await shutDown()
      await rm(files.directory, { recursive: true, force: true })
    },
  }
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null

/** Whether the process was still there. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
