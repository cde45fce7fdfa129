import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'
import { counts, seed } from '../counts.ts'
import { readLines } from '../vectors/read.ts'

const real = [...readLines('hostnames.txt'), ...readLines('international-hostnames.txt')]
const fragments = [
  ...['.', '..', '-', '--', 'xn--', '*.', '_', ':', '[', ']', '%', '@', '/', ' ', '0x', '127', '1', 'com'],
  ...['co.uk', 'ß', 'İ', '。', '\u00ad', '\u200d', 'א', '１', '\ud800', 'local', 'github.io'],
]

/**
 * Real hostnames, parts of them with odd characters in between, addresses, arbitrary strings, and strings that look
 * like A-labels.
 */
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
  // With its unit `binary`, fast-check takes seconds for a table of all code points.
  fc.array(fc.nat(0x10ffff)).map(points => String.fromCodePoint(...points)),
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^xn--[a-z0-9]{0,8}-?[a-z0-9]{2,8}$/).map(label => `${label}.com`),
)

type Check = (classification: ReturnType<typeof classifyHostname>, input: string) => void

const assertAny = (check: Check) =>
  fc.assert(
    fc.property(anything, input => check(classifyHostname(input), input)),
    { seed, numRuns: counts.properties },
  )
const testAny = (claim: string, check: Check) => test(claim, () => assertAny(check))

const details = ['character', 'label', 'length', 'topLevel', 'suffix', 'address', 'block', 'source']

testAny('classifyHostname never throws, and returns only the documented fields', classification => {
  if (classification.valid) {
    expect(Object.keys(classification)).toEqual(['valid', 'kind', 'domain', 'registrableDomain'])
    return
  }
  const { valid: _, code, reason, message, suggestion, certain, hosts, aLabels, rest, ...varying } = classification
  expect(hosts === undefined || (hosts.length > 1 && suggestion === undefined)).toBe(true)
  expect([code, reason, message].map(text => typeof text)).toEqual(['string', 'string', 'string'])
  expect(typeof certain).toBe(suggestion === undefined ? 'undefined' : 'boolean')
  expect(Object.keys(varying).filter(key => !details.includes(key))).toEqual([])
  expect(Object.values(classification)).not.toContain(undefined)
})

testAny('suggestions, `hosts` and A-labels for an invalid input are each accepted unchanged', classification => {
  if (classification.valid) return
  const { suggestion, aLabels, hosts = [] } = classification
  for (const domain of [suggestion, aLabels, ...hosts])
    if (domain !== undefined) expect(classifyHostname(domain)).toMatchObject({ valid: true, domain })
})

testAny('the message quotes the suggestion, and `rest` is an invalid part of the input', (classification, input) => {
  if (classification.valid) return
  const { message, suggestion, rest } = classification
  const shown = / Did you mean "([^"]*)"\?/u.exec(message)?.[1]
  expect(shown === undefined ? undefined : classifyHostname(shown)).toEqual(
    suggestion === undefined ? undefined : expect.objectContaining({ domain: suggestion }),
  )
  if (rest !== undefined) expect([input.includes(rest), classifyHostname(rest).valid]).toEqual([true, false])
})

testAny('classifying the domain of a valid result gives the same result', classification => {
  if (classification.valid) expect(classifyHostname(classification.domain)).toEqual(classification)
})

testAny('a valid ASCII name stays the same, except for upper case and one trailing dot', (classification, input) => {
  if (!classification.valid || classification.kind === 'ip' || /[^\0-\x7f]/.test(input.trim())) return
  expect(classification.domain).toBe(input.trim().toLowerCase().replace(/\.$/, ''))
})

testAny('the case of ASCII letters, one trailing dot and surrounding white space do not matter', (expected, input) => {
  // An IPv6 address is not a name, so a dot at its end is not the root dot.
  fc.pre(!/[.。．｡]\s*$|:/.test(input))
  const upperCase = input.replace(/[a-z]/g, letter => letter.toUpperCase())
  for (const variant of [upperCase, `${input.trimEnd()}.`, ` ${input} `, `\t\n${input}\t\n`, `\u3000${input}\u3000`]) {
    const actual = classifyHostname(variant)
    if (expected.valid) expect(actual).toEqual(expected)
    else if (expected.code !== 'empty_domain') expect(actual).toMatchObject({ valid: false, code: expected.code })
  }
})

testAny(
  'each domain ends with its registrable domain, and a registrable domain is its own registrable domain',
  classification => {
    if (!classification.valid) return
    const { domain, registrableDomain } = classification
    expect(domain === registrableDomain || domain.endsWith(`.${registrableDomain}`)).toBe(true)
    const own = { valid: true, domain: registrableDomain, registrableDomain }
    expect(classifyHostname(registrableDomain)).toMatchObject(own)
  },
)

test('a URL parser leaves a valid name or address unchanged', () => {
  let names = 0
  assertAny(classification => {
    if (!classification.valid) return
    const host = classification.domain.replace(/^\*\./, '')
    if (classification.kind === 'ip') {
      const { hostname } = new URL(`http://${host.includes(':') ? `[${host}]` : host}/`)
      expect(hostname.replace(/^\[|\]$/g, '')).toBe(host)
    } else {
      // The runtime's tables may be older than ours. Older tables may reject an A-label, but never change one.
      const hostname = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : host
      expect(hostname).toBe(host)
      expect(host).not.toMatch(/^[0-9.]+$|^\[|(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/)
      names += 1
    }
  })
  expect(names).toBeGreaterThan(counts.properties / 20)
})
