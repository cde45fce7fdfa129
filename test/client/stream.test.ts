import { describe, expect, test } from 'vitest'
import { deleteAll, type Progress, registerAll } from '../../src/client/index.ts'
import { createStore, rejection } from '../fixtures.ts'
import { callHere, unavailable, whileTimeFlies } from './fake-time.ts'
import { names } from './serve.ts'

/** An endless iterable of names, which counts the names that were read. */
function countReads() {
  const reads = { names: 0, isClosed: false }
  async function* endless() {
    try {
      for (;;) yield `n${reads.names++}.com`
    } finally {
      reads.isClosed = true
    }
  }
  return { reads, endless }
}

describe('in a for await loop,', () => {
  test('registerAll and deleteAll yield each result in the order of the names', async () => {
    const { options } = callHere(createStore())
    for (const [work, status] of [
      [registerAll, 'created'],
      [deleteAll, 'deleted'],
    ] as const) {
      const inputs: string[] = []
      for await (const result of work(new Set(names(730)), options)) {
        expect(result.status).toBe(status)
        inputs.push(result.input)
      }
      expect(inputs).toEqual(names(730))
    }
  })

  test('fewer than 2,500 names are read ahead, and their iterator is closed if the loop ends early', async () => {
    const { reads, endless } = countReads()
    const { options } = callHere(createStore())
    let done = 0
    for await (const _ of registerAll(endless(), options)) {
      done += 1
      expect(reads.names - done).toBeLessThan(2500)
      if (done === 5000) break
    }
    await new Promise(resolve => setTimeout(resolve, 10))
    const { names: read } = reads
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(reads).toEqual({ names: read, isClosed: true })
  })

  test('the results of a retried call come after all others, and progress says where to resume', async () => {
    let isFirst = true
    const { options } = callHere(createStore(), sent => {
      if (!isFirst || !sent.includes('n150.com')) return undefined
      isFirst = false
      return unavailable()
    })
    const resumeAt: [done: number, resumeAt: number][] = []
    const onProgress = (progress: Progress) => resumeAt.push([progress.done, progress.resumeAt])
    const inputs: string[] = []
    await whileTimeFlies(async () => {
      for await (const { input } of registerAll(names(500), { ...options, onProgress })) inputs.push(input)
    })
    const [first, second, others] = [names(100), names(200).slice(100), names(500).slice(200)]
    expect(inputs).toEqual([...first, ...others, ...second])
    expect(resumeAt).toEqual([
      [100, 100],
      [200, 100],
      [300, 100],
      [400, 100],
      [500, 500],
    ])
  })

  test('an error contains no results, because the loop has already received them', async () => {
    const { options } = callHere(createStore(), sent =>
      sent.includes('n250.com') ? new Response('', { status: 403 }) : undefined,
    )
    const inputs: string[] = []
    const error = await rejection(
      (async () => {
        for await (const { input } of registerAll(names(300), options)) inputs.push(input)
      })(),
    )
    expect(inputs).toEqual(names(200))
    expect(error).toMatchObject({ status: 403, results: [], inputs: names(300).slice(200), resumeAt: 200 })
  })
})

test('four calls run at once by default, or as many as `concurrency` says', async () => {
  for (const [concurrency, most] of [
    [undefined, 4],
    [1, 1],
    [7, 7],
  ]) {
    let underWay = 0
    let mostUnderWay = 0
    const { options } = callHere(createStore(), async () => {
      underWay += 1
      mostUnderWay = Math.max(mostUnderWay, underWay)
      await new Promise(resolve => setTimeout(resolve, 5))
      underWay -= 1
      return undefined
    })
    await registerAll(names(2000), { ...options, concurrency })
    expect(mostUnderWay).toBe(most)
  }
})

test('results are in order even if the first response arrives last', async () => {
  const { options } = callHere(createStore(), async sent => {
    if (sent.includes('n0.com')) await new Promise(resolve => setTimeout(resolve, 50))
    return undefined
  })
  const { results } = await registerAll(names(900), options)
  expect(results.map(({ input }) => input)).toEqual(names(900))
})

test('if the iterable of names throws, registerAll finishes open calls, and then rejects with the error', async () => {
  const store = createStore()
  const failure = new Error('the file is gone')
  function* failing() {
    yield* names(150)
    throw failure
  }
  expect(await rejection(registerAll(failing(), callHere(store).options))).toBe(failure)
  expect(store.count()).toBe(100)
})

test('registerAll starts only once, when its result is first awaited', async () => {
  const { options, calls } = callHere(createStore())
  const run = registerAll(names(100), options)
  await new Promise(resolve => setTimeout(resolve, 5))
  expect(calls).toEqual([])
  const both = await Promise.all([run, run.finally(() => {}), run.catch(() => {})])
  expect(both.map(result => result?.totals.created)).toEqual([100, 100, 100])
  expect(calls).toEqual([100])
})
