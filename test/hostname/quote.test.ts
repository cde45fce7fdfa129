import { expect, test } from 'vitest'
import { quote } from '../../src/hostname/quote.ts'

test.each([
  ['example.com', '"example.com"'],
  ['a b', '"a b"'],
  ['пример.рф', '"пример.рф"'],
  ['a\nb\tc', '"a\\u{a}b\\u{9}c"'],
  ['\u001b[31mred', '"\\u{1b}[31mred"'],
  ['\u202egro.elpmaxe', '"\\u{202e}gro.elpmaxe"'],
  ['zero\u200bwidth\u00ad', '"zero\\u{200b}width\\u{ad}"'],
  ['\ud800', '"\\u{d800}"'],
  ['x'.repeat(60), `"${'x'.repeat(60)}"`],
  ['x'.repeat(61), `"${'x'.repeat(59)}…"`],
  [`${'x'.repeat(58)}😀😀`, `"${'x'.repeat(58)}…"`],
  ['full:a.com:@cn', '"full:a.com:@cn"'],
  ['full:a.com @!cn', '"full:a.com @!cn"'],
  [`https://user:secret${'x'.repeat(600)}@example.com`, '"https://user:***@"'],
  ['me@good.com:443@evil.org', '"me@good.com:443@evil.org"'],
  ['https://user:secret@example.com', '"https://user:***@example.com"'],
  ['user:secret@example.com', '"user:***@example.com"'],
  ['user:@example.com', '"user:@example.com"'],
  ['https://user@example.com', '"https://user@example.com"'],
  ['[::1]:80@evil.org', '"[::1]:80@evil.org"'],
  ['mailto:someone@example.com', '"mailto:someone@example.com"'],
])('%j is quoted without invisible characters, in at most 60 characters', (text, quoted) => {
  expect(quote(text)).toBe(quoted)
})
