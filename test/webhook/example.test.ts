import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createWebhook } from '../../src/webhook/index.ts'
import { createStore } from '../fixtures.ts'
import { findFreePort } from '../postgres/free-port.ts'
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
