import { TimeLimitError } from '../time/deadline.ts'

/** The outcome of the attempts up to now. */
export interface HalvingProgress {
  readonly hasSucceeded: boolean
  readonly failures: number
  /** Failures since the last success. */
  readonly failuresInARow: number
  /** The last failure. */
  readonly cause: unknown
}

/** How to process items if some of them may fail. */
export interface WorkByHalves<Item> {
  /**
   * Processes some of the items.
   *
   * @returns `null` if all of them succeeded, otherwise the failure. If this method rejects, the work ends.
   */
  attempt(part: readonly Item[]): Promise<{ readonly cause: unknown } | null>
  /** Called before each attempt. Returns whether to stop. */
  isOver(progress: HalvingProgress): boolean
  /**
   * Returns a number from 0 to 1 (exclusive), which determines which half comes first. Default: always the first half.
   */
  readonly random?: (() => number) | undefined
  /**
   * The maximum number of items in the first attempt. The maximum doubles with each success, and returns to this number
   * after a failure. Set `first` if items are likely to fail. Default: no limit.
   */
  readonly first?: number
  /** The outcome of earlier attempts with other parts. */
  readonly start?: HalvingProgress
}

/** The items that did not succeed. */
export interface Unfinished<Item> extends HalvingProgress {
  /** The items that failed when they were attempted alone. */
  readonly alone: readonly { readonly item: Item; readonly cause: unknown }[]
  /** The items that were not attempted, or that failed only together with other items. */
  readonly left: readonly Item[]
  /** All items that were part of a failed attempt, including those that succeeded later. */
  readonly suspects: ReadonlySet<Item>
}

const NO_PROGRESS: HalvingProgress = { hasSucceeded: false, failures: 0, failuresInARow: 0, cause: undefined }

/**
 * After this many consecutive failures, attempts become smaller. A single failing item would cause fewer failures in a
 * row, so probably everything fails.
 */
const SHRINKS_FROM = 3

/**
 * Processes parts one after another, and isolates failing items so that they do not affect others. A part that fails is
 * split in two. Both halves are retried after all other parts, until each failing item is alone.
 *
 * If everything fails, attempts shrink quickly. After three failures in a row, each attempt is at most half as large as
 * the previous one, until one succeeds. If an attempt times out, the next one is at most a quarter as large. Half would
 * not be enough, because the next attempt also gets less time.
 */
export async function workByHalves<Item>(
  parts: readonly (readonly Item[])[],
  { attempt, isOver, random = () => 0, first, start = NO_PROGRESS }: WorkByHalves<Item>,
): Promise<Unfinished<Item>> {
  const waiting = parts.filter(({ length }) => length > 0)
  const alone: { readonly item: Item; readonly cause: unknown }[] = []
  let { hasSucceeded, failures, failuresInARow, cause } = start
  const suspects = new Set<Item>()
  let largest = first ?? Number.POSITIVE_INFINITY
  while (waiting.length > 0 && !isOver({ hasSucceeded, failures, failuresInARow, cause })) {
    const part = takePart(waiting, largest)
    const failure = await attempt(part)
    if (!failure) {
      hasSucceeded = true
      failuresInARow = 0
      largest = first === undefined ? Number.POSITIVE_INFINITY : 2 * part.length
      continue
    }
    cause = failure.cause
    failures += 1
    failuresInARow += 1
    for (const item of part) suspects.add(item)
    if (first !== undefined) largest = first
    else if (cause instanceof TimeLimitError) largest = Math.max(1, Math.floor(part.length / 4))
    else if (failuresInARow >= SHRINKS_FROM) largest = Math.max(1, Math.floor(part.length / 2))
    if (part.length === 1) alone.push({ item: part[0] as Item, cause })
    else waiting.push(...(random() < 0.5 ? halve(part) : halve(part).reverse()))
  }
  return { hasSucceeded, failures, failuresInARow, cause, alone, left: waiting.flat(), suspects }
}

/**
 * The number of consecutive failures after which everything is assumed to fail. This number is large enough for
 * attempts to shrink to a single item first.
 *
 * @param size The number of items in the largest part.
 */
export const mostFailuresInARow = (size: number) => Math.ceil(Math.log2(size)) + 2

/** Removes and returns the first part, or a piece of it with at most `largest` items. */
function takePart<Item>(waiting: (readonly Item[])[], largest: number): readonly Item[] {
  let part = waiting.shift() as readonly Item[]
  while (part.length > largest) {
    const [first, second] = halve(part)
    waiting.unshift(second)
    part = first
  }
  return part
}

function halve<Item>(items: readonly Item[]): [readonly Item[], readonly Item[]] {
  const middle = Math.floor(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
