import tldts from 'tldts/package.json' with { type: 'json' }
import { toUnicode } from 'tr46'
import { expect, test } from 'vitest'
import { classifyHostname, suffixList } from '../../src/index.ts'
import { readCases } from '../vectors/read.ts'

test.each(readCases<[string, string, string, string]>('accepted-names.json'))(
  '%j is accepted with the kind "%s"',
  (input, kind, domain, registrableDomain) => {
    expect(classifyHostname(input)).toEqual({ valid: true, kind, domain, registrableDomain })
  },
)

test('a value that is not a string is rejected, and classifyHostname does not throw', () => {
  for (const value of [null, undefined, 42, {}, [], Symbol('x'), () => 'example.com']) {
    const message = 'A hostname must be a string.'
    expect(classifyHostname(value as never)).toEqual({
      valid: false,
      code: 'invalid_domain',
      reason: 'not_a_string',
      message,
    })
  }
})

test('an input of more than 512 characters is rejected as too long, or as empty if it is only white space', () => {
  const spaces = ' '.repeat(10_000_000)
  expect(classifyHostname(spaces)).toMatchObject({ code: 'empty_domain' })
  for (const text of [`${spaces}example.com`, `example.com${spaces}`, `example.com${' '.repeat(502)}`]) {
    expect(classifyHostname(text)).toEqual({
      valid: false,
      code: 'invalid_domain',
      reason: 'name_too_long',
      message: expect.stringMatching(/^"[^"]+…" is too long; a hostname has at most 253 characters\.$/),
    })
  }
  expect(classifyHostname(`example.com${' '.repeat(501)}`)).toMatchObject({ domain: 'example.com' })
})

test('characters that mapping removes do not make a name too long', () => {
  // The blocks with characters that Unicode calls default ignorable.
  const blocks = [0x00, 0x03, 0x11, 0x17, 0x18, 0x20, 0xfe, 0xff, 0xe00, 0xe01]
  const dropped = blocks
    .flatMap(block => Array.from({ length: 0x100 }, (_, index) => String.fromCodePoint(block * 0x100 + index)))
    .filter(character => toUnicode(`a${character}a`).domain === 'aa')
  expect(dropped.length).toBeGreaterThan(250)
  for (const character of dropped) {
    expect(classifyHostname(`é${character.repeat(100)}.de`)).toMatchObject({ valid: true, domain: 'xn--9ca.de' })
  }
  expect(classifyHostname(`e\u0301${'\u00ad'.repeat(100)}.de`)).toMatchObject({ valid: true, domain: 'xn--9ca.de' })
})

test.each(['*.co.uk', '*.co.uk.', '*.co.uk\u3002'])('the result for %j contains the public suffix co.uk', input => {
  expect(classifyHostname(input)).toMatchObject({ reason: 'wildcard_over_public_suffix', suffix: 'co.uk' })
})

test('suffixList has the version and date of the installed tldts', () => {
  expect(suffixList).toEqual({ version: tldts.version, published: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) })
})
