/** What waits in lines: it comes before all that have a higher round, and of its own round, before higher numbers. */
export interface InLine {
  /** The same for all that have the same `locks`. */
  readonly key: string
  readonly locks: readonly string[]
  round: number
  number: number
  /** In how many of its lines another one is first. */
  behind: number
}

/**
 * A line for each registrable domain, with all that have or want it. Who is first in all of its lines may begin, and
 * stays there until it leaves: nobody is inserted before it. All lines have the same order, so none waits in a circle.
 */
export function createLines<Entry extends InLine>() {
  const lines = new Map<string, Entry[]>()
  const isFirst = (entry: Entry | undefined) => entry?.behind === 0

  return {
    enter(entry: Entry): void {
      entry.behind = 0
      for (const lock of entry.locks) {
        const line = lines.get(lock)
        if (!line) lines.set(lock, [entry])
        else if (insert(line, entry, isFirst(line[0]) ? 1 : 0) > 0) entry.behind += 1
        else (line[1] as Entry).behind += 1
      }
    },

    /** Returns those that are now first in all of their lines. */
    leave(entry: Entry): readonly Entry[] {
      const first: Entry[] = []
      for (const lock of entry.locks) {
        const line = lines.get(lock) as Entry[]
        const at = line.indexOf(entry)
        line.splice(at, 1)
        const [next] = line
        if (!next) lines.delete(lock)
        else if (at === 0) {
          next.behind -= 1
          if (isFirst(next)) first.push(next)
        }
      }
      return first
    },

    /**
     * Returns a function that takes an entry which is first once all that were taken before have left. It returns those
     * that are first once this one has left as well.
     */
    startTaking(): (entry: Entry) => readonly Entry[] {
      const taken = new Map<string, number>()
      const nextFor = (lock: string) => lines.get(lock)?.[taken.get(lock) ?? 0]
      return ({ locks }) => {
        for (const lock of locks) taken.set(lock, (taken.get(lock) ?? 0) + 1)
        const next = new Set(locks.flatMap(lock => nextFor(lock) ?? []))
        return [...next].filter(entry => entry.locks.every(lock => nextFor(lock) === entry))
      }
    },

    /** Returns all that have or want a registrable domain, in their order. */
    of: (lock: string | undefined): readonly Entry[] => lines.get(lock as string) ?? [],

    /** Returns the one that has this index in each of these lines. */
    at([first, ...others]: readonly string[], index: number): Entry | undefined {
      const entry = this.of(first)[index]
      return others.every(lock => this.of(lock)[index] === entry) ? entry : undefined
    },
  }
}

export const isBefore = (one: InLine, other: InLine) =>
  one.round < other.round || (one.round === other.round && one.number < other.number)

/** Inserts an entry into a sorted line by binary search, but not before index `from`. Returns its index. */
export function insert<Entry extends InLine>(line: Entry[], entry: Entry, from = 0): number {
  let [low, high] = [from, line.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(entry, line[middle] as Entry)) high = middle
    else low = middle + 1
  }
  line.splice(low, 0, entry)
  return low
}
