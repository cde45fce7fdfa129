/** Lets at most `most` calls and sweeps push at once. The others wait in line. */
export function createTurns(most: number) {
  let free = most
  const waiting: (() => void)[] = []
  return {
    /** Resolves to whether the turn came within the time, and before `signal` was aborted. */
    enter(milliseconds: number, signal: AbortSignal | undefined): boolean | Promise<boolean> {
      if (free > 0) {
        free -= 1
        return true
      }
      return new Promise(resolve => {
        const settle = (isTurn: boolean) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', leave)
          resolve(isTurn)
        }
        const enter = () => settle(true)
        const leave = () => {
          waiting.splice(waiting.indexOf(enter), 1)
          settle(false)
        }
        const timer = setTimeout(leave, milliseconds)
        signal?.addEventListener('abort', leave, { once: true })
        waiting.push(enter)
      })
    },
    leave(): void {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    },
  }
}
