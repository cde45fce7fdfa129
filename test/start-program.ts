import { fork } from 'node:child_process'
import { once } from 'node:events'
import { compile } from './compile.ts'

/** Makes Node compile WebAssembly quickly instead of optimizing it: each short process compiles the database again. */
export const wasmFlags = ['--liftoff-only']

export type Program = Awaited<ReturnType<typeof startProgram>>

/** Runs a TypeScript program of the tests in its own process. */
export async function startProgram(program: URL, ...parameters: readonly string[]) {
  const child = fork(await compile(program), parameters, { execArgv: [...wasmFlags, '--no-warnings'] })

  /** Resolves to the next message from the process, and rejects if the process ends first. */
  async function receive(): Promise<unknown> {
    const received = new AbortController()
    const { signal } = received
    // Node emits 'disconnect' after the last message. 'exit' may come earlier.
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
    pid: child.pid as number,
    receive,
    /** Sends a message, and resolves to the next message from the process. */
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
