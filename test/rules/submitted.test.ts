import punycode from 'punycode/punycode.js'
import { expect, test } from 'vitest'
import { toALabels } from '../../src/hostname/idna/labels.ts'
import { mapCharacter } from '../../src/hostname/idna/mapping.ts'
import { classifyHostname } from '../../src/index.ts'
import { readSubmitted } from '../../src/rules/submitted.ts'
import { counts, sample } from '../counts.ts'

/** The name under which an input is looked up, and whether it is allowed today. */
function read(input: string) {
  const submitted = readSubmitted(input)
  return 'domain' in submitted ? [submitted.domain, submitted.rejection === undefined] : null
}

const every = Array.from({ length: 0x110000 }, (_, codePoint) => String.fromCodePoint(codePoint))
const isSurrogate = (character: string) => /^[\ud800-\udfff]$/.test(character)
const characters = [
  ...sample(every.slice(0x80, 0x3000), counts.codePoints / 8),
  ...sample(every.slice(0x3000), counts.codePoints / 16),
].filter(character => !isSurrogate(character))

test('a name that another version of Unicode allows is looked up by its A-labels, whatever today says', () => {
  let refused = 0
  const differences = characters.filter(character => {
    // A character that is mapped to others, or is canonically another, is looked up as they are.
    const mapped = (mapCharacter(character) ?? character).normalize('NFC')
    if (/^[\0-\x7f]*$/.test(mapped)) return false
    const expected = `xn--${punycode.encode(`a${mapped}b`.normalize('NFC'))}.com`
    const found = read(`a${character}b.com`)
    if (found?.[1] === false) refused += 1
    return found?.[0] !== expected || read(expected)?.[0] !== expected
  })
  expect(differences).toEqual([])
  expect(refused).toBeGreaterThan(characters.length / 4)
})

test.each([
  ['a\u0378b.com', 'xn--ab-g4b.com', 'a character that a later version of Unicode may assign'],
  ['*.A\u0378B.com.', '*.xn--ab-g4b.com', 'such a character in a wildcard'],
  ['my–site.com', 'xn--mysite-xg0c.com', 'punctuation, which is allowed in A-labels'],
  ['0א.com', 'xn--0-0hc.com', 'a label that breaks the Bidi rule'],
  ['www.gone.notatld', 'www.gone.notatld', 'a top-level domain that was removed from the suffix list'],
  ['*.github.io', '*.github.io', 'a public suffix that was added to the suffix list'],
  ['192.31.196.7', '192.31.196.7', 'an address that the IANA reserved after it was registered'],
  ['[3FFF::7]', '3fff::7', 'such an IPv6 address'],
])('%j is rejected, and looked up as %j: %s', (input, domain) => {
  expect(classifyHostname(input).valid).toBe(false)
  expect(read(input)).toEqual([domain, false])
})

test.each([
  ...['', 'localhost', 'a_b.com', 'https://example.com/', 'a b.com', '８.８.８', '8.8.8.0/24', '-a.com', 'a．．com'],
  ...[
    '019ac0de-0000-7000-8000-000000000000',
    `${'é'.repeat(600)}.com`,
    `${'é'.repeat(300)}.com`,
    '*.com',
    '*.é',
    '127.1',
    '*.127.0.0.1',
    'fe80:0::1',
    'fe80::1%lo0',
  ],
])('%j has never been allowed, so it is not looked up', input => {
  expect(read(input)).toBe(null)
})

test('the capital sharp s means ß, but meant ss until Unicode 15.0: such a name is found as it was registered', () => {
  expect(toALabels('STRAẞE.de')).toBe(toALabels('straße.de'))
})
