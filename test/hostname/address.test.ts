import { isIPv6 } from 'node:net'
import { describe, expect, test } from 'vitest'
import { endsInNumber, readIPv4, readIPv6 } from '../../src/hostname/address.ts'
import { classifyHostname } from '../../src/index.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from '../random.ts'
import { readCases } from '../vectors/read.ts'

const WIDTH = { 4: 32, 6: 128 } as const

/** Converts addresses to numbers and back, independently of the package and its dependencies. */
function toNumber(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n)
  const [head = '', tail] = address.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const missing = 8 - groups(head).length - groups(tail).length
  const all = tail === undefined ? groups(head) : [...groups(head), ...Array(missing).fill('0'), ...groups(tail)]
  return all.reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n)
}

const toGroups = (value: bigint) =>
  Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))

function toText(value: bigint, version: 4 | 6): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map(shift => (value >> shift) & 255n).join('.')
  // The URL parser compresses addresses as RFC 5952 requires.
  return new URL(`http://[${toGroups(value).join(':')}]/`).hostname.slice(1, -1)
}

/** `true` if the hostname is accepted, otherwise the code of the result. */
function outcomeOf(text: string): true | string {
  const classification = classifyHostname(text)
  return classification.valid || classification.code
}

function toRange(block: string, version: 4 | 6): { first: bigint; last: bigint } {
  const [network = '', bits = ''] = block.split('/')
  const size = 1n << BigInt(WIDTH[version] - Number(bits))
  const first = toNumber(network)
  return { first, last: first + size - 1n }
}

/** A block, and the words that describe it in a message. */
type Row = readonly [block: string, words: string]

/**
 * Rejected blocks that are not in the special-purpose registries: multicast and, for IPv6, all addresses outside
 * 2000::/3.
 */
const otherRows: Readonly<Record<4 | 6, readonly Row[]>> = {
  4: [['224.0.0.0/4', 'in 224.0.0.0/4, Multicast (RFC 5771)']],
  6: [
    ['ff00::/8', 'in ff00::/8, Multicast (RFC 4291)'],
    ...['::/3', '4000::/2', '8000::/1'].map((block): Row => [block, 'outside 2000::/3']),
  ],
}

/** One row of the IPv4 registry contains two blocks. The IPv6 registry abbreviates one name. */
const readRows = (version: 4 | 6): Row[] =>
  readCases<[string, string, string]>(`iana-ipv${version}-special-registry.json`).flatMap(([blocks, name, source]) => {
    const words = `${name.replace('Translat.', 'Translation')} (${source.replace(/^\[RFC(\d+)\].*/, 'RFC $1')})`
    return blocks.split(', ').map((block): Row => [block, `in ${block}, ${words}`])
  })

for (const version of [4, 6] as const) {
  describe(`the IANA IPv${version} special-purpose registry`, () => {
    const rows = readRows(version)
    const ranges = [...rows, ...otherRows[version]].map(([block, words]) => ({
      block,
      words,
      ...toRange(block, version),
    }))
    const rangesOf = (value: bigint) => ranges.filter(({ first, last }) => value >= first && value <= last)

    test('has as many rows as on 2025-10-09', () => {
      expect(rows).toHaveLength(version === 4 ? 26 : 25)
    })

    test.each(ranges.map(({ block, first, last }) => [block, first, last] as const))(
      'all of %s is reserved; an adjacent address is reserved only if another block contains it',
      (_, first, last) => {
        const inside = [first, first + (last - first) / 2n, last]
        const outside = [first - 1n, last + 1n].filter(value => value >= 0n && value < 1n << BigInt(WIDTH[version]))
        for (const value of [...inside, ...outside]) {
          const address = toText(value, version)
          const found = classifyHostname(address)
          const { block } = { block: '', ...found }
          const words = rangesOf(value).map(range => range.words)
          expect([address, found]).toEqual([
            address,
            words.length > 0
              ? {
                  valid: false,
                  code: 'reserved_ip',
                  reason: 'reserved_address',
                  address,
                  block: words.some(each => `${block}, `.startsWith(`${each}, `)) ? block : words,
                  message: expect.stringContaining(
                    `${address}" is not public: it is ${block?.replace(/ \(RFC \d+\)/g, '')}`,
                  ),
                }
              : { valid: true, kind: 'ip', domain: address, registrableDomain: address },
          ])
        }
      },
    )
  })
}

describe('IPv4 spellings that a URL parser or inet_aton accepts:', () => {
  const spell = (text: string, radix: 8 | 10 | 16) =>
    ({ 8: `0${BigInt(text).toString(8)}`, 10: text, 16: `0x${BigInt(text).toString(16)}` })[radix]

  /** One to four numbers, each in any radix; the last one fills the remaining bytes. */
  function* spellings(address: string): Generator<string> {
    const octets = address.split('.').map(Number)
    for (const parts of [1, 2, 3, 4]) {
      const last = octets.slice(parts - 1).reduce((value, octet) => value * 256 + octet, 0)
      const numbers = [...octets.slice(0, parts - 1), last].map(String)
      for (const radix of [8, 10, 16] as const) {
        for (const lastRadix of [8, 10, 16] as const) {
          yield numbers.map((number, index) => spell(number, index === parts - 1 ? lastRadix : radix)).join('.')
        }
      }
      yield numbers.map(number => `0x${Number(number).toString(16).toUpperCase().padStart(20, '0')}`).join('.')
      yield numbers.map(number => `000${Number(number).toString(8)}`).join('.')
    }
  }
  const disguises: ((text: string) => string)[] = [
    text => text,
    text => `${text}.`,
    text => ` ${text}\t`,
    text => text.toUpperCase(),
    text => text.replace(/[0-9]/g, digit => String.fromCodePoint(0xff10 + Number(digit))),
    text => text.replace(/[1-9]/g, digit => String.fromCodePoint(0x2460 + Number(digit) - 1)).replaceAll('0', '⓪'),
    text => text.replace(/[0-9]/g, digit => String.fromCodePoint(0x1d7ce + Number(digit))),
    text => text.replaceAll('.', '。'),
    text => text.replaceAll('.', '．'),
    text => text.replaceAll('.', '｡'),
    text => `\u00ad${text}\u200b`,
  ]

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.0.1', '0.0.0.0', '255.255.255.255', '100.64.0.1'])(
    '%s is reserved in every spelling',
    address => {
      const all = [...spellings(address)].flatMap(spelling => disguises.map(disguise => disguise(spelling)))
      expect(all.length).toBeGreaterThan(400)
      expect(all.filter(spelling => outcomeOf(spelling) !== 'reserved_ip')).toEqual([])
    },
  )

  test('8.8.4.4 is accepted only as four decimal numbers, and suggested only for an input with these numbers', () => {
    const all = [...spellings('8.8.4.4')].flatMap(spelling => disguises.map(disguise => disguise(spelling)))
    const accepted = new Set(all.filter(spelling => classifyHostname(spelling).valid).map(spelling => spelling.trim()))
    expect(accepted).toEqual(new Set(['8.8.4.4', '8.8.4.4.']))

    const refused = all.filter(spelling => !classifyHostname(spelling).valid)
    const isSpelled = (text: string) =>
      text
        .normalize('NFKC')
        .replace(/[\s\u00ad\u200b]|[.。]\s*$/g, '')
        .replaceAll('。', '.')
        // Removes leading zeros, which do not change the value of a single digit, even if they mark it as octal.
        .replace(/\b0+(?=[0-9])/g, '') === '8.8.4.4'
    expect(refused.filter(isSpelled).length).toBeGreaterThan(5)
    for (const spelling of refused) {
      const answer = classifyHostname(spelling)
      expect(answer).toMatchObject({ code: 'invalid_domain', address: '8.8.4.4' })
      expect('suggestion' in answer ? answer.suggestion : undefined).toBe(isSpelled(spelling) ? '8.8.4.4' : undefined)
    }
  })
})

describe('IPv6 spellings:', () => {
  const forms = (address: string): string[] => {
    const value = toNumber(address)
    const groups = toGroups(value)
    const dotted = toText(value & 0xffffffffn, 4)
    return [
      address,
      groups.join(':'),
      groups.map(group => group.padStart(4, '0')).join(':'),
      [...groups.slice(0, 6), dotted].join(':'),
      groups
        .join(':')
        .replace(/(?:^|:)0(?::0)*(?=:|$)/, ':')
        .replace(/^:?(?=:)|(?<=:):?$/, ':'),
    ].flatMap(form => [form, form.toUpperCase(), `[${form}]`, `${form}%eth0`, `[${form}%25eth0]`, ` ${form} `])
  }

  test.each([
    ...['::', '::1', '::ffff:7f00:1', '::7f00:1', '::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1'],
    ...['2002:7f00:1::', '2001:0:7f00:1::80ff:fffe', 'fe80::1', 'fec0::1', 'fc00::1', 'fd12:3456::1', 'ff02::1'],
    ...['2001:db8::1', '3fff::1', '5f00::1', '100::1', '100:0:0:1::1', '4000::1'],
  ])('%s is reserved in every spelling', address => {
    const all = forms(address)
    expect(all.filter(form => outcomeOf(form) !== 'reserved_ip')).toEqual([])
  })

  test('a public address is accepted in canonical form, even in brackets, and is suggested for other forms', () => {
    for (const form of forms('2606:4700:4700::1111')) {
      const classification = classifyHostname(form)
      const isCanonical =
        form
          .trim()
          .toLowerCase()
          .replace(/^\[|\]$/g, '') === '2606:4700:4700::1111'
      expect([form, classification.valid || classification.code]).toEqual([form, isCanonical || 'invalid_domain'])
      if (!classification.valid) expect(classification.message).toContain('Did you mean "2606:4700:4700::1111"?')
    }
  })

  test('the canonical form follows RFC 5952, as in a URL parser', () => {
    for (const [sent, canonical] of [
      ['2001:4860:0:0:1:0:0:1', '2001:4860::1:0:0:1'],
      ['2001:4860:0:1:1:1:1:1', '2001:4860:0:1:1:1:1:1'],
      ['2001:4860:1:0:0:0:1:1', '2001:4860:1::1:1'],
      ['2600:0:0:0:0:0:0:0', '2600::'],
    ] as const) {
      expect(new URL(`http://[${sent}]`).hostname).toBe(`[${canonical}]`)
      expect(classifyHostname(canonical)).toMatchObject({ valid: true, domain: canonical })
    }
  })

  test.each([
    ...[':', ':::', '1:2', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '::1::', '12345::', 'g::', '::1.2.3'],
    ...['::256.0.0.1', '1.2.3.4::', ':1::', '[::1', '::1]', '[[::1]]', '::1/64', '[::1]:80'],
  ])('%j is not an address', text => {
    expect(outcomeOf(text)).toBe('invalid_domain')
  })
})

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
  const numbers = ['0', '1', 'ffff', '2001', 'db8', '00a', '0000', '12345', 'g', '1.2.3.4', '01.2.3.4']
  const parts = [...numbers, ':', '::', ':', '.']
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
