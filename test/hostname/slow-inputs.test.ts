import { expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'
import { readCases } from '../vectors/read.ts'

const texts = [
  ...readCases<[string]>('slow-inputs.json').map(([text]) => text),
  // The rule for a Katakana middle dot depends on the whole label.
  `${'\u30fb'.repeat(511)}ア`,
  `${`${'\u30fb'.repeat(31)}ア.`.repeat(15)}com`,
  // Combining marks that NFC decomposes and reorders, before and after each kind of dot.
  `${'｡'.repeat(10)}${'\u0f73'.repeat(495)}\u0338\u200b`,
  `a${'\u0f73'.repeat(251)}.a${'\u0f73'.repeat(250)}.com\u200b`,
  `${`a${'\u0f73'.repeat(60)}。`.repeat(8)}com`,
  // Mistakes that the suggestion fixes one at a time, followed by letters that need mapping.
  `${'·'.repeat(4)}${'İİİİא．İ–'.repeat(63)}`,
  `“«„‘${'İİİİא．İ–'.repeat(63)}`,
  // Mistakes that the suggestion fixes one at a time, separated by characters that need mapping.
  ...['👍🏽', 'Å', '．', 'a\ufe0f', 'Å.', 'я@я.'].flatMap(unit => [
    `${unit.repeat(512).slice(0, 508)}"`,
    `“•"${unit.repeat(512).slice(0, 504)}"`,
  ]),
  `${'.'.repeat(507)}"`,
  // A-labels that are too long to decode.
  `${`xn--${'9'.repeat(240)}.`.repeat(2)}com`,
  `xn--${'a'.repeat(500)}`,
]

/**
 * The number of hostnames in a call, and the longest time that they may take. The time is twenty times the goal in
 * `bench/`, so other load on the machine does not make the test fail.
 */
const CALL = 100
const MAX_CPU_SECONDS = 1

/** The CPU time of this process, which does not include the time of other processes. */
function cpuSeconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

test('there are more than 20 slow inputs, one of them longer than 500 characters', () => {
  expect(texts.length).toBeGreaterThan(20)
  expect(Math.max(...texts.map(text => text.length))).toBeGreaterThan(500)
})

test.each(texts.map(text => [text.slice(0, 40), text]))(
  'a hundred inputs that begin with %j are classified in less than a second of CPU time',
  (_, text) => {
    expect(classifyHostname(text)).toMatchObject({ valid: expect.any(Boolean) })
    const seconds = cpuSeconds(() => {
      for (let name = 0; name < CALL; name += 1) classifyHostname(text)
    })
    expect(seconds).toBeLessThan(MAX_CPU_SECONDS)
  },
)

/** The number of characters that the runtime normalizes for an input. All other work is done by regular expressions. */
function countNormalized(text: string): number {
  const { normalize } = String.prototype
  let count = 0
  String.prototype.normalize = function (form) {
    count += this.length
    return normalize.call(this, form)
  }
  try {
    classifyHostname(text)
  } finally {
    String.prototype.normalize = normalize
  }
  return count
}

test('at most 512 characters are normalized for each input, even with many mistakes or expanding characters', () => {
  // U+3316 becomes six characters. Letters that are already mapped are not normalized separately.
  const expanding = ['\u3316'.repeat(512), `${'\u3316'.repeat(63)}.`.repeat(7), '\ufdfa'.repeat(512)]
  const counts = [...texts, ...expanding].map(text => [countNormalized(text), countNormalized(text), text] as const)
  expect(counts.filter(([, count]) => count > 512)).toEqual([])
  expect(Math.max(...counts.map(([, count]) => count))).toBeGreaterThan(100)
})

test('an input of more than 512 characters is not normalized at all', () => {
  const isNormalized = (length: number) => countNormalized('e\u0301.com'.padEnd(length)) > 0
  expect([512, 513, 512].map(isNormalized)).toEqual([true, false, true])
})

test('a long input gets a suggestion if it is ASCII, or if at most 253 characters of its host need mapping', () => {
  const wrap = (name: string) => `“${name}”`
  const isSuggested = (text: string) => 'suggestion' in classifyHostname(text)
  expect([wrap(`é${'\u00ad'.repeat(200)}.de`), wrap(`é${'\u00ad'.repeat(300)}.de`)].map(isSuggested)).toEqual([
    true,
    false,
  ])
  expect(isSuggested(`"“https://example.com/${'a'.repeat(480)}”",`)).toBe(true)
  expect(isSuggested(`"https://example.com/${'a'.repeat(480)}",`)).toBe(true)
})
