import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import type { NodeMessage } from '../whole-system/serve-node.ts'

/** One of our servers, which is killed and restarted, each time on another port. */
export interface Node {
  /** The origin at which the node listens, or listened before it was killed. */
  origin(): string
  /** @param config How the node connects from now on, for example to another database. Default: as before. */
  start(config?: object): Promise<void>
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>
}

export interface Nodes {
  readonly all: readonly Node[]
  /** The failures that the applications on the nodes received. */
  readonly failures: readonly string[]
  stop(): Promise<void>
}

/** A failure is added if a node exits without being killed. */
export const ENDED = 'The node ended'

/**
 * Starts one of our servers for each config. A config says which node of the database the server connects to.
 *
 * @param task Further settings for the program.
 * @param execPath The runtime of the program.
 */
export async function startNodes(
  configs: readonly object[],
  task: object,
  program = new URL('node.ts', import.meta.url),
  execPath = process.execPath,
): Promise<Nodes> {
  const directory = await mkdtemp(join(tmpdir(), 'domain-registration-node-'))
  const bundled = await bundle(program, directory)
  const failures: string[] = []
  const children = new Set<ChildProcess>()

  function load(): ChildProcess {
    const child = fork(bundled, { execPath })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }

  function createNode(config: object, node: number): Node {
    let child: ChildProcess
    // The next process already loads the program while the current one works, so a killed node is replaced quickly.
    let next = load()
    let port = 0
    let isAlive = false
    return {
      origin: () => `http://127.0.0.1:${port}`,
      async start(other = config) {
        config = other
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

/** Bundles the program with its dependencies into one file, which starts several times faster. */
async function bundle(program: URL, directory: string): Promise<string> {
  await build({
    entry: [fileURLToPath(program)],
    outDir: directory,
    format: 'cjs',
    noExternal: [/./],
    config: false,
    silent: true,
  })
  return join(directory, basename(fileURLToPath(program)).replace('.ts', '.cjs'))
}
