/** A map with at most `most` entries, of which it drops the one that was not used for the longest time. */
export function createCache<Value>(most: number) {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>()
  return {
    /** @param isFresh Whether the value counts only until its time is over. */
    get(key: string, isFresh: boolean): Value | undefined {
      const entry = entries.get(key)
      if (!entry || (isFresh && performance.now() >= entry.until)) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key: string, value: Value, time: number): void {
      entries.set(key, { value, until: performance.now() + time })
      const [oldest] = entries.keys()
      if (entries.size > most && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key: string) => entries.delete(key),
    keys: () => entries.keys(),
  }
}
