import { describe, expect, test } from 'vitest'
import { maxFailures, splitUntilAlone } from '../../src/registry/split.ts'

const items = (count: number) => Array.from({ length: count }, (_, index) => index)
const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100]

/** Processes items of which some are bad, and tells what was tried and how it ended. */
async function run(count: number, bad: (item: number) => boolean, hasTime?: () => boolean) {
  const attempts: (readonly number[])[] = []
  const through: number[] = []
  const { refused, untried, lastCause } = await splitUntilAlone(items(count), {
    async attempt(part) {
      attempts.push(part)
      const [first] = part.filter(bad)
      if (first !== undefined) throw new Error(`${first} is bad`)
      through.push(...part)
    },
    ...(hasTime && { hasTime }),
  })
  const sort = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other)
  const causes = refused.map(({ item, cause }) => [item, (cause as Error).message])
  return {
    attempts,
    through: sort(through),
    refused: sort(refused.map(({ item }) => item)),
    causes,
    untried,
    lastCause,
  }
}

describe.each(COUNTS)('of %i items', count => {
  test('all go through in one attempt where none is bad', async () => {
    const { attempts, through } = await run(count, () => false)
    expect(attempts).toEqual([items(count)])
    expect(through).toEqual(items(count))
  })

  test('a single bad one is told from a service that is down, wherever it stands', async () => {
    for (const position of items(count)) {
      const { attempts, through, refused, causes, untried } = await run(count, item => item === position)
      expect(refused).toEqual([position])
      expect(causes).toEqual([[position, `${position} is bad`]])
      expect(through).toEqual(items(count).filter(item => item !== position))
      expect(untried).toEqual([])
      expect(attempts.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(count)) + 3)
    }
  })

  test('a service that is down is asked a few times, and the rest is not tried', async () => {
    const { attempts, through, refused, untried, lastCause } = await run(count, () => true)
    expect(through).toEqual([])
    expect(attempts.length).toBeLessThanOrEqual(maxFailures(count))
    expect([...refused, ...untried].toSorted((one, other) => one - other)).toEqual(items(count))
    if (untried.length > 0) expect(lastCause).toBeInstanceOf(Error)
  })

  test('no attempt is made twice, and there are at most 2 n - 1', async () => {
    for (let seed = 0; seed < 40; seed += 1) {
      const isBad = (item: number) => Math.imul(item + 7 * seed + 1, 0x9e3779b1) >>> 30 === seed % 4
      const { attempts, through, refused, untried } = await run(count, isBad)
      expect(new Set(attempts.map(String)).size).toBe(attempts.length)
      expect(attempts.length).toBeLessThanOrEqual(2 * count - 1)
      expect([...through, ...refused, ...untried].toSorted((one, other) => one - other)).toEqual(items(count))
      for (const item of refused) expect(isBad(item)).toBe(true)
    }
  })
})

test('any two bad ones among a hundred are told from a service that is down', async () => {
  for (const one of items(100)) {
    for (const other of items(one)) {
      const { refused, untried } = await run(100, item => item === one || item === other)
      expect([refused, untried]).toEqual([[other, one], []])
    }
  }
})

test('any run of ten bad ones is told from a service that is down, and so is every tenth', async () => {
  for (const start of items(91)) {
    const { refused } = await run(100, item => item >= start && item < start + 10)
    expect(refused).toEqual(items(10).map(index => start + index))
  }
  for (const start of items(10)) expect((await run(100, item => item % 10 === start)).refused).toHaveLength(10)
})

test('a service that is down for good is asked about log2(n) + 1 times', async () => {
  for (const [count, attempts] of [
    [1, 1],
    [2, 3],
    [3, 4],
    [4, 4],
    [100, 9],
    [1000, 12],
  ] as const) {
    expect((await run(count, () => true)).attempts.length).toBe(attempts)
  }
})

test('once there is no time, nothing more is tried', async () => {
  expect(
    await run(
      4,
      () => false,
      () => false,
    ),
  ).toMatchObject({ attempts: [], untried: [0, 1, 2, 3], lastCause: undefined })
  let left = 3
  const { attempts, refused, through, untried, lastCause } = await run(
    8,
    item => item === 0,
    () => left-- > 0,
  )
  expect(attempts).toHaveLength(3)
  expect([through, refused]).toEqual([[4, 5, 6, 7].slice(0, through.length), []])
  expect([...untried].toSorted()).toEqual(items(8).filter(item => !through.includes(item)))
  expect(lastCause).toEqual(new Error('0 is bad'))
})

test('nothing to do is done without an attempt', async () => {
  expect(await run(0, () => true)).toMatchObject({ attempts: [], refused: [], untried: [] })
})

test('probes are tried alone before the others, which then go together', async () => {
  const attempts: (readonly number[])[] = []
  const { refused, untried } = await splitUntilAlone([1, 2, 3, 4], {
    async attempt(part) {
      attempts.push(part)
      if (part.includes(3)) throw new Error('bad')
    },
    probes: [3, 4],
  })
  expect(attempts).toEqual([[3], [4], [1, 2]])
  expect([refused.map(({ item }) => item), untried]).toEqual([[3], []])
})
