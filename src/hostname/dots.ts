/**
 * Where the dots of a name are, one bit for a character: bit 0 stands for the end of the name, bit n for the character n
 * places before the end, and the bit after that of the first character for the beginning. Both ends count as dots, so that
 * every label stands between two. Of a long name only the last 31 characters are told. A search in them takes a few
 * instructions, and in the name itself more than all the rest.
 */
export type Dots = number

/** Both ends and the characters between them; the sign of the integer is left alone. */
export const MAX_LENGTH_WITH_DOTS = 29

/** Where the label begins that ends before `end`: at the end of the name, or at one of its dots. */
export function startOfLabel(name: string, end: number, dots: Dots): number {
  const fromEnd = name.length - end + 1
  const dotsBefore = fromEnd < 32 ? dots >>> fromEnd : 0
  return dotsBefore === 0 ? name.lastIndexOf('.', end - 1) + 1 : end - lowestBit(dotsBefore)
}

const lowestBit = (bits: number) => 31 - Math.clz32(bits & -bits)
