import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

/** examples/monitor.ts, which can be killed and restarted on its saved state. */
export interface MonitorProcess {
  readonly url: string
  start(): Promise<void>
  /** By SIGKILL. */
  kill(): Promise<void>
  /** The hostnames that it watches, by `domainId`. */
  watched(): Promise<Readonly<Record<string, string>>>
  /** Kills it, and removes its saved state. */
  remove(): Promise<void>
}

export async function createMonitorProcess(port: number): Promise<MonitorProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-monitor-'))
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, JOURNAL: join(directory, 'changes') }
  const url = `http://127.0.0.1:${port}/`
  let child: ChildProcess | undefined

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  return {
    url,
    async start() {
      const started = spawn(process.execPath, ['--import', 'tsx', 'examples/monitor.ts'], {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child = started
      const ended = once(started, 'exit').then(() => Promise.reject(new Error('The monitor ended')))
      await Promise.race([once(started.stdout, 'data'), ended])
      ended.catch(() => {})
    },
    kill,
    watched: async () => (await fetch(url)).json(),
    async remove() {
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
