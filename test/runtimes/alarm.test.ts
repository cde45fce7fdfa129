import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { expect, test, vi } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { type Received, receive } from '../webhook/receiver.ts'
import { why, workerd } from './runtimes.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

/** Starts examples/durable-object.mjs in workerd. */
async function start(monitorUrl: string) {
  await build({
    config: false,
    silent: true,
    entry: { alarm: `${here}sqlite/alarm.js` },
    outDir: `${here}node_modules/worker`,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    noExternal: [/^(?!cloudflare:)/],
    external: [/^cloudflare:/],
    splitting: false,
    clean: false,
  })
  const folder = mkdtempSync(join(tmpdir(), 'durable-object-'))
  const parameters = [...workerd.run, `--directory-path=disk=${folder}`, 'sqlite/alarm.capnp']
  const spawned = spawn(workerd.program as string, parameters, {
    cwd: here,
    env: { ...process.env, MONITOR_URL: monitorUrl, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const [line] = (await once(spawned.stdio[3] as Readable, 'data')) as [Buffer]
  return {
    origin: `http://127.0.0.1:${JSON.parse(line.toString()).port}`,
    async stop() {
      const exit = once(spawned, 'exit')
      spawned.kill('SIGKILL')
      await exit
      rmSync(folder, { recursive: true })
    },
  }
}

const toKinds = (received: readonly Received[]) =>
  received.flatMap(({ body }) => JSON.parse(body).data.changes.map(({ kind }: { kind: string }) => kind))

test.skipIf(!workerd.program)(
  `examples/durable-object.mjs pushes by its alarm what no call has pushed${workerd.program ? '' : why}`,
  async () => {
    let isAway = true
    const { url, received } = await receive(response => response.writeHead(isAway ? 503 : 204).end())
    const { origin, stop } = await start(url)
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
