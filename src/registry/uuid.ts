/**
 * Makes UUIDs of version 7 (RFC 9562, section 5.7): the time in milliseconds, then a counter, then random bits, so that
 * they sort in the order in which they were made and land next to each other in a database index.
 *
 * The counter is method 1 of section 6.2: 12 bits in `rand_a`, started at random below 2,048 each millisecond; when it
 * runs over, the time is run ahead by a millisecond, as that section allows. 62 bits are random in each.
 */
export function createUuidGenerator(): (now?: number) => string {
  const random = new Uint8Array(POOL_BYTES)
  const uuid = new Uint8Array(16)
  let used = POOL_BYTES
  let time = 0
  let counter = 0

  return (now = Date.now()) => {
    if (used === POOL_BYTES) {
      crypto.getRandomValues(random)
      used = 0
    }
    for (let index = 8; index < 16; index += 1) uuid[index] = random[used++] as number
    const start = (random[used++] as number) | ((random[used++] as number) << 8)

    if (now > time) {
      time = now
      counter = start & 0x7ff
    } else if (++counter > 0xfff) {
      time += 1
      counter = 0
    }

    const high = Math.floor(time / 0x10000)
    uuid[0] = high >>> 24
    uuid[1] = high >>> 16
    uuid[2] = high >>> 8
    uuid[3] = high
    uuid[4] = time >>> 8
    uuid[5] = time
    uuid[6] = 0x70 | (counter >>> 8)
    uuid[7] = counter
    uuid[8] = 0x80 | ((uuid[8] as number) & 0x3f)
    return format(uuid)
  }
}

/** 8 for `rand_b`, 2 for the start of the counter. */
const BYTES_PER_UUID = 10
/** Drawn together: one call for random bytes costs more than a hundred UUIDs. */
const POOL_BYTES = BYTES_PER_UUID * 256

/** From character codes: a text put together from parts costs six times the time, and nine times the memory until read. */
function format(uuid: Uint8Array): string {
  const high = (index: number) => HEX.charCodeAt((uuid[index] as number) >>> 4)
  const low = (index: number) => HEX.charCodeAt((uuid[index] as number) & 15)
  // biome-ignore format: one line for each group
  return String.fromCharCode(
    high(0), low(0), high(1), low(1), high(2), low(2), high(3), low(3), HYPHEN,
    high(4), low(4), high(5), low(5), HYPHEN,
    high(6), low(6), high(7), low(7), HYPHEN,
    high(8), low(8), high(9), low(9), HYPHEN,
    high(10), low(10), high(11), low(11), high(12), low(12), high(13), low(13), high(14), low(14), high(15), low(15),
  )
}

const HEX = '0123456789abcdef'
const HYPHEN = 0x2d
