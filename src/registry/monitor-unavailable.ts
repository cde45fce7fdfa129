/**
 * A push throws it if the monitor is unavailable, as opposed to refusing a change. With `retryAfter`, the sweep ends;
 * without, it ends at the second time in a row, because a single change may make a gateway respond so. The remaining
 * changes do not count as refused.
 *
 * @example
 * const { status } = await fetch(url, { method: 'POST' })
 * if (status === 503) throw new MonitorUnavailableError(`The monitor returned ${status}`)
 */
export class MonitorUnavailableError extends Error {
  override readonly name = 'MonitorUnavailableError'
  /** Milliseconds after which to retry, if the monitor said so. */
  readonly retryAfter: number | undefined

  constructor(message: string, { retryAfter, ...options }: ErrorOptions & { retryAfter?: number | undefined } = {}) {
    super(message, options)
    this.retryAfter = retryAfter
  }
}

/** By its name, because a package in two module formats has two classes. */
export function isMonitorUnavailable(error: unknown): error is MonitorUnavailableError {
  return error instanceof Error && error.name === 'MonitorUnavailableError'
}
