import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import type { NodeMessage } from './node.ts'

/** A server of ours that is killed and started again, always on another port. */
export interface Node {
  /** Where it listens, or did before it was killed. */
  origin(): string
  start(): Promise<void>
  /** By SIGKILL. */
  kill(): Promise<void>
}

export interface Nodes {
  readonly all: readonly Node[]
  /** What their hosts learned of failures. */
  readonly failures: readonly string[]
  stop(): Promise<void>
}

/** Stands among the failures when a node has ended that nobody killed. */
export const ENDED = 'The node ended'

/**
 * Starts servers of ours on one database, each through the node of it that its config names.
 *
 * @param task What the program is told as well.
 */
export async function startNodes(
  configs: readonly object[],
  task: object,
  program = new URL('node.ts', import.meta.url),
): Promise<Nodes> {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-node-'))
  const bundled = await bundle(program, directory)
  const failures: string[] = []
  const children = new Set<ChildProcess>()

  function load(): ChildProcess {
    const child = fork(bundled)
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }

  function createNode(config: object, node: number): Node {
    let child: ChildProcess
    // The next one loads its program while this one starts and works, so that a killed node is soon replaced.
    let next = load()
    let port = 0
    let isAlive = false
    return {
      origin: () => `http://127.0.0.1:${port}`,
      async start() {
        child = next
        next = load()
        const isListening = new Promise<number>((resolve, reject) => {
          child.on('message', (message: NodeMessage) => {
            if ('port' in message) resolve(message.port)
            else failures.push(message.failure)
          })
          child.once('exit', () => {
            reject(new Error('The node ended before it listened'))
            if (isAlive) failures.push(ENDED)
          })
        })
        child.send({ ...task, config, node })
        port = await isListening
        isAlive = true
      },
      async kill() {
        if (!isAlive || child.exitCode !== null || child.signalCode !== null) return
        isAlive = false
        const exit = once(child, 'exit')
        child.kill('SIGKILL')
        await exit
      },
    }
  }

  const all = configs.map((config, index) => createNode(config, index + 1))
  async function stop(): Promise<void> {
    const exits = [...children].map(child => once(child, 'exit'))
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(exits)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await Promise.all(all.map(node => node.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return { all, failures, stop }
}

/** Puts the program and all that it needs into one file, which starts several times faster. */
async function bundle(program: URL, directory: string): Promise<string> {
  await build({
    entry: [fileURLToPath(program)],
    outDir: directory,
    format: 'cjs',
    noExternal: [/./],
    config: false,
    silent: true,
  })
  return join(directory, 'node.cjs')
}
