/**
 * Tells whether a code point is in a set.
 *
 * @param ranges In ascending order and hexadecimal: `'a1-a5 a7 ab-ac'`. Read at the first question.
 */
export function createCodePointSet(ranges: string): (codePoint: number) => boolean {
  let bounds: readonly [first: number, last: number][] | undefined
  return codePoint => {
    bounds ??= parseRanges(ranges)
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((bounds[middle]?.[1] ?? 0) < codePoint) low = middle + 1
      else high = middle
    }
    return (bounds[low]?.[0] ?? Number.POSITIVE_INFINITY) <= codePoint
  }
}

export function parseRanges(ranges: string): [first: number, last: number][] {
  return ranges.split(' ').map(range => {
    const [first = '', last = first] = range.split('-')
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)]
  })
}
