/**
 * Where the dots of a name are, one bit for a character: bit 0 stands for the end of the name, bit n for the character n
 * places before the end, and the bit after that of the first character for the beginning. Both ends count as dots, so that
 * every label stands between two. A search in them takes two instructions, and in the name itself more than all the rest.
 */
export type Dots = number

/** Of a name that is too long for so few bits, or whose dots nobody has counted. */
export const UNKNOWN_DOTS: Dots = 0

/** Both ends and the characters between them; the sign of the integer is left alone. */
export const MAX_LENGTH_WITH_DOTS = 29

/** Where the label begins that ends before `end`: at the end of the name, or at one of its dots. */
export function startOfLabel(name: string, end: number, dots: Dots): number {
  if (dots === UNKNOWN_DOTS) return name.lastIndexOf('.', end - 1) + 1
  const fromEnd = name.length - end + 1
  return end - lowestBit(dots >>> fromEnd)
}

const lowestBit = (bits: number) => 31 - Math.clz32(bits & -bits)
