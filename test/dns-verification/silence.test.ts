import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDnsVerification, type ResolveTxt } from '../../src/dns-verification/index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const silence = () => new Promise<never>(() => {})
const absence = () => []

/** Asks about one zone after another, a day later each, or at once. */
function create() {
  const reports: string[] = []
  let resolve: ResolveTxt = silence
  const { verify } = createDnsVerification({
    label: '_example-challenge',
    secret: 'the secret of the tests, 32 bytes and more',
    resolveTxt: (name, options) => resolve(name, options),
    onError: error => reports.push(error.message),
  })
  const ask = async (zone: string, to: ResolveTxt, pause = 0) => {
    resolve = to
    const call = verify('1', [zone])
    await vi.advanceTimersByTimeAsync(3000 + pause)
    await call
  }
  return { ask, reports }
}
const down: ResolveTxt = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))

test('a zone that is silent each day does not count as a dead resolver, though nothing else is asked', async () => {
  const { ask, reports } = create()
  for (let day = 0; day < 5; day += 1) await ask('dead.com', silence, 24 * 3600 * 1000)
  expect(reports).toEqual([])
})

test('several silent zones are reported once nothing was answered for a minute, and once a minute', async () => {
  const { ask, reports } = create()
  for (let zone = 0; zone < 20; zone += 1) await ask(`a${zone}.com`, silence)
  expect(reports).toEqual([])
  await ask('b.com', silence)
  expect(reports).toEqual(['Nobody answers DNS queries (ETIMEOUT); does the resolver work?'])
  for (let zone = 0; zone < 19; zone += 1) await ask(`c${zone}.com`, silence)
  expect(reports).toHaveLength(1)
  await ask('d.com', silence)
  expect(reports).toHaveLength(2)
})

test('a few zones that are silent whenever they are asked about do not count as a dead resolver either', async () => {
  const { ask, reports } = create()
  await ask('a.com', absence)
  for (let round = 0; round < 5; round += 1) {
    await ask('dead.com', silence)
    await ask('dead.org', silence, 4 * 3600 * 1000)
  }
  expect(reports).toEqual([])
})

test.each(['ESERVFAIL', 'EREFUSED'])(
  'a resolver that says %s about each zone is reported, a zone is not',
  async code => {
    const failure: ResolveTxt = () => Promise.reject(Object.assign(new Error('failed'), { code }))
    const { ask, reports } = create()
    for (let round = 0; round < 30; round += 1) await ask('broken.com', failure)
    expect(reports).toEqual([])
    await ask('a.com', failure)
    expect(reports).toEqual([`Nobody answers DNS queries (${code}); does the resolver work?`])
  },
)

test('an answer of any call in between says that the resolver works', async () => {
  const { ask, reports } = create()
  for (let zone = 0; zone < 60; zone += 1) await ask(`a${zone}.com`, zone % 15 === 0 ? absence : silence)
  expect(reports).toEqual([])
})

test('a resolver that cannot be reached is reported at once, unless it answered within the last minute', async () => {
  const first = create()
  await first.ask('a.com', down)
  expect(first.reports).toEqual(['Nobody answers DNS queries (ECONNREFUSED); does the resolver work?'])
  const { ask, reports } = create()
  await ask('a.com', absence)
  await ask('b.com', down)
  expect(reports).toEqual([])
  await ask('c.com', down, 60_000)
  await ask('d.com', down)
  expect(reports).toHaveLength(1)
})
