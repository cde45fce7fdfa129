import { expect, test } from 'vitest'
import { startOfLabel } from '../../src/hostname/dots.ts'
import { scanPlainName } from '../../src/hostname/plain-name.ts'
import { readLines } from '../vectors/read.ts'

const longLabel = 'a'.repeat(40)
const names = [
  ...readLines('hostnames.txt').slice(0, 5000),
  ...Array.from({ length: 40 }, (_, length) => `${'b'.repeat(length + 1)}.co.uk`),
  ...Array.from({ length: 40 }, (_, length) => `www.${'c'.repeat(length + 1)}`),
  `${longLabel}.com`,
  `www.${longLabel}.${longLabel}`,
  'single',
]

test('every label of a plain name is found by its dots as by a search in the name', () => {
  let labels = 0
  for (const name of names) {
    const dots = scanPlainName(name)
    if (dots === null) continue
    for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) {
      expect(startOfLabel(name, end, dots), name).toBe(name.lastIndexOf('.', end - 1) + 1)
      labels += 1
    }
  }
  expect(labels).toBeGreaterThan(15_000)
})
