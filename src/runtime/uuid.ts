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

/** Formats four words of 32 bits, the most significant word first. */
const format = (...words: readonly number[]): string =>
  words
    .map(word => (word >>> 0).toString(16).padStart(8, '0'))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
