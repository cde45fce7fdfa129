/**
 * Makes an application's reporter safe to call: reporting a failure must not cause another failure. Errors that the
 * reporter throws are ignored. If the reporter returns a promise that rejects, the rejection is also ignored: an
 * unhandled rejection would end the process.
 */
export function ignoreErrors<Parameters extends unknown[]>(
  report: ((...parameters: Parameters) => unknown) | undefined,
): (...parameters: Parameters) => void {
  return async (...parameters) => {
    try {
      await report?.(...parameters)
    } catch {}
  }
}
