/** A list without gaps. */
export interface LongList<Item> {
  readonly length: number
  get(index: number): Item
  set(index: number, item: Item): void
  /** @returns The index of the item. */
  push(item: Item): number
  /** Takes the last item out. There must be one. */
  pop(): Item
}

/** Makes an empty list for any number of items: an array of many millions stops the process whenever it grows. */
export function createLongList<Item>(): LongList<Item> {
  const pages: Item[][] = [[]]
  let length = 0
  const pageOf = (index: number) => pages[index >>> PAGE_BITS] as Item[]

  return {
    get length() {
      return length
    },
    get: index => pageOf(index)[index & PAGE_MASK] as Item,
    set(index, item) {
      pageOf(index)[index & PAGE_MASK] = item
    },
    push(item) {
      const index = length++
      if (index >>> PAGE_BITS === pages.length) pages.push([])
      pageOf(index).push(item)
      return index
    },
    pop() {
      length -= 1
      const item = pageOf(length).pop() as Item
      if ((length & PAGE_MASK) === 0 && length > 0) pages.pop()
      return item
    },
  }
}

const PAGE_BITS = 13
const PAGE_MASK = 2 ** PAGE_BITS - 1
