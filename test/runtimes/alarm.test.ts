import { expect, test } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { waitFor } from '../wait-for.ts'
import { type Received, receive } from '../webhook/receiver.ts'
import { startDurableObject } from './durable-object.ts'
import { why, workerd } from './runtimes.ts'

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

const toKinds = (received: readonly Received[]) =>
  received.flatMap(({ body }) => JSON.parse(body).data.changes.map(({ kind }: { kind: string }) => kind))

test.skipIf(!workerd.program)(
  `examples/durable-object.mjs has a first key, and its alarm pushes pending changes${workerd.program ? '' : why}`,
  async () => {
    let isAway = true
    const { url, received } = await receive(response => response.writeHead(isAway ? 503 : 204).end())
    const { key, hash } = await generateApiKey({ type: 'organization', id: '10' })
    const environment = { MONITOR_URL: url, WEBHOOK_SECRET, FIRST_KEY_HASH: hash }
    const { origin, stop } = await startDurableObject('alarm.js', environment)
    try {
      const post = (path: string) =>
        fetch(`${origin}/v1/domains${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: '{"domains":["example.com"],"team_id":"1"}',
        })

      expect((await post('')).status).toBe(503)
      isAway = false
      received.length = 0
      await waitFor(() => expect(toKinds(received)).toEqual(['registered']))
      expect(await (await post('/delete')).json()).toMatchObject({ data: { totals: { deleted: 1 } } })
      await waitFor(() => expect(toKinds(received)).toEqual(['registered', 'released']))
    } finally {
      await stop()
    }
  },
  120_000,
)
