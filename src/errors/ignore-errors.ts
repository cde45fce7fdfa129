/**
 * Makes an application's reporter safe to call: reporting a failure must not cause another. What the reporter throws is
 * ignored, and so is a rejection of its promise, which would end the process if it went unhandled.
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
