import { createDeadline } from './deadline.ts'

/**
 * Does work again and again, from now on. The loop does not keep the process alive.
 *
 * @param work Resolves to the milliseconds until its next turn. It must not reject.
 */
export function startLoop(work: () => Promise<number>) {
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  let timer = schedule(0)

  function schedule(milliseconds: number) {
    const scheduled = setTimeout(() => {
      running = run()
    }, milliseconds)
    // In browsers and Workers, a timer is a number, and does not keep the process alive.
    if (typeof scheduled === 'object') scheduled.unref()
    return scheduled
  }

  async function run(): Promise<void> {
    const pause = await work()
    if (!isStopped) timer = schedule(pause)
  }

  /** Ends the loop. Waits for the turn that runs, for at most `timeLimit` milliseconds. */
  async function stop(timeLimit: number): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    await Promise.resolve(createDeadline(timeLimit).wait(running)).catch(() => {})
  }

  return { stop }
}
