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
  let time = 0
  let counter = 0
  return (now = Date.now()) => {
    if (now > time) {
      time = now
      counter = Math.floor(Math.random() * 0x800)
    } else if (++counter > 0xfff) {
      time += 1
      counter = 0
    }
    const upper = time.toString(16).padStart(12, '0')
    // The last two groups of a random UUID are the variant and 62 random bits, as in version 7.
    const random = crypto.randomUUID().slice(19)
    return `${upper.slice(0, 8)}-${upper.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${random}`
  }
}

/** RFC 9562, section 5.7: a UUID of version 7 begins with its time, in milliseconds. */
export const timeOfUuid = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
