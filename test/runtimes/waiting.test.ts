import { expect, test } from 'vitest'
import { startDurableObject } from './durable-object.ts'
import { why, workerd } from './runtimes.ts'

test.skipIf(!workerd.program)(
  `a Worker's cron registers names that wait in a Durable Object${workerd.program ? '' : why}`,
  async () => {
    const { origin, stop } = await startDurableObject('waiting.js')
    try {
      const get = async (path: string) => (await fetch(`${origin}${path}`)).text()
      const run = async () => JSON.parse(await get('/scheduled'))
      const body = '{"domains":["example.com","example.net"]}'
      const headers = { 'Content-Type': 'application/json' }
      const created = await fetch(`${origin}/v1/domains`, { method: 'POST', headers, body })
      expect(await created.json()).toMatchObject({
        data: { results: [{ message: expect.stringContaining('It is kept until') }, { status: 'invalid' }] },
      })
      expect(await run()).toMatchObject({ result: { tried: 0 }, told: [] })
      await get('/pass?milliseconds=60000')
      await get('/approve?domain=example.com')
      expect(await run()).toMatchObject({
        result: { tried: 2, registered: 1 },
        told: [{ status: 'registered', teamId: '1', domain: 'example.com' }],
      })
      const { data } = JSON.parse(await get('/v1/domains/waiting'))
      expect(data.domains).toMatchObject([{ domain: 'example.net', reason: 'not_approved' }])
    } finally {
      await stop()
    }
  },
  60_000,
)
