import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const installed = `${here}node_modules/domain-registration`

/**
 * Installs the packed package where the servers find it. Also bundles the package into the Worker, in which Node's
 * modules do not exist.
 */
export async function setup(): Promise<void> {
  rmSync(installed, { recursive: true, force: true })
  mkdirSync(installed, { recursive: true })
  const run = (command: string, ...parameters: string[]) =>
    execFileSync(command, parameters, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', installed))
  run('tar', '-xzf', `${installed}/${filename}`, '-C', installed, '--strip-components=1')
  await build({
    config: false,
    silent: true,
    entry: { worker: `${here}servers/worker.js` },
    outDir: `${here}node_modules/worker`,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    noExternal: [/./],
    splitting: false,
  })
}
