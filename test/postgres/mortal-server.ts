import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createInterface, type Interface } from 'node:readline'
import { promisify } from 'node:util'
import { Pool, type PoolConfig } from 'pg'
import { findFreePort } from '../free-port.ts'
import { createFiles, READY } from './server.ts'

/** A real PostgreSQL that can be killed and restarted on its data. */
export interface MortalServer {
  readonly config: PoolConfig
  /** The log of the server, across all restarts. */
  readonly log: readonly string[]
  /**
   * Starts the server, and waits until it has recovered.
   *
   * @param largestFile The maximum size of any file in bytes, a multiple of 1,024. Default: no limit.
   */
  start(largestFile?: number): Promise<void>
  /**
   * Kills only the postmaster, the process that accepts connections. The other processes end once they notice that the
   * postmaster is gone.
   */
  killPostmaster(): Promise<void>
  /** Kills all processes of the server at once, and waits until none is left. */
  killAll(): Promise<void>
  /** Kills the backend of one connection. PostgreSQL then ends the other backends, and recovers automatically. */
  killBackend(): Promise<void>
  /** Stops the server, and removes its files. */
  remove(): Promise<void>
}

/** The state of the server between two starts. */
interface Life {
  /** The postmaster, which accepts connections. */
  readonly postmaster: ChildProcess
  /** The lines of the server's log. */
  readonly lines: Interface
}

/**
 * Creates a PostgreSQL server with the default settings, so with `fsync`, but does not start it.
 *
 * @param programs The folder that contains the programs of PostgreSQL.
 */
export async function createMortalServer(
  initdbFlags: readonly string[] = [],
  programs?: string,
): Promise<MortalServer> {
  const files = await createFiles(initdbFlags, programs)
  const log: string[] = []
  const port = await findFreePort()
  const config = { ...files.config, port }
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories='].flatMap(setting => ['-c', setting])
  const flags = ['-D', files.databaseDir, '-p', String(port), ...settings]

  let life: Life | undefined
  /** The remaining processes of the server, if only its postmaster was killed. */
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

  /** Waits until the server accepts connections. */
  function untilReady({ postmaster, lines }: Life): Promise<void> {
    return new Promise((resolve, reject) => {
      lines.on('line', line => line.includes(READY) && resolve())
      postmaster.once('close', () => reject(new Error(`PostgreSQL has ended:\n${log.slice(-20).join('')}`)))
    })
  }

  /** Kills the postmaster. With 'all', also kills its child processes; otherwise the next start waits for their end. */
  async function kill(what: 'postmaster' | 'all'): Promise<void> {
    if (!life || !isAlive(life.postmaster)) return
    const { postmaster } = life
    const exit = once(postmaster, 'exit')
    // While the postmaster is stopped, it cannot start more processes.
    postmaster.kill('SIGSTOP')
    orphans = await findChildren(postmaster.pid as number)
    // A process that survived while it waited for a lock of a killed process would never end.
    if (what === 'all') for (const orphan of orphans) process.kill(orphan, 'SIGKILL')
    postmaster.kill('SIGKILL')
    await exit
    if (what === 'all') await untilGone(orphans)
  }

  async function shutDown(): Promise<void> {
    if (!life) return
    // Only the next start frees the shared memory of a killed server.
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
      // There is no connection to kill while all applications are down.
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

/** Returns whether the process still existed. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/**
 * Milliseconds between two checks for remaining processes, and the time after which remaining processes count as stuck.
 */
const PAUSE = 20
const STUCK = 30_000

interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** All processes except zombies. */
async function findProcesses(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,command='])
  return stdout.split('\n').flatMap(line => {
    const [, pid, parent, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? []
    return state && !state.startsWith('Z') ? { pid: Number(pid), parent: Number(parent), command: command ?? '' } : []
  })
}

/** The running processes that a process has started. */
async function findChildren(parent: number): Promise<number[]> {
  return (await findProcesses()).filter(process => process.parent === parent).map(({ pid }) => pid)
}

/** Resolves when all of these processes have ended. */
async function untilGone(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + STUCK
  for (;;) {
    const left = (await findProcesses()).filter(({ pid }) => pids.includes(pid))
    if (left.length === 0) return
    if (Date.now() > deadline) {
      throw new Error(`Still running:\n${left.map(({ pid, command }) => `${pid} ${command}`).join('\n')}`)
    }
    await new Promise(resolve => setTimeout(resolve, PAUSE))
  }
}
