import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { PoolConfig } from 'pg'
import { findFreePort } from '../free-port.ts'

/** A real PgBouncer in transaction mode, without support for prepared statements. */
export interface PgBouncer {
  readonly port: number
  stop(): Promise<void>
}

/** The path and version of the installed program. The tests do not install one. */
export function findPgBouncer(): { path: string; version: string } | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const path = folders.map(folder => join(folder, 'pgbouncer')).find(existsSync)
  if (path === undefined) return undefined
  const [, version = ''] = /PgBouncer (\S+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' })) ?? []
  return { path, version }
}

/** The number of sessions with the server, regardless of the number of clients. */
const SESSIONS = 3
/** The user that runs PgBouncer. PgBouncer refuses to run as root. */
const NOBODY = 65534

export async function startPgBouncer(
  { path, version }: { path: string; version: string },
  { host, port: serverPort, user, password, database }: PoolConfig,
): Promise<PgBouncer> {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-pgbouncer-'))
  await chmod(directory, 0o755)
  const port = await findFreePort()
  const [, minor] = version.split('.').map(Number)
  const settings = [
    '[databases]',
    `${database} = host=${host} port=${serverPort} user=${user} password=${password} dbname=${database}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SESSIONS}`,
    // PgBouncer before version 1.21 has no `max_prepared_statements`, and does not support prepared statements.
    ...(Number(minor) >= 21 ? ['max_prepared_statements = 0'] : []),
  ]
  const file = join(directory, 'pgbouncer.ini')
  await writeFile(file, settings.join('\n'))
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(path, [file], { ...identity, stdio: ['ignore', 'ignore', 'pipe'] })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  await untilListening(child)
  return {
    port,
    async stop() {
      process.removeListener('exit', endWithUs)
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function untilListening(child: ChildProcess): Promise<void> {
  let log = ''
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (message: string) => {
      log += message
      if (log.includes('process up')) resolve()
    })
    child.once('close', () => reject(new Error(`PgBouncer did not start:\n${log}`)))
  })
}
