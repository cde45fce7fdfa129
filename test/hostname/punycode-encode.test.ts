import punycode from 'punycode/punycode.js'
import { expect, test } from 'vitest'
import { encodePunycode } from '../../src/hostname/punycode-encode.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from './random.ts'

/** RFC 3492, section 7.1, in lower case where it marks the case of a letter. */
test.each([
  ['ليهمابتكلموشعربي؟', 'egbpdaj6bu4bxfgehfvwxn'],
  ['他们为什么不说中文', 'ihqwcrb4cv8a8dqg056pqjye'],
  ['Pročprostěnemluvíčesky', 'Proprostnemluvesky-uyb24dma41a'],
  ['למההםפשוטלאמדבריםעברית', '4dbcagdahymbxekheh6e0a7fei0b'],
  ['यहलोगहिन्दीक्योंनहींबोलसकतेहैं', 'i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd'],
  ['なぜみんな日本語を話してくれないのか', 'n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa'],
  ['почемужеонинеговорятпорусски', 'b1abfaaepdrnnbgefbadotcwatmq2g4l'],
  ['3年B組金八先生', '3B-ww4c5e180e575a65lsy2b'],
  ['Hello-Another-Way-それぞれの場所', 'Hello-Another-Way--fc4qua05auwb3674vfr0b'],
  ['パフィーdeルンバ', 'de-jg4avhby1noc0d'],
  ['-> $1.00 <-', '-> $1.00 <--'],
])('encodes %s as RFC 3492 does', (label, encoded) => {
  expect(encodePunycode(label)).toBe(encoded)
})

test('encodes generated labels as the package punycode does', () => {
  const random = createRandom(seed)
  const sizes = [0x80, 0x250, 0x1000, 0x10000, 0x110000]
  const labels = Array.from({ length: counts.generatedNames }, () => {
    const codePoints = Array.from({ length: random(64) }, () => random(sizes[random(sizes.length)] as number))
    return String.fromCodePoint(...codePoints)
  })
  const longest = '\u{10ffff}'.repeat(62)
  labels.push('', longest, `a${longest}`, `${longest}a`, `\x80${longest}`, `${longest}\x80`)
  expect(labels.filter(label => encodePunycode(label) !== punycode.encode(label)).slice(0, 10)).toEqual([])
})
