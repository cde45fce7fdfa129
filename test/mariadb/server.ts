import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Pool, PoolOptions } from 'mysql2/promise'
import { findFreePort } from '../free-port.ts'

/** A real MariaDB that can be killed and restarted on its data. */
export interface MariadbServer {
  readonly config: PoolOptions
  /** The log of the server, across all restarts. */
  readonly log: readonly string[]
  /** Starts the server, and waits until it has recovered. */
  start(): Promise<void>
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>
  /** Stops the server, and removes its files. */
  remove(): Promise<void>
}

/** The path and version of the installed program. The tests do not install MariaDB. */
export function findMariadb(): { path: string; version: string } | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const path = folders.map(folder => join(folder, 'mariadbd')).find(existsSync)
  if (path === undefined) return undefined
  const [, version = ''] = /Ver (\d+\.\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' })) ?? []
  return { path, version }
}

const READY = 'ready for connections'

/** The server has the default settings, and no accounts, because creating accounts would take a second. */
export async function createMariadbServer(path: string): Promise<MariadbServer> {
  const directory = await mkdtemp(join(tmpdir(), 'mariadb-'))
  const port = await findFreePort()
  const log: string[] = []
  let child: ChildProcess | undefined
  const endWithUs = () => child?.kill('SIGKILL')
  process.once('exit', endWithUs)

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  async function start(): Promise<void> {
    const flags = {
      datadir: directory,
      'bind-address': '127.0.0.1',
      port,
      socket: '',
      'innodb-buffer-pool-size': '32M',
      'innodb-log-file-size': '16M',
      // The kernel may end the asynchronous writes of a killed server while the next one already recovers the files.
      'innodb-use-native-aio': 'OFF',
    }
    const server = spawn(path, [
      '--no-defaults',
      ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
      '--skip-grant-tables',
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ])
    child = server
    await new Promise<void>((resolve, reject) => {
      createInterface(server.stderr).on('line', line => {
        log.push(line)
        if (line.includes(READY)) resolve()
      })
      server.once('close', () => reject(new Error(`MariaDB has ended:\n${log.slice(-20).join('\n')}`)))
    })
  }

  // The files of a new database are complete on disk only after a shutdown.
  await start()
  await end('SIGTERM')

  return {
    config: { host: '127.0.0.1', port, user: 'root' },
    log,
    start,
    kill: () => end('SIGKILL'),
    async remove() {
      process.removeListener('exit', endWithUs)
      await end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Creates the tables of the example, as an application would in a migration. */
export async function createTables(pool: Pool): Promise<void> {
  const sql = readFileSync(new URL('../../examples/mariadb-tables.sql', import.meta.url), 'utf8')
  for (const statement of sql.split(/;$/m)) if (statement.trim() !== '') await pool.query(statement)
}
