/**
 * Makes an application's reporter safe to call: reporting a failure must not cause another one. Errors that the
 * reporter throws are ignored. Rejections of its promise are also ignored: unhandled, they would end the process.
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
