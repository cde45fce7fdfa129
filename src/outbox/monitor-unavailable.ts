/**
 * Thrown by your push if the monitor is unavailable. If the monitor refuses a change, throw any other error. If the
 * error has `retryAfter`, the sweep ends at once. Otherwise the sweep ends once two pushes in a row throw this error,
 * because a gateway may respond to a single bad change as if the monitor were unavailable. Changes that were not
 * delivered stay pending, and do not count as refused.
 *
 * @example
 * const { status } = await fetch(url, { method: 'POST' })
 * if (status === 503) throw new MonitorUnavailableError(`The monitor returned ${status}`)
 */
export class MonitorUnavailableError extends Error {
  override readonly name = 'MonitorUnavailableError'
  /** Milliseconds after which to retry, if the monitor specified a time. */
  readonly retryAfter: number | undefined

  constructor(message: string, { retryAfter, ...options }: ErrorOptions & { retryAfter?: number | undefined } = {}) {
    super(message, options)
    this.retryAfter = retryAfter
  }
}

/**
 * Compares names instead of using `instanceof`: if both the ESM and the CommonJS files are loaded, there are two such
 * classes.
 */
export function isMonitorUnavailable(error: unknown): error is MonitorUnavailableError {
  return error instanceof Error && error.name === 'MonitorUnavailableError'
}
