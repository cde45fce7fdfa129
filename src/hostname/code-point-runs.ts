export const NONE = '_'

/** Neighbouring code points of one kind. */
export interface Run {
  readonly first: number
  readonly last: number
  /** A capital letter, which stands for what the table says, or {@link NONE}. */
  readonly kind: string
}

/**
 * Reads a table of all code points from 0 on: the kind, and in base 36 how many more are of that kind; `_` is none.
 * `_3AB9` are four of no kind, an A and ten Bs.
 */
export function parseRuns(table: string): Run[] {
  let next = 0
  return Array.from(table.matchAll(/([A-Z_])([0-9a-z]*)/g), ([, kind = '', more]) => {
    const first = next
    const last = first + (more ? Number.parseInt(more, 36) : 0)
    next = last + 1
    return { first, last, kind }
  })
}

/** Tells the kind of a code point by a table, which is read at the first question. */
export function createKindOf(table: string): (codePoint: number) => string {
  let runs: readonly Run[] | undefined
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
