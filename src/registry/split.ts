/** The result of {@link splitUntilAlone}. */
export interface Split<Item> {
  /** Items that failed alone, each with its cause, in the order in which they failed. */
  readonly refused: readonly Refusal<Item>[]
  /** Items that were given up before they were tried alone: the service is down, or no time was left. */
  readonly untried: readonly Item[]
  /** If there are untried items, why the last attempt failed; `undefined` if there was no time for any. */
  readonly lastCause: unknown
}

export interface Refusal<Item> {
  readonly item: Item
  readonly cause: unknown
}

interface Attempts<Item> {
  /** Processes items together, all or none. Rejects if they failed. */
  attempt(items: readonly Item[]): Promise<unknown>
  /** Tells whether there is time for another attempt. Default: always. */
  hasTime?: () => boolean
  /** Items to try alone, before the others are tried together. Default: none. */
  probes?: readonly Item[]
}

/**
 * Processes items together, and splits a part that fails in two until each failing item is alone: a bad item fails no
 * other. n items cost at most 2 n − 1 attempts.
 *
 * A service that is down must not be asked that often. It counts as down when the first {@link maxFailures} attempts
 * have all failed; the rest is then not tried. To tell it from a few bad items, each of these attempts takes items that
 * only the first attempt has taken before, half as many as the attempt before it. A single bad item can fail only one
 * of these parts.
 */
export async function splitUntilAlone<Item>(
  items: readonly Item[],
  { attempt, hasTime = () => true, probes = [] }: Attempts<Item>,
): Promise<Split<Item>> {
  const rest = probes.length === 0 ? items : items.filter(item => !probes.includes(item))
  const waiting = [...probes.map(item => [item]), rest].filter(part => part.length > 0)
  const refused: Refusal<Item>[] = []
  let failures = 0
  let hasGoneThrough = false
  let largest = items.length
  let lastCause: unknown

  while (waiting.length > 0) {
    if ((!hasGoneThrough && failures === maxFailures(items.length)) || !hasTime()) {
      return { refused, untried: waiting.flat(), lastCause }
    }
    const part = takePart(waiting, largest)
    try {
      await attempt(part)
      hasGoneThrough = true
      largest = items.length
    } catch (cause) {
      failures += 1
      lastCause = cause
      if (!hasGoneThrough) largest = Math.max(1, Math.floor(part.length / 2))
      if (part.length === 1) refused.push({ item: part[0] as Item, cause })
      else waiting.push(...halve(part))
    }
  }
  return { refused, untried: [], lastCause: undefined }
}

/** After how many failed attempts, without a success, a service counts as down. */
export const maxFailures = (count: number) => Math.ceil(Math.log2(count)) + 2

/** Removes the first part, or a piece of it of at most `largest` items. */
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
