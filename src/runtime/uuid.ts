/**
 * Creates a generator of UUIDs of version 7 (RFC 9562, section 5.7). Each UUID consists of the time in milliseconds, a
 * counter and random bits, so UUIDs sort in the order of creation and are adjacent in a database index.
 *
 * The counter follows method 1 of section 6.2: it has 12 bits in `rand_a`, and begins at a random number below 2,048
 * each millisecond. If the counter overflows, the time advances by a millisecond, as that section allows. Each UUID has
 * 62 random bits.
 *
 * @example
 * const createId = createUuidGenerator()
 * createId() // '01a1fdc4-24dc-7291-9bdf-caca67ce70da'
 */
export function createUuidGenerator(): (now?: number) => string {
  const random = new Uint32Array(8192)
  let used = random.length
  let time = 0
  let upperTime = 0
  let lowerTime = 0
  let counter = 0

  function setTime(milliseconds: number): void {
    time = milliseconds
    upperTime = Math.floor(time / 0x10000)
    lowerTime = time % 0x10000
  }

  function drawWord(): number {
    if (used === random.length) {
      // Draws many random words at once, because each call of `getRandomValues` is expensive.
      crypto.getRandomValues(random)
      used = 0
    }
    return random[used++] as number
  }

  return (now = Date.now()) => {
    if (now > time) {
      setTime(now)
      counter = drawWord() & 0x7ff
    } else if (++counter > 0xfff) {
      setTime(time + 1)
      counter = 0
    }
    return format(upperTime, (lowerTime << 16) | 0x7000 | counter, (drawWord() >>> 2) | 0x80000000, drawWord())
  }
}

/** RFC 9562, section 5.7: a UUID of version 7 begins with its time, in milliseconds. */
export const timeOfUuid = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/**
 * Formats four words of 32 bits, the most significant word first. It builds the text from character codes, because
 * joined strings would take more memory.
 */
function format(a: number, b: number, c: number, d: number): string {
  // biome-ignore format: one line for each group
  return String.fromCharCode(
    digit(a, 28), digit(a, 24), digit(a, 20), digit(a, 16), digit(a, 12), digit(a, 8), digit(a, 4), digit(a, 0), HYPHEN,
    digit(b, 28), digit(b, 24), digit(b, 20), digit(b, 16), HYPHEN,
    digit(b, 12), digit(b, 8), digit(b, 4), digit(b, 0), HYPHEN,
    digit(c, 28), digit(c, 24), digit(c, 20), digit(c, 16), HYPHEN,
    digit(c, 12), digit(c, 8), digit(c, 4), digit(c, 0),
    digit(d, 28), digit(d, 24), digit(d, 20), digit(d, 16), digit(d, 12), digit(d, 8), digit(d, 4), digit(d, 0),
  )
}

const HYPHEN = 0x2d
const DIGITS = Array.from('0123456789abcdef', character => character.charCodeAt(0))

const digit = (word: number, shift: number) => DIGITS[(word >>> shift) & 15] as number
