import type { Awaitable } from './awaitable.ts'
import { TimeLimitError } from './deadline.ts'

/** When to stop waiting for work. */
export interface Limits {
  readonly milliseconds: number
  /** The message of the error that is thrown when the time limit is reached. */
  readonly message: string
  /** Ends the wait earlier. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Calls `work`, and waits until it settles or a limit is reached. The signal that `work` gets is aborted when a limit
 * is reached. If `work` ignores that signal and continues, its outcome is ignored.
 *
 * @throws {TimeLimitError} when the wait times out.
 * @throws The reason of `signal`, once this signal is aborted. If `signal` is aborted from the start, `work` is not
 *   called.
 */
export async function runWithin<T>(
  { milliseconds, message, signal }: Limits,
  work: (signal: AbortSignal) => Awaitable<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => controller.abort(new TimeLimitError(message)), Math.ceil(milliseconds))
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  const run = async () => work(controller.signal)
  try {
    return await Promise.race([aborted, run()])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
