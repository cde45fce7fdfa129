import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { workerd } from './runtimes.ts'

interface WorkerOptions {
  /** The path of the Worker below `test/runtimes`. */
  readonly script: string
  /** In the format of workerd, with the Worker as `worker.js`. */
  readonly config: string
  /** More parameters. */
  readonly parameters?: (folder: string) => readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Bundles a Worker, and starts it in workerd. */
export async function startWorkerd({ script, config, parameters, environment }: WorkerOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'workerd-'))
  await build({
    config: false,
    silent: true,
    entry: { worker: fileURLToPath(new URL(script, import.meta.url)) },
    outDir: folder,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    noExternal: [/^(?!cloudflare:)/],
    external: [/^cloudflare:/],
    splitting: false,
  })
  writeFileSync(join(folder, 'worker.capnp'), config)
  const spawned = spawn(workerd.program as string, [...workerd.run, ...(parameters?.(folder) ?? []), 'worker.capnp'], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const ended = once(spawned, 'exit').then(() => Promise.reject(new Error('workerd ended')))
  const [line] = (await Promise.race([once(spawned.stdio[3] as Readable, 'data'), ended])) as [Buffer]
  ended.catch(() => {})
  return {
    origin: `http://127.0.0.1:${JSON.parse(line.toString()).port}`,
    async stop() {
      const exit = once(spawned, 'exit')
      spawned.kill('SIGKILL')
      await exit
      rmSync(folder, { recursive: true })
    },
  }
}
