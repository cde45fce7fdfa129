import { isIPv6 } from 'node:net'
import { expect, test } from 'vitest'
import { endsInNumber, readIPv4, readIPv6 } from '../../src/hostname/address.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from '../random.ts'

const random = createRandom(seed)
const pickText = (parts: readonly string[], length: number) =>
  Array.from({ length: random.integer(1, length) }, () => random.pick(parts)).join('')

/** Returns the hostname of a URL; `null` if the URL parser rejects the host. */
function parse(host: string): string | null {
  const url = `http://${host}/`
  return URL.canParse(url) ? new URL(url).hostname : null
}

test('IPv4 addresses are read in every spelling as by the URL parser', () => {
  const numbers = ['0', '1', '8', '9', '08', '010', '0377', '0400', '255', '256', '999', '0x', '0xff', '0xg', '65536']
  const more = ['4294967295', '4294967296', '0xffffffff', '0x100000000', '037777777777', '-1', '+1', '1e1', '']
  let read = 0
  for (let index = 0; index < counts.spellings; index += 1) {
    const length = random.integer(1, 6)
    const text = Array.from({ length }, () => random.pick(random.pick([numbers, numbers, more]))).join('.')
    if (text.endsWith('.') || !endsInNumber(text)) continue
    const address = readIPv4(text)?.address ?? null
    if (address !== null) read += 1
    expect([text, address]).toEqual([text, parse(text)])
  }
  expect(read).toBeGreaterThan(counts.spellings / 20)
})

test('IPv6 addresses are read as by net.isIPv6 and the URL parser', () => {
  const parts = [
    '0',
    '1',
    'ffff',
    '2001',
    'db8',
    '00a',
    '0000',
    ':',
    '::',
    ':',
    '12345',
    'g',
    '.',
    '1.2.3.4',
    '01.2.3.4',
  ]
  let read = 0
  for (let index = 0; index < counts.spellings; index += 1) {
    const groups = Array.from({ length: random.integer(1, 9) }, () => random.pick(['0', '1', 'ffff', '00a', 'db8', '']))
    const tail = random.pick(['', '', '', ':1.2.3.4', ':1.2.3.256', ':0x1.2.3.4', ':01.2.3.4', '::'])
    const text = random.pick([pickText(parts, 10), groups.join(':') + tail])
    const address = readIPv6(text)?.address ?? null
    if (address !== null) read += 1
    expect([text, address === null]).toEqual([text, !isIPv6(text)])
    if (address !== null) expect([text, `[${address}]`]).toEqual([text, parse(`[${text}]`)])
  }
  expect(read).toBeGreaterThan(counts.spellings / 50)
})
