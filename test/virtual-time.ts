import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from './random.ts'

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

/** What virtual time replaces. */
const real = {
  ...{ setTimeout, clearTimeout, Date, random: Math.random },
  now: performance.now.bind(performance),
  randomUUID: crypto.randomUUID.bind(crypto),
}

/** The timers of the virtual time to which the running code belongs. */
const owner = new AsyncLocalStorage<Set<Timer>>()

/**
 * Creates a time that passes only in `run`, from one timer to the next, so the same seed of `random` repeats the work
 * exactly. While `run` works, it replaces the timers and the random numbers of its own work only: what other test files
 * have left behind in this process may still run, and would take random numbers. The clocks are replaced for all.
 */
export function createVirtualTime(random: Random) {
  /** The process whose code runs. Between two timers, only one process does anything. */
  let running: VirtualProcess | undefined
  /** In milliseconds. */
  let time = 0
  const timers = new Set<Timer>()
  const dueTime = ({ due, process }: Timer) => Math.max(due, process?.frozenUntil ?? 0)
  const isOwn = () => owner.getStore() === timers

  const VirtualDate = class extends Date {
    constructor(...values: readonly []) {
      super(...(values.length > 0 ? values : ([time] as unknown as [])))
    }
    static override now = () => time
  }

  function replace(): void {
    time = 0
    performance.now = () => time
    globalThis.Date = VirtualDate as DateConstructor
    globalThis.setTimeout = ((fire: () => void, milliseconds = 0, ...values: []) => {
      if (!isOwn()) return real.setTimeout(fire, milliseconds, ...values)
      const timer = { due: time + milliseconds, process: running, fire }
      if (!running?.isDead) timers.add(timer)
      return timer
    }) as typeof setTimeout
    globalThis.clearTimeout = ((timer: never) => {
      if (!timers.delete(timer)) real.clearTimeout(timer)
    }) as typeof clearTimeout
    Math.random = () => (isOwn() ? random.fraction() : real.random())
    const toUuid = () => `00000000-0000-4000-8000-${String(random.integer(0, 2 ** 32)).padStart(12, '0')}` as const
    crypto.randomUUID = () => (isOwn() ? toUuid() : real.randomUUID())
  }

  function restore(): void {
    const { now, random, randomUUID, ...globals } = real
    Object.assign(globalThis, globals)
    Object.assign(performance, { now })
    Object.assign(Math, { random })
    Object.assign(crypto, { randomUUID })
  }

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
  async function pass<T>(work: Promise<T>): Promise<T> {
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
      time = Math.max(time, dueTime(next))
      running = next.process
      next.fire()
    }
  }

  return {
    startProcess,
    /** Does the work in virtual time, which begins at 0. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      replace()
      try {
        return await owner.run(timers, () => pass(work()))
      } finally {
        restore()
      }
    },
    /** The process whose code runs now. */
    current: () => running,
    sleep: (milliseconds: number) => new Promise<void>(resolve => setTimeout(resolve, milliseconds)),
  }
}
