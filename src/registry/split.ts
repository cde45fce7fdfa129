/** How a list of items was processed. */
export interface Split<Item> {
  /** Items that failed alone, each with its cause, in the order in which they failed. */
  readonly refused: readonly Refusal<Item>[]
  /** Items that were given up without having been tried alone; none while anything has gone through in time. */
  readonly untried: readonly Item[]
  /** Why the last attempt failed, where something is untried; `undefined` if there was time for no attempt. */
  readonly lastCause: unknown
}

export interface Refusal<Item> {
  readonly item: Item
  readonly cause: unknown
}

interface Attempts<Item> {
  /** Processes items together, all of them or none; rejects if they failed. */
  attempt(items: readonly Item[]): Promise<unknown>
  /** Whether there is time for an attempt. Default: always. */
  hasTime?: () => boolean
  /** Which of the items to try alone, before the others together. Default: none. */
  probes?: readonly Item[]
}

/**
 * Processes items together where that works, and splits what fails until what fails is alone: one bad item fails no
 * other.
 *
 * n items cost at most 2 n − 1 attempts. While nothing has gone through, each attempt takes items that no attempt but
 * the first has taken, and half as many as the one before. So a single bad item never looks like a service that is
 * down, and few bad items hardly ever do: there must be one in each of these parts. When {@link maxFailures} attempts
 * in a row have failed and nothing has gone through, the service counts as down, and the rest is not tried.
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

/** After how many failed attempts, with nothing gone through, a service counts as down. */
export const maxFailures = (count: number) => Math.ceil(Math.log2(count)) + 2

/** Takes out the first part, or as much of it as is wanted at once. */
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
