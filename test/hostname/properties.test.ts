import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isCommonName } from '../../src/hostname/common-letters.ts'
import { mapByTables, toALabels } from '../../src/hostname/idna.ts'
import { classifyPlainName } from '../../src/hostname/plain-name.ts'
import { classifyHostname } from '../../src/index.ts'
import { readLines } from '../vectors/read.ts'

/** Printed, so that a failure can be run again: `SEED=… npx vitest run test/hostname/properties`. */
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
console.info(`properties of classifyHostname: SEED=${seed}`)
const check = (runs: number) => ({ seed, numRuns: runs })

const real = [...readLines('hostnames.txt'), ...readLines('international-hostnames.txt')]
const fragments = [
  '.',
  '..',
  '-',
  '--',
  'xn--',
  '*.',
  '_',
  ':',
  '[',
  ']',
  '%',
  '@',
  '/',
  ' ',
  '0x',
  '127',
  '1',
  'com',
  'co.uk',
  'ß',
  'İ',
  '。',
  '\u00ad',
  '\u200d',
  'א',
  '１',
  '\ud800',
  'local',
  'github.io',
]

/** Real hostnames, pieces of them with odd bits between, addresses, and any text at all. */
const anything = fc.oneof(
  fc.constantFrom(...real),
  fc
    .array(fc.oneof(fc.constantFrom(...fragments), fc.constantFrom(...real)), { maxLength: 6 })
    .map(parts => parts.join('')),
  fc
    .tuple(fc.constantFrom(...real), fc.nat(40), fc.constantFrom(...fragments))
    .map(([name, at, odd]) => name.slice(0, at) + odd + name.slice(at)),
  fc.ipV4Extended(),
  fc.ipV6(),
  fc.domain(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
)

test('never throws, and answers with the documented fields only', () => {
  fc.assert(
    fc.property(anything, input => {
      const classification = classifyHostname(input)
      expect(Object.keys(classification)).toEqual(
        classification.valid ? ['valid', 'kind', 'domain', 'registrableDomain'] : ['valid', 'code', 'message'],
      )
    }),
    check(50_000),
  )
})

test('the domain of a valid result classifies to itself', () => {
  fc.assert(
    fc.property(anything, input => {
      const classification = classifyHostname(input)
      if (classification.valid) expect(classifyHostname(classification.domain)).toEqual(classification)
    }),
    check(50_000),
  )
})

test('the case of ASCII letters, one trailing dot and white space around do not matter', () => {
  fc.assert(
    fc.property(anything, fc.constantFrom('', ' ', '\t\n', '\u3000'), (input, space) => {
      const expected = classifyHostname(input)
      // An IPv6 address is not a name, and a dot after it is none of the root.
      fc.pre(!/[.。．｡]\s*$|:/.test(input))
      const upperCase = input.replace(/[a-z]/g, letter => letter.toUpperCase())
      for (const variant of [upperCase, `${input.trimEnd()}.`, `${space}${input}${space}`]) {
        const actual = classifyHostname(variant)
        if (expected.valid) expect(actual).toEqual(expected)
        else if (expected.code !== 'empty_domain') expect(actual).toMatchObject({ valid: false, code: expected.code })
      }
    }),
    check(30_000),
  )
})

test('the registrable domain is the domain or follows a dot in it, and classifies to itself', () => {
  fc.assert(
    fc.property(anything, input => {
      const classification = classifyHostname(input)
      if (!classification.valid) return
      const { domain, registrableDomain } = classification
      expect(domain === registrableDomain || domain.endsWith(`.${registrableDomain}`)).toBe(true)
      expect(classifyHostname(registrableDomain)).toMatchObject({
        valid: true,
        domain: registrableDomain,
        registrableDomain,
      })
    }),
    check(50_000),
  )
})

test('a URL parser takes a valid name for itself and a valid address for that address', () => {
  let names = 0
  fc.assert(
    fc.property(anything, input => {
      const classification = classifyHostname(input)
      if (!classification.valid) return
      const host = classification.domain.replace(/^\*\./, '')
      if (classification.kind === 'ip') {
        expect(new URL(`http://${host.includes(':') ? `[${host}]` : host}/`).hostname.replace(/^\[|\]$/g, '')).toBe(
          host,
        )
      } else {
        // The runtime's tables may be older than ours, and then refuse an A-label; they never make it something else.
        const hostname = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : host
        expect(hostname).toBe(host)
        expect(host).not.toMatch(/^[0-9.]+$|^\[|(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/)
        names += 1
      }
    }),
    check(50_000),
  )
  expect(names).toBeGreaterThan(1000)
})

describe('the fast paths agree with the long one', () => {
  /** Small and quick, for many inputs: xorshift32. */
  function createRandom(state: number): (below: number) => number {
    let value = state | 1
    return below => {
      value ^= value << 13
      value ^= value >>> 17
      value ^= value << 5
      return (value >>> 0) % below
    }
  }

  test('on 300,000 generated inputs, of which many took each', { timeout: 120_000 }, () => {
    const random = createRandom(seed)
    const alphabet = [
      'a',
      'b',
      'z',
      '0',
      '9',
      '-',
      '.',
      'x',
      'n',
      'xn--',
      'xn--tda',
      'xn--80a1',
      'com',
      '.a',
      '.com',
      '.net',
      'ü',
      'я',
      '日',
      '-',
      'a'.repeat(62),
    ]
    const taken = { plain: 0, common: 0, aLabels: 0, other: 0 }
    const disagreements: unknown[] = []
    for (let run = 0; run < 300_000; run += 1) {
      let text = ''
      for (let length = 1 + random(6); length > 0; length -= 1) text += alphabet[random(alphabet.length)]
      const plain = classifyPlainName(text)
      const mapped = mapByTables(text)
      if (plain) taken.plain += 1
      else if (isCommonName(text)) taken.common += 1
      else if (text.includes('xn--') && mapped !== null) taken.aLabels += 1
      else taken.other += 1
      if (toALabels(text) !== mapped) disagreements.push({ text, mapped })
      // With a dot after it, a name takes the long way.
      if (plain) expect(plain).toEqual(classifyHostname(`${text}.`))
    }
    expect(disagreements.slice(0, 5)).toEqual([])
    expect(taken.plain).toBeGreaterThan(2000)
    expect(taken.common).toBeGreaterThan(15_000)
    expect(taken.aLabels).toBeGreaterThan(300)
    expect(taken.other).toBeGreaterThan(15_000)
  })

  test('on every single character, and on its neighbourhood', () => {
    let common = 0
    const disagreements: string[] = []
    for (let code = 0x80; code <= 0xffff; code += 1) {
      const character = String.fromCharCode(code)
      // Behind a letter, since a mark is common only there.
      if (!isCommonName(`a${character}`) && !isCommonName(character)) continue
      common += 1
      for (const text of [character, `a${character}`, `${character}0`, `${character}${character}`, `${character}.א`]) {
        if (isCommonName(text) && (toALabels(text) !== mapByTables(text) || mapByTables(text) === null)) {
          disagreements.push(text)
        }
      }
    }
    expect(disagreements).toEqual([])
    expect(common).toBeGreaterThan(32_000)
  })

  test('on pairs of letters and marks of the scripts that have marks, after a letter', { timeout: 60_000 }, () => {
    const disagreements: string[] = []
    let pairs = 0
    for (const [first, letter] of [
      [0x900, 'क'],
      [0x980, 'ক'],
      [0xa00, 'ਕ'],
      [0xa80, 'ક'],
      [0xb00, 'କ'],
      [0xb80, 'க'],
      [0xc00, 'క'],
      [0xc80, 'ಕ'],
      [0xd00, 'ക'],
      [0xd80, 'ක'],
      [0xe00, 'ก'],
      [0xe80, 'ກ'],
    ] as const) {
      const script = Array.from({ length: 0x80 }, (_, index) => String.fromCharCode(first + index))
      for (const text of script.flatMap(one => script.map(other => `${letter}${one}${other}`))) {
        if (!isCommonName(text)) continue
        pairs += 1
        if (toALabels(text) !== mapByTables(text)) disagreements.push(text)
      }
    }
    expect(disagreements).toEqual([])
    expect(pairs).toBeGreaterThan(20_000)
  })

  test('on names with labels that are written from right to left', () => {
    const random = createRandom(seed)
    const alphabet = ['א', 'ב', 'م', 'ن', 'ی', 'a', 'z', '1', '9', '-', '.', '.', 'ü', 'ก', '日', 'א-', '٣', '\u0651']
    const disagreements: string[] = []
    let common = 0
    for (let run = 0; run < 100_000; run += 1) {
      let text = ''
      for (let length = 1 + random(7); length > 0; length -= 1) text += alphabet[random(alphabet.length)]
      if (!isCommonName(text)) continue
      common += 1
      if (toALabels(text) !== mapByTables(text)) disagreements.push(text)
    }
    expect(disagreements).toEqual([])
    expect(common).toBeGreaterThan(5000)
  })

  test('on real names', () => {
    const plain = real.filter(name => classifyPlainName(name) !== null)
    expect(plain.length).toBeGreaterThan(28_000)
    expect(plain.filter(name => !isDeepStrictEqual(classifyPlainName(name), classifyHostname(`${name}.`)))).toEqual([])
    expect(real.filter(name => toALabels(name) !== mapByTables(name))).toEqual([])
  })
})
