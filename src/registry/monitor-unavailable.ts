/**
 * A push throws it to say that the monitor is away, and not that it refuses a change. Then no change is pushed alone,
 * and none counts as refused.
 *
 * @example
 * const { status } = await fetch(url, { method: 'POST' })
 * if (status >= 500) throw new MonitorUnavailableError(`The monitor answered ${status}`)
 */
export class MonitorUnavailableError extends Error {
  override readonly name = 'MonitorUnavailableError'
  /** Milliseconds after which to try again, if the monitor said so. */
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
