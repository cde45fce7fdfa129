import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Compiles WebAssembly quickly rather than well: a process compiles its database anew, and ends after a moment. */
export const wasmFlags = ['--liftoff-only']

export type Program = ReturnType<typeof startProgram>

/** Runs a program of the tests, written in TypeScript, as a process of its own. */
export function startProgram(program: URL, ...parameters: readonly string[]) {
  const child = fork(fileURLToPath(program), parameters, {
    execArgv: [...wasmFlags, '--import', 'tsx', '--no-warnings'],
  })

  /** Resolves to its next message, and rejects when it ends before. */
  async function receive(): Promise<unknown> {
    const received = new AbortController()
    const { signal } = received
    // Comes after the last message, as 'exit' need not.
    const ended = once(child, 'disconnect', { signal }).then(() => {
      throw new Error(`${program} ended early`)
    })
    try {
      return (await Promise.race([once(child, 'message', { signal }), ended]))[0]
    } finally {
      received.abort()
    }
  }

  return {
    receive,
    /** Sends a message, and resolves to the next one that comes back. */
    ask(message: object | string): Promise<unknown> {
      const answer = receive()
      child.send(message)
      return answer
    },
    async kill(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}
