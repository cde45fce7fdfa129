import { expect, test, vi } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { type Received, receive } from '../webhook/receiver.ts'
import { startDurableObject } from './durable-object.ts'
import { why, workerd } from './runtimes.ts'

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

const toKinds = (received: readonly Received[]) =>
  received.flatMap(({ body }) => JSON.parse(body).data.changes.map(({ kind }: { kind: string }) => kind))

test.skipIf(!workerd.program)(
  `the alarm in examples/durable-object.mjs pushes pending changes${workerd.program ? '' : why}`,
  async () => {
    let isAway = true
    const { url, received } = await receive(response => response.writeHead(isAway ? 503 : 204).end())
    const { origin, stop } = await startDurableObject('alarm.js', { MONITOR_URL: url, WEBHOOK_SECRET })
    try {
      const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
      const record = { hash, type: 'team', ownerId: '1', scopes: ['domains:create', 'domains:delete'] }
      await fetch(`${origin}/keys`, { method: 'POST', body: JSON.stringify(record) })
      const post = (path: string) =>
        fetch(`${origin}/v1/domains${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: '{"domains":["example.com"]}',
        })

      expect((await post('')).status).toBe(503)
      isAway = false
      received.length = 0
      await vi.waitFor(() => expect(toKinds(received)).toEqual(['registered']), { timeout: 40_000 })
      expect(await (await post('/delete')).json()).toMatchObject({ data: { totals: { deleted: 1 } } })
      await vi.waitFor(() => expect(toKinds(received)).toEqual(['registered', 'released']), { timeout: 40_000 })
    } finally {
      await stop()
    }
  },
  120_000,
)
