import { vi } from 'vitest'

/** A process in virtual time: what its `run` has started, and what the timers of that work start. */
export interface VirtualProcess {
  /** Its timers wait until this time, in milliseconds of the monotonic clock. */
  frozenUntil: number
  isDead: boolean
  /** Ends the process: its timers never fire. */
  kill(): void
  /** Settles as the work does, or to `undefined` when the process dies. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>
}

interface Timer {
  readonly due: number
  readonly process: VirtualProcess | undefined
  readonly fire: () => void
}

export type VirtualTime = ReturnType<typeof createVirtualTime>

const realTurn = () => new Promise(resolve => setImmediate(resolve))

/**
 * Replaces the clocks and timers of this process. Time passes only in `run`, from one timer to the next. End it with
 * `vi.useRealTimers` and `vi.unstubAllGlobals`.
 */
export function createVirtualTime() {
  /** The process whose code runs. Between two timers, only one process does anything. */
  let running: VirtualProcess | undefined
  const timers = new Set<Timer>()
  const dueTime = ({ due, process }: Timer) => Math.max(due, process?.frozenUntil ?? 0)
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 0 })
  vi.stubGlobal('setTimeout', (fire: () => void, milliseconds = 0) => {
    const timer = { due: performance.now() + milliseconds, process: running, fire }
    if (!running?.isDead) timers.add(timer)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: Timer) => timers.delete(timer))

  function startProcess(): VirtualProcess {
    let end = () => {}
    const ended = new Promise<undefined>(resolve => {
      end = () => resolve(undefined)
    })
    const process: VirtualProcess = {
      frozenUntil: 0,
      isDead: false,
      kill() {
        process.isDead = true
        for (const timer of timers) if (timer.process === process) timers.delete(timer)
        end()
      },
      run(work) {
        running = process
        return Promise.race([work(), ended]).finally(() => {
          running = undefined
        })
      },
    }
    return process
  }

  /** Waits for the work while virtual time passes. */
  async function run<T>(work: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = work.finally(() => {
      isSettled = true
    })
    settled.catch(() => {})
    for (;;) {
      await realTurn()
      if (isSettled) return settled
      let next: Timer | undefined
      for (const timer of timers) if (!next || dueTime(timer) < dueTime(next)) next = timer
      if (!next) throw new Error('The work waits for something that never happens')
      timers.delete(next)
      vi.advanceTimersByTime(Math.max(0, dueTime(next) - performance.now()))
      running = next.process
      next.fire()
    }
  }

  return {
    startProcess,
    run,
    /** The process whose code runs now. */
    current: () => running,
    sleep: (milliseconds: number) => new Promise<void>(resolve => setTimeout(resolve, milliseconds)),
  }
}
