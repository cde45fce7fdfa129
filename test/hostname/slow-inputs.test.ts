import { expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'
import { readCases } from '../vectors/read.ts'

const texts = readCases<[string]>('slow-inputs.json').map(([text]) => text)

/**
 * What a call may hold; the goal, measured in bench/, is a twentieth of the bound here, which no machine's load can
 * reach.
 */
const CALL = 100
const MAX_CPU_SECONDS = 1

/** Of this thread's process, so that time in which others run does not count. */
function cpuSeconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

test('there are cases of every kind: attacks of reviews, and the worst that the search found', () => {
  expect(texts.length).toBeGreaterThan(12)
  expect(Math.max(...texts.map(text => text.length))).toBeGreaterThan(500)
})

test.each(texts.map(text => [text.slice(0, 40), text]))('a call of 100 texts like %j ends', (_, text) => {
  expect(classifyHostname(text)).toMatchObject({ valid: expect.any(Boolean) })
  const seconds = cpuSeconds(() => {
    for (let name = 0; name < CALL; name += 1) classifyHostname(text)
  })
  expect(seconds).toBeLessThan(MAX_CPU_SECONDS)
})

/** How many characters the runtime normalizes for a text: what mapping and explaining it cost beside patterns. */
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

test('a text is mapped once for itself and once for each mistake undone, and never what it expands to', () => {
  // U+3316 stands for six characters. Letters that were mapped before are not normalized one by one.
  const expanding = ['\u3316'.repeat(512), `${'\u3316'.repeat(63)}.`.repeat(7), '\ufdfa'.repeat(512)]
  const counts = [...texts, ...expanding].map(text => [countNormalized(text), countNormalized(text), text] as const)
  expect(counts.filter(([, count, text]) => count > (expanding.includes(text) ? 1 : 5) * 512)).toEqual([])
  expect(Math.max(...counts.map(([, count]) => count))).toBeGreaterThan(200)
})
