import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ranges } from '../../src/hostname/address-range.ts'
import { rows } from '../../src/hostname/explain.ts'
import { toULabels } from '../../src/hostname/uts46.ts'
import { classifyHostname } from '../../src/index.ts'
import { counts, seed } from '../counts.ts'
import { readCases, readLines } from '../vectors/read.ts'

/** `[input, code, suggestion]` */
const cases = readCases<[string, string, string | null]>('pasted-names.json')

function suggestionOf(input: string): string | null {
  const classification = classifyHostname(input)
  return classification.valid
    ? classification.domain
    : (/; send "(.*)" instead\.$/su.exec(classification.message)?.[1] ?? null)
}

describe('what people paste', () => {
  test('there are at least 200 cases, none twice', () => {
    expect(new Set(cases.map(([input]) => input)).size).toBe(cases.length)
    expect(cases.length).toBeGreaterThan(300)
  })

  test.each(cases)('%j is %s, and %j is suggested', (input, code, suggestion) => {
    const classification = classifyHostname(input)
    expect([classification.valid ? 'valid' : classification.code, suggestionOf(input)]).toEqual([code, suggestion])
  })

  test.each([...rows, ...ranges].map(row => [String(row.pattern), row.pattern] as const))(
    '%s has a case',
    (_, pattern) => {
      expect(cases.filter(([input]) => pattern.test(input.trim().replace(/^\*\.(?=\S)/, '')))).not.toEqual([])
    },
  )
})

describe('messages', () => {
  test.each([
    ['*.my_site.com', '"*.my_site.com" holds an underscore'],
    ['http://localhost/', '"localhost" is set aside'],
    ['https://my_site.com/', '"my_site.com" holds an underscore'],
    ['пример.ру', 'no top-level domain ".ру"'],
    ['example.сom', 'holds the character "с" (U+0441) among Latin letters'],
    ['xn--mysite-xg0c.com', 'holds the character "–" (U+2013)'],
    ['\u200eexample.com', '"\\u{200e}" (U+200E, invisible)'],
    ['bÃ¼cher.de', 'holds the character "¼" (U+00BC)'],
    ['8.8.8.0/24', 'is a prefix'],
    ['[2606:4700::1111]:443', 'holds a port'],
    ['example.com # prod', 'has a remark after it'],
    ['example.com, example.org', 'send each as an entry of its own'],
  ])('%j: the fault is named where it is', (input, part) => {
    expect(classifyHostname(input)).toMatchObject({ valid: false, message: expect.stringContaining(part) })
  })

  test('no message shows an A-label that was not sent', () => {
    for (const [input] of cases) {
      const { message } = { message: '', ...classifyHostname(input) }
      const withoutSuggestion = message.replace(/; send ".*" instead\.$/su, '')
      if (!/xn--/i.test(input)) expect(withoutSuggestion.replace('begins with "xn--"', '')).not.toContain('xn--')
    }
  })
})

/** What a text spells: compatibility characters, separators that stand for dots, and invisible characters aside. */
function spell(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)|\\\.|[。,]/g, '.')
    .replace(/[‐‑]/g, '-')
    .replace(/\s*\.\s*/g, '.')
    .replace(/\.{2,}/g, '.')
    .replace(/\b0+(?=[0-9])/g, '')
    .normalize('NFC')
}

/** Top-level labels that can only be slips of the hand. */
const slips: Readonly<Record<string, string>> = {
  com: 'con cmo ocm vom xom cpm comm coom ccom c0m cim',
  net: 'nte nett neet',
  org: 'ogr orgg oorg',
}

function withSlips(name: string): string[] {
  const dot = name.lastIndexOf('.') + 1
  return (slips[name.slice(dot)] ?? '').split(' ').map(slip => name.slice(0, dot) + slip)
}

/** Whether a suggestion stands in a text as a whole: neither cut nor put together from parts that are far apart. */
function isSpelledIn(text: string, suggestion: string): boolean {
  const base = suggestion.replace(/^\*\./, '')
  if (base.includes(':')) return /[0-9a-f]*:[0-9a-f:.]+/i.test(text)
  const spelled = spell(text)
  return [base, toULabels(base) ?? base]
    .map(spell)
    .flatMap(name => [name, ...withSlips(name)])
    .some(name => {
      for (let at = spelled.indexOf(name); at !== -1; at = spelled.indexOf(name, at + 1)) {
        const isCut =
          /[\p{L}\p{N}_-]$/u.test(spelled.slice(0, at)) || /^[\p{L}\p{N}_-]/u.test(spelled.slice(at + name.length))
        if (!isCut) return true
      }
      return false
    })
}

describe('a suggestion', () => {
  const real = [...readLines('hostnames.txt'), ...readLines('international-hostnames.txt')]
  const before = [
    'https://',
    'http:/',
    '"',
    '“',
    '<',
    '(',
    '- ',
    '• ',
    '*',
    '*.',
    '.',
    'me@',
    'DNS:',
    '\u200e',
    'www,',
    '_dmarc.',
    '[',
    '',
  ]
  const after = [
    '/',
    '/@evil.org',
    '?next=me@evil.org',
    ':443',
    '"',
    '”',
    '",',
    '>',
    ')',
    ' # prod',
    '..',
    '.',
    ';',
    '\u200b',
    '.con',
    ']',
    '_',
    '',
  ]
  const inside = ['*', '_', ' ', ' .', ',', '\u200d', '․', '‐', '–', '@', '..', '[.]', '\\.', 'ß', 'א', '１', '%', '']

  const pasted = fc
    .tuple(
      fc.array(fc.constantFrom(...before), { maxLength: 3 }),
      fc.constantFrom(...real, '8.8.8.8', '[2606:4700::1111]', '010.8.8.8', 'example.con'),
      fc.nat(30),
      fc.constantFrom(...inside),
      fc.array(fc.constantFrom(...after), { maxLength: 3 }),
    )
    .map(([start, name, at, odd, end]) => start.join('') + name.slice(0, at) + odd + name.slice(at) + end.join(''))

  test('is itself valid, stands in the text or is spelled there, and is never cut', { timeout: 60_000 }, () => {
    let suggestions = 0
    fc.assert(
      fc.property(fc.oneof(pasted, fc.constantFrom(...cases.map(([input]) => input))), input => {
        const classification = classifyHostname(input)
        const suggestion = suggestionOf(input)
        if (classification.valid || suggestion === null) return
        suggestions += 1
        expect(classifyHostname(suggestion)).toMatchObject({ valid: true })
        expect([input, suggestion, isSpelledIn(input, suggestion)]).toEqual([input, suggestion, true])
      }),
      { seed, numRuns: counts.properties },
    )
    expect(suggestions).toBeGreaterThan(counts.properties / 10)
  })
})

test.each([
  ['my-.com.', 'begins or ends with a hyphen'],
  ['bücher-.de.', 'begins or ends with a hyphen'],
  [`${'x'.repeat(64)}.com.`, 'has a label of 64 characters'],
])('one trailing dot, which is allowed, is not blamed: %j', (input, part) => {
  expect(classifyHostname(input)).toMatchObject({
    message: expect.stringMatching(new RegExp(`^(?!.*empty label).*${part}`)),
  })
})
