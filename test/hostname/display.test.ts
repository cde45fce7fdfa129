import fc from 'fast-check'
import punycode from 'punycode/punycode.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { classifyHostname, displayHostname } from '../../src/index.ts'
import { counts, seed } from '../counts.ts'
import { readCases, readLines } from '../vectors/read.ts'

const canonical = (text: string) => {
  const hostname = classifyHostname(text)
  return hostname.valid ? hostname.domain : text
}

test.each([
  ...['example.com', 'bücher.de', '*.bücher.de', 'straße.de', 'færge.dk', 'œuvre.fr', 'việtnam.vn', 'пример.рф'],
  ...[
    'θάλασσα.gr',
    'اختبار.com',
    'קום.com',
    'भारत.in',
    'ไทย.com',
    'カタカナ.jp',
    '例え.jp',
    '日本tv.jp',
    '9603彩票.com',
    'tシャツセール.jp',
  ],
  ...['한국.kr', '8.8.8.8', '2606:4700::1111', 'ex--ample.com'],
])('displayHostname restores %s from its canonical form', name => {
  expect(displayHostname(canonical(name))).toBe(name)
})

test.each([
  ...['сахар.рф', 'пример.бг', 'пример.срб', 'пример.рус', 'пример.орг', 'ѕсоре.рф'],
  ...['日本・野球.jp', 'ハリー・ポッター.jp', 'paral·lel.cat', '*.сахар.рф', 'kadın.com', 'é3.fr'],
  ...['alþingi.is', 'þing.is', '*.staður.is', 'æðar.is', 'höfn.is'],
  ...['ѕсоре.ru', 'ѕсоре123.ru', 'νοκια.gr', 'พรบ.th', '১২.bd', 'ノ.jp', 'ユーザーid.jp'],
])('displayHostname shows %s, whose top-level domain or neighbors make it safe', name => {
  expect(displayHostname(canonical(name))).toBe(name)
})

test('displayHostname agrees with Chromium on 385 of 453 names of its test table', () => {
  const cases = readCases<[string, boolean]>('chromium-idn.json').map(
    ([host, isShown]) => [host.replace(/\.$/, ''), isShown] as const,
  )
  const agreeing = cases.filter(([host, isShown]) => !displayHostname(host).includes('xn--') === isShown)
  expect([agreeing.length, cases.length]).toEqual([385, 453])
})

test('displayHostname does not read more than the 253 characters of the longest hostname', () => {
  const decode = vi.spyOn(punycode, 'decode')
  onTestFinished(() => decode.mockRestore())
  const name = `${'xn--bcher-kva.'.repeat(20_000)}de`
  expect(displayHostname(name)).toBe(name)
  expect(decode).not.toHaveBeenCalled()
  expect(displayHostname('xn--bcher-kva.de')).toBe('bücher.de')
  expect(decode).toHaveBeenCalled()
})

test('displayHostname returns a value that is not a string unchanged', () => {
  for (const value of [null, undefined, 42]) expect(displayHostname(value as never)).toBe(value)
})

test.each([
  ['a letter of another script', 'аpple.com'],
  ['letters of two scripts', 'zжи.com'],
  ['only letters that look like ASCII letters', 'раураӏ.com'],
  ['only look-alikes, digits and a hyphen', 'а0-9а.com'],
  ['a Latin letter that looks like an ASCII letter', 'gmaþ.com'],
  ['a letter of Icelandic elsewhere', 'alþingi.no'],
  ['only letters that look like ASCII letters, kra for k among them', 'кауак.com'],
  ['only Greek letters that look like ASCII letters', 'νοκια.com'],
  ['only Armenian letters that look like ASCII letters', 'հսլս.com'],
  ['only Thai letters that look like ASCII letters', 'พรบ.com'],
  ['letters that look like ASCII letters, below a country of another script', 'ѕсоре.gr'],
  ['a phonetic letter', 'ɢoogle.com'],
  ['a Kana letter that looks like a slash', 'comノsearch.com'],
  ['a Kana mark that looks like a hyphen between Latin letters', 'googleーlogin.com'],
  ['a mark that does not compose with its letter', 'i̇stanbul.com'],
  ['a joiner', 'نامه\u200cای.com'],
  ['an emoji', '💩.la'],
  ['punctuation that is accepted only in A-labels', 'xn--mysite-xg0c.com'],
  ['a middle dot outside .cat', 'l·l.com'],
  ['a Chinese stroke between Latin letters', 'goog丨e.com'],
  ['a Chinese stroke before Latin letters', '七est.net'],
  ['a Latin letter with an accent among Chinese', 'héllo中国.cn'],
  ['a letter that looks like a digit, after digits', '16კ.com'],
  ['digits of another script', '০২.com'],
  ['a mark twice', 'รี่่.th'],
  ['a mark that prolongs nothing', '日本ー野球.jp'],
  ['a mark that repeats nothing', 'かヽ.jp'],
])('a label with %s is shown as an A-label: %s', (_, name) => {
  expect(displayHostname(canonical(name))).toBe(canonical(name))
  expect(canonical(name)).toMatch(/^xn--/)
})

test('a safe label is shown in Unicode even if another label of the name is unsafe', () => {
  expect(displayHostname(canonical('аpple.bücher.de'))).toBe('xn--pple-43d.bücher.de')
})

test('displayHostname returns a string unchanged if the string is not canonical', () => {
  for (const text of [
    '',
    'xn--',
    'xn--a.com',
    'XN--bcher-kva.de',
    'xn--bcher-kva.de.',
    'not a name',
    'xn--zzzzz999.de',
  ])
    expect(displayHostname(text)).toBe(text)
})

test('the displayed form is classified as the same hostname, and is Unicode for most international names', () => {
  const international = readLines('international-hostnames.txt').map(canonical)
  const anything = [...readLines('hostnames.txt'), ...readCases<[string]>('pasted-names.json').map(([text]) => text)]
  const all = [...international, ...anything.map(canonical)]
  expect(all.filter(domain => canonical(displayHostname(domain)) !== domain)).toEqual([])
  const shown = international.filter(domain => !displayHostname(domain).includes('xn--'))
  expect([shown.length, international.length]).toEqual([925, 949])
})

test('the displayed form of a generated name is classified as the same hostname', () => {
  const letters = fc.constantFrom(...'абвгжпфæöüßłěλπθאבגקあアー日한กखا1-')
  const label = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }),
    fc.string({ unit: letters, minLength: 1, maxLength: 4 }),
  )
  let shown = 0
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), labels => {
      const hostname = classifyHostname(`${labels.join('.')}.com`)
      if (!hostname.valid) return
      const display = displayHostname(hostname.domain)
      if (display !== hostname.domain) shown += 1
      expect(canonical(display)).toBe(hostname.domain)
    }),
    { seed, numRuns: counts.properties },
  )
  expect(shown).toBeGreaterThan(counts.properties / 50)
})
