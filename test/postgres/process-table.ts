import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
/**
 * Milliseconds between two checks for remaining processes, and the time after which remaining processes count as stuck.
 */
const PAUSE = 20
const STUCK = 30_000

interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** All processes except zombies. */
async function findProcesses(): Promise<Process[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,command='])
  return stdout.split('\n').flatMap(line => {
    const [, pid, parent, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? []
    return state && !state.startsWith('Z') ? { pid: Number(pid), parent: Number(parent), command: command ?? '' } : []
  })
}

/** The running processes that a process has started. */
export async function findChildren(parent: number): Promise<number[]> {
  return (await findProcesses()).filter(process => process.parent === parent).map(({ pid }) => pid)
}

export async function findAlive(pids: readonly number[]): Promise<Process[]> {
  return (await findProcesses()).filter(({ pid }) => pids.includes(pid))
}

/** Resolves when all of these processes have ended. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + STUCK
  for (;;) {
    const left = await findAlive(pids)
    if (left.length === 0) return
    if (Date.now() > deadline) {
      throw new Error(`Still running:\n${left.map(({ pid, command }) => `${pid} ${command}`).join('\n')}`)
    }
    await new Promise(resolve => setTimeout(resolve, PAUSE))
  }
}
