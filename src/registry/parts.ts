import type { Awaitable } from '../time/awaitable.ts'

/** How many items are worked on before others may run. */
export const PART = 200
/** How many rows are read before others may run. */
const ROWS = 1000

/** Lets timers, requests and other calls run between two parts of long work. */
const letOthersRun = () => new Promise(resolve => setTimeout(resolve, 0))

/** Works on many items in parts, and lets others run in between. What fits in one part is done at once. */
export function workInParts<Item, Result>(
  items: readonly Item[],
  work: (part: readonly Item[]) => Awaitable<readonly Result[]>,
): Awaitable<readonly Result[]> {
  return items.length <= PART ? work(items) : goOn([])

  async function goOn(results: Result[]): Promise<readonly Result[]> {
    for (let start = 0; start < items.length; start += PART) {
      if (start > 0) await letOthersRun()
      results.push(...(await work(items.slice(start, start + PART))))
    }
    return results
  }
}

/**
 * Reads up to `limit` rows in parts, and lets others run in between.
 *
 * @param read Returns at most `size` rows, those after `last`; fewer if there are no more.
 */
export function readInParts<Row>(
  limit: number,
  read: (size: number, last?: Row) => Awaitable<readonly Row[]>,
): Awaitable<readonly Row[]> {
  return limit <= ROWS ? read(limit) : goOn([])

  async function goOn(rows: Row[]): Promise<readonly Row[]> {
    for (;;) {
      const size = Math.min(ROWS, limit - rows.length)
      const part = await read(size, rows.at(-1))
      rows.push(...part)
      if (part.length < size || rows.length === limit) return rows
      await letOthersRun()
    }
  }
}
