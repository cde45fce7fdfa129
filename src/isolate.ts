import { TimeLimitError } from './time/deadline.ts'

/** The outcome of the attempts up to now. */
export interface Progress {
  readonly hasSucceeded: boolean
  readonly failures: number
  /** Failures since the last success. */
  readonly failuresInARow: number
  /** The last failure. */
  readonly cause: unknown
}

/** The failure of an attempt. */
export interface Failure {
  readonly cause: unknown
}

/** How to process items if some of them may fail. */
interface Isolating<Item> {
  /**
   * Processes some of the items.
   *
   * @returns `null` if all of them succeeded, otherwise the failure. If this method rejects, the work ends.
   */
  attempt(part: readonly Item[]): Promise<Failure | null>
  /** Called before each attempt. Returns whether to stop. */
  isOver(progress: Progress): boolean
  /** The maximum number of items in an attempt. */
  readonly largest?: number
  /** The maximum number of items in the first attempt. The maximum doubles with each success. Default: `largest`. */
  readonly first?: number
  /**
   * Called when each item has either succeeded or failed alone. Returns at most `most` further items, or none if there
   * are no more. Default: there are no more.
   */
  readonly findMore?: ((most: number) => Promise<readonly Item[]>) | undefined
  /** Returns what an item may have in common with others that fail. Default: all items are in one group. */
  readonly groupOf?: (item: Item) => unknown
}

/** The last failure of an item. */
export interface ItemFailure {
  readonly cause: unknown
  /** Whether the item was attempted alone. */
  readonly isAlone: boolean
}

/** The outcome of {@link isolate}. */
export interface Isolated<Item> extends Progress {
  /** The items that did not succeed. `null`: the item was not attempted. */
  readonly unfinished: ReadonlyMap<Item, ItemFailure | null>
  /** Whether the work ended although there may be items that could have been attempted. */
  readonly isCut: boolean
}

/**
 * Processes items in one queue, and isolates failing items so that they do not affect others. The items of a failed
 * attempt go to the end of the queue, and each attempt with one of them is at most half as large from then on, until
 * each failing item is alone. Items that have failed and items that have not do not share an attempt.
 *
 * From the second failure in a row on, an attempt has items of one group, and if it fails, the next attempt is for the
 * next group. So a few groups that fail do not use up all attempts.
 *
 * If everything fails, attempts shrink quickly: from the second failure in a row on, all attempts are at most half as
 * large as the failed one. The maximum doubles with each success. After a timeout, a quarter replaces the half, because
 * the next attempt also gets less time.
 */
export async function isolate<Item>(items: readonly Item[], options: Isolating<Item>): Promise<Isolated<Item>> {
  const { attempt, isOver, largest = Number.POSITIVE_INFINITY, first = largest, findMore, groupOf = oneGroup } = options
  const queue: Item[] = []
  const unfinished = new Map<Item, ItemFailure | null>()
  const sizes = new Map<Item, number>()
  function add(added: readonly Item[]): void {
    queue.push(...added)
    for (const item of added) unfinished.set(item, null)
  }
  add(items)
  const progress = { hasSucceeded: false, failures: 0, failuresInARow: 0, cause: undefined as unknown }
  let window = first
  let isCut = false
  while (queue.length > 0 || findMore) {
    isCut = isOver(progress)
    if (isCut) break
    if (queue.length === 0) {
      add((await findMore?.(window)) ?? [])
      if (queue.length === 0) break
      continue // because time has passed
    }
    const toGroup = progress.failuresInARow > 1 ? groupOf : oneGroup
    const part = takePart(queue, sizes, window, toGroup)
    const failure = await attempt(part)
    if (!failure) {
      for (const item of part) unfinished.delete(item)
      progress.hasSucceeded = true
      progress.failuresInARow = 0
      window = Math.min(largest, 2 * window)
      continue
    }
    progress.cause = failure.cause
    progress.failures += 1
    progress.failuresInARow += 1
    const isLate = failure.cause instanceof TimeLimitError
    const smaller = Math.max(1, Math.floor(part.length / (isLate ? 4 : 2)))
    if (isLate || progress.failuresInARow > 1) window = smaller
    for (const item of part) {
      sizes.set(item, smaller)
      unfinished.set(item, { cause: failure.cause, isAlone: part.length === 1 })
    }
    if (part.length > 1) queue.push(...part)
    const group = toGroup(part[0] as Item)
    const next = queue.findIndex(item => toGroup(item) !== group)
    if (next > 0) queue.push(...queue.splice(0, next))
  }
  return { ...progress, unfinished, isCut }
}

const oneGroup = () => null

/** Removes and returns the longest part from the front of the queue that may be attempted together. */
function takePart<Item>(
  queue: Item[],
  sizes: ReadonlyMap<Item, number>,
  window: number,
  toGroup: (item: Item) => unknown,
): readonly Item[] {
  const [first] = queue as [Item]
  let most = window
  let count = 0
  for (const item of queue) {
    most = Math.min(most, sizes.get(item) ?? window)
    if (count >= most || sizes.has(item) !== sizes.has(first) || toGroup(item) !== toGroup(first)) break
    count += 1
  }
  return queue.splice(0, count)
}
