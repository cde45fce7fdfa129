import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

/** The example and the package, bundled into one file, which starts several times faster. */
async function bundle(directory: string): Promise<string> {
  const entry = [fileURLToPath(new URL('../../examples/monitor.ts', import.meta.url))]
  const outExtension = () => ({ js: '.mjs' })
  await build({ entry, outDir: directory, outExtension, format: 'esm', noExternal: [/./], config: false, silent: true })
  return join(directory, 'monitor.mjs')
}

export const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

/** examples/monitor.ts, which can be killed and restarted with its saved state. */
export interface MonitorProcess {
  readonly url: string
  start(): Promise<void>
  /** Kills the monitor with SIGKILL. */
  kill(): Promise<void>
  /** The watched hostnames, by `domainId`. */
  watched(): Promise<Readonly<Record<string, string>>>
  /**
   * Restarts the monitor without its memory of released IDs, because a restored registry may contain these IDs again.
   */
  forgetReleased(): Promise<void>
  /** Kills the monitor, and removes its saved state. */
  remove(): Promise<void>
}

export async function createMonitorProcess(port: number): Promise<MonitorProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-monitor-'))
  const journal = join(directory, 'changes')
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret, JOURNAL: journal }
  const url = `http://127.0.0.1:${port}/`
  const program = await bundle(directory)
  let child: ChildProcess | undefined

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    child = started
    const ended = once(started, 'exit').then(() => Promise.reject(new Error('The monitor ended')))
    await Promise.race([once(started.stdout, 'data'), ended])
    ended.catch(() => {})
  }

  const watched = async (): Promise<Record<string, string>> => (await fetch(url)).json()

  return {
    url,
    start,
    kill,
    watched,
    async forgetReleased() {
      const changes = Object.entries(await watched()).map(([domainId, domain]) => {
        return { kind: 'registered', domainId, domain }
      })
      await kill()
      await writeFile(journal, `${JSON.stringify(changes)}\n`)
      await start()
    },
    async remove() {
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
