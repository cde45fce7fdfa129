/**
 * Makes UUIDs of version 7 (RFC 9562, section 5.7): the time in milliseconds, then a counter, then random bits, so that
 * they sort in the order in which they were made and land next to each other in a database index.
 *
 * The counter is method 1 of section 6.2: 12 bits in `rand_a`, started at random below 2,048 each millisecond; when it
 * runs over, the time is run ahead by a millisecond, as that section allows. 62 bits are random in each.
 */
export function createUuidGenerator(): () => string {
  const random = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let time = 0
  let counter = 0

  return () => {
    if (used === POOL_BYTES) {
      crypto.getRandomValues(random)
      used = 0
    }
    const start = used
    used += BYTES_PER_UUID
    const at = (index: number) => random[start + index] ?? 0

    const now = Date.now()
    if (now > time) {
      time = now
      counter = ((at(8) << 8) | at(9)) & 0x7ff
    } else if (++counter > 0xfff) {
      time += 1
      counter = 0
    }

    const high = Math.floor(time / 0x10000)
    const low = time % 0x10000
    const byte = (index: number) => HEX[at(index)]
    return (
      `${HEX[high >>> 24]}${HEX[(high >>> 16) & 255]}${HEX[(high >>> 8) & 255]}${HEX[high & 255]}-${HEX[low >>> 8]}${HEX[low & 255]}` +
      `-${HEX[0x70 | (counter >>> 8)]}${HEX[counter & 255]}-${HEX[0x80 | (at(0) & 0x3f)]}${byte(1)}` +
      `-${byte(2)}${byte(3)}${byte(4)}${byte(5)}${byte(6)}${byte(7)}`
    )
  }
}

/** 8 for `rand_b`, 2 for the start of the counter. */
const BYTES_PER_UUID = 10
/** Drawn together: one call for random bytes costs more than a hundred UUIDs. */
const POOL_BYTES = BYTES_PER_UUID * 256

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
