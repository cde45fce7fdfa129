import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { createSweep } from '../../examples/sweep-by-cron.ts'
import type { Change } from '../../src/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createWebhook } from '../../src/webhook/index.ts'
import { createStore } from '../fixtures.ts'
import { findFreePort } from '../free-port.ts'
import { createMonitorProcess, secret } from './monitor-process.ts'

function postSigned(url: string, body: string): Promise<Response> {
  const now = new Date()
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signature = new Webhook(secret).sign('msg_1', now, body)
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return fetch(url, { method: 'POST', headers, body })
}

test('examples/monitor.ts follows repeated and late pushes correctly, and rejects forged ones', async () => {
  const monitor = await createMonitorProcess(await findFreePort())
  onTestFinished(() => monitor.remove())
  await monitor.start()
  const { url } = monitor
  const watched = async () => Object.values(await monitor.watched()).toSorted()
  const webhook = createWebhook({ url, secret })
  const pushed: Change[] = []
  const store = createStore({
    synchronize(changes) {
      pushed.push(...changes)
      return webhook(changes)
    },
  })

  const saved = await save(store, '1', ['a.com', 'b.com', '*.c.com'])
  await store.synchronize?.(saved)
  expect(await watched()).toEqual(['*.c.com', 'a.com', 'b.com'])
  await store.release('1', ['a.com'])
  expect(await store.synchronizePending()).toEqual({ synchronized: 1, failed: 0 })
  expect(await watched()).toEqual(['*.c.com', 'b.com'])

  await monitor.kill()
  await monitor.start()
  expect(await watched(), 'after it was killed').toEqual(['*.c.com', 'b.com'])
  await webhook(pushed.toReversed())
  await webhook(pushed)
  expect(await watched(), 'after all changes came again, in another order too').toEqual(['*.c.com', 'b.com'])

  const forged = createWebhook({ url, secret: `whsec_${Buffer.alloc(32, 6).toString('base64')}` })
  await expect(forged(pushed)).rejects.toThrow('The monitor returned 401')
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_000_001) })).status).toBe(413)
  expect((await postSigned(url, '{"data":{"changes":7}}')).status, 'for a change that it cannot apply').toBe(500)
  expect(await watched(), 'after all that').toEqual(['*.c.com', 'b.com'])
})

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
