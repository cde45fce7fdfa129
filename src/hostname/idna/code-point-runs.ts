export const NONE = '_'

/** Consecutive code points of one kind. */
interface CodePointRun {
  readonly first: number
  readonly last: number
  /** A capital letter, whose meaning depends on the table, or {@link NONE}. */
  readonly kind: string
}

/**
 * Reads a run-length table of all code points, starting at 0. Each kind is followed by the number of further code
 * points of this kind, in base 36, unless there are none. `_` means no kind: `_3AB9` stands for four code points
 * without a kind, then one of kind A and ten of kind B.
 */
export function parseRuns(table: string): CodePointRun[] {
  let next = 0
  return Array.from(table.matchAll(/([A-Z_])([0-9a-z]*)/g), ([, kind = '', more]) => {
    const first = next
    const last = first + (more ? Number.parseInt(more, 36) : 0)
    next = last + 1
    return { first, last, kind }
  })
}

/** Creates a function that returns the kind of a code point. The table is read at the first call of this function. */
export function createKindOf(table: string): (codePoint: number) => string {
  let runs: readonly CodePointRun[] | undefined
  return codePoint => {
    runs ??= parseRuns(table)
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((runs[middle]?.last ?? 0) < codePoint) low = middle + 1
      else high = middle
    }
    return runs[low]?.kind ?? NONE
  }
}
