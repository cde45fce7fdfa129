import { expect, test } from 'vitest'
import { createSweep } from '../../examples/sweep-by-cron.ts'
import type { Change } from '../../src/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createStore } from '../fixtures.ts'

const sweepWith = (key: string) =>
  new Request('https://example.com/api/sweep', { headers: { Authorization: `Bearer ${key}` } })

test('examples/sweep-by-cron.ts pushes all pending changes, but only for requests with the cron secret', async () => {
  const pushed: Change[] = []
  const store = createStore({ synchronize: changes => void pushed.push(...changes) })
  const domains = manyDomains(2_500)
  await store.synchronize?.(await save(store, '1', domains))
  for (let start = 0; start < domains.length; start += 1000)
    await store.release('1', domains.slice(start, start + 1000))
  pushed.length = 0

  const sweep = createSweep(store, 'secret')
  for (const guess of ['guess', '', 'secre', 'secretsecret', 'SECRET', 'sécret', 'x'.repeat(8000)])
    expect((await sweep(sweepWith(guess))).status).toBe(401)
  expect((await sweep(new Request('https://example.com/api/sweep'))).status).toBe(401)
  expect(pushed).toEqual([])
  expect(await (await sweep(sweepWith('secret'))).json()).toEqual({
    count: 0,
    refused: 0,
    oldest: null,
    longestRefused: null,
  })
  expect(pushed.map(({ kind }) => kind)).toEqual(Array(2_500).fill('released'))
  expect(() => createSweep(store, undefined)).toThrow('CRON_SECRET')
})
