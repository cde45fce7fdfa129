import type { Holding } from './holding.ts'

/** Returns the first holdings of a list by ID, which is the order in which they were made. */
export function listPage(
  holdings: Iterable<Holding>,
  isListed: (holding: Holding) => boolean,
  limit: number,
): Holding[] {
  let page: Holding[] = []
  let last: string | undefined
  const cut = () => {
    page = page.sort((one, other) => (one.domainId < other.domainId ? -1 : 1)).slice(0, limit)
    if (page.length === limit) last = page.at(-1)?.domainId
  }
  for (const holding of holdings) {
    if (!isListed(holding) || (last !== undefined && holding.domainId > last)) continue
    page.push(holding)
    // Shortened now and then, so that a page costs one pass and no memory for all holdings.
    if (page.length === 2 * limit + 1) cut()
  }
  cut()
  return page
}
