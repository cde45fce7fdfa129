/**
 * Makes a host's reporter safe to call: reporting a failure must not become one. What the reporter throws is ignored,
 * and so is a promise of it that is rejected, which would end the process if nobody held it.
 */
export function harmless<Parameters extends unknown[]>(
  report: ((...parameters: Parameters) => unknown) | undefined,
): (...parameters: Parameters) => void {
  return async (...parameters) => {
    try {
      await report?.(...parameters)
    } catch {}
  }
}
