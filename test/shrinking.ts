/**
 * Limits how often a property is tried again to find a shorter counterexample. On a busy machine, a time limit would
 * also end the runs in which no counterexample has been found yet.
 */
export function shrinkingAtMost<Value>(attempts: number, property: (value: Value) => Promise<void>) {
  let remaining = Number.POSITIVE_INFINITY
  return async (value: Value): Promise<void> => {
    if (remaining === 0) return
    remaining -= 1
    try {
      await property(value)
    } catch (error) {
      remaining = Math.min(remaining, attempts)
      throw error
    }
  }
}
