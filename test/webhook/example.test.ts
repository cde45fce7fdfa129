import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Change } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createWebhook } from '../../src/webhook/webhook.ts'
import { createStore } from '../fixtures.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

test('examples/monitor.ts follows the registry, whatever comes twice or late, and believes nobody else', async () => {
  const monitor = spawn(process.execPath, ['--import', 'tsx', 'examples/monitor.ts'], {
    cwd: root,
    env: { ...process.env, PORT: '0', WEBHOOK_SECRET: secret },
  })
  try {
    monitor.stdout.setEncoding('utf8')
    const [printed] = await once(monitor.stdout, 'data')
    const url = /http:\S+/.exec(printed)?.[0] as string
    const watched = async () => Object.values(await (await fetch(url)).json()).toSorted()
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

    await webhook(pushed.toReversed())
    await webhook(pushed)
    expect(await watched(), 'after all changes came again, in another order too').toEqual(['*.c.com', 'b.com'])

    const forged = createWebhook({ url, secret: `whsec_${Buffer.alloc(32, 6).toString('base64')}` })
    await expect(forged(pushed)).rejects.toThrow('The monitor answered 401')
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_000_001) })).status).toBe(413)
    expect(monitor.exitCode).toBeNull()
  } finally {
    monitor.kill()
  }
})
