import punycode from 'punycode/punycode.js'
import { expect, test } from 'vitest'
import { decodePunycode, encodePunycode } from '../../../src/hostname/idna/punycode.ts'
import { counts, seed } from '../../counts.ts'
import { createRandom } from '../../simulation/random.ts'

/** The samples of RFC 3492, section 7.1, in lower case. */
const samples: readonly (readonly [string, string])[] = [
  ['ليهمابتكلموشعربي؟', 'egbpdaj6bu4bxfgehfvwxn'],
  ['他们为什么不说中文', 'ihqwcrb4cv8a8dqg056pqjye'],
  ['他們爲什麽不說中文', 'ihqwctvzc91f659drss3x8bo0yb'],
  ['pročprostěnemluvíčesky', 'proprostnemluvesky-uyb24dma41a'],
  ['למההםפשוטלאמדבריםעברית', '4dbcagdahymbxekheh6e0a7fei0b'],
  ['यहलोगहिन्दीक्योंनहींबोलसकतेहैं', 'i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd'],
  ['なぜみんな日本語を話してくれないのか', 'n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa'],
  ['почемужеонинеговорятпорусски', 'b1abfaaepdrnnbgefbadotcwatmq2g4l'],
  ['porquénopuedensimplementehablarenespañol', 'porqunopuedensimplementehablarenespaol-fmd56a'],
  ['tạisaohọkhôngthểchỉnóitiếngviệt', 'tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g'],
  ['3年b組金八先生', '3b-ww4c5e180e575a65lsy2b'],
  ['安室奈美恵-with-super-monkeys', '-with-super-monkeys-pc58ag80a8qai00g7n9n'],
  ['hello-another-way-それぞれの場所', 'hello-another-way--fc4qua05auwb3674vfr0b'],
  ['ひとつ屋根の下2', '2-u9tlzr9756bt3uc0v'],
  ['majiでkoiする5秒前', 'majikoi5-783gue6qz075azm5e'],
  ['パフィーdeルンバ', 'de-jg4avhby1noc0d'],
  ['そのスピードで', 'd9juau41awczczp'],
  ['-> $1.00 <-', '-> $1.00 <--'],
]

test.each(samples)('"%s" is encoded and decoded as RFC 3492 shows', (unicode, encoded) => {
  expect(encodePunycode(unicode)).toBe(encoded)
  expect(decodePunycode(encoded)).toBe(unicode)
})

/** Returns the converted string, or the name of the error if the conversion throws. */
const outcomeOf = (convert: (text: string) => string, text: string) => {
  try {
    return convert(text)
  } catch (error) {
    return (error as Error).name
  }
}

test('any string is encoded, decoded or rejected in the same way as by the punycode package', () => {
  const { integer, pick } = createRandom(seed)
  const draw = (most: number, characterOf: () => string) =>
    Array.from({ length: integer(0, most) }, characterOf).join('')
  const character = () => String.fromCodePoint(pick([integer(0x61, 0x7a), integer(0, 0x2fff), integer(0, 0x10ffff)]))
  const digit = () => pick([...'abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz-é'])
  for (let round = 0; round < counts.generatedNames; round += 1) {
    const [unicode, encoded] = [draw(20, character), draw(70, digit)]
    expect(encodePunycode(unicode)).toBe(punycode.encode(unicode))
    for (const text of [punycode.encode(unicode), encoded])
      expect(outcomeOf(decodePunycode, text), text).toBe(outcomeOf(punycode.decode, text))
  }
})
