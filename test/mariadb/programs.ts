import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** The programs of this folder, each in one file, which starts several times faster. */
export async function bundlePrograms(directory: string) {
  await build({
    entryPoints: [here('node.ts'), here('racer.ts')],
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  })
  const children = new Set<ChildProcess>()

  /** Starts a program, and resolves to it and to what it tells first. */
  async function start(program: 'node' | 'racer', task: object): Promise<{ child: ChildProcess; told: unknown }> {
    const child = fork(join(directory, `${program}.cjs`))
    children.add(child)
    child.once('exit', () => children.delete(child))
    child.send(task)
    const ended = once(child, 'exit').then(() => {
      throw new Error(`A ${program} has ended before it was ready`)
    })
    const [told] = await Promise.race([once(child, 'message'), ended])
    ended.catch(() => {})
    return { child, told }
  }

  async function stop(): Promise<void> {
    await Promise.all([...children].map(kill))
  }
  return { start, stop }
}

/** By SIGKILL. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
