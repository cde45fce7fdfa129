import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { workerd } from './runtimes.ts'

/** Each variable of the environment becomes a binding of the same name. */
const toConfig = (environment: readonly string[]) => `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # The monitor of the test is on this machine.
    (name = "internet", network = (allow = ["private"])),
    # Its folder is given when it is started.
    (name = "disk", disk = (writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  durableObjectNamespaces = [(className = "Registry", uniqueKey = "registry", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "REGISTRY", durableObjectNamespace = "Registry"),
    ${environment.map(name => `(name = "${name}", fromEnvironment = "${name}"),`).join('\n    ')}
  ],
  compatibilityDate = "2026-10-01",
);
`

/** Starts a Worker with the Durable Object `Registry` in workerd. When the Worker stops, its database is deleted. */
export async function startDurableObject(script: string, environment: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'durable-object-'))
  await build({
    config: false,
    silent: true,
    entry: { worker: fileURLToPath(new URL(`sqlite/${script}`, import.meta.url)) },
    outDir: folder,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    noExternal: [/^(?!cloudflare:)/],
    external: [/^cloudflare:/],
    splitting: false,
  })
  writeFileSync(join(folder, 'worker.capnp'), toConfig(Object.keys(environment)))
  const parameters = [...workerd.run, `--directory-path=disk=${folder}`, 'worker.capnp']
  const spawned = spawn(workerd.program as string, parameters, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const [line] = (await once(spawned.stdio[3] as Readable, 'data')) as [Buffer]
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
