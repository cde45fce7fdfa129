import { once } from 'node:events'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { registerAll } from '../../src/client/index.ts'
import { createWebhook } from '../../src/webhook/index.ts'
import { rejection } from '../fixtures.ts'
import { listen } from '../listen.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const change = { kind: 'registered', domainId: '1', domain: 'a.com', teamId: '1', at: new Date() } as never

/** Responds with a compressed body that never ends, to find out when the reader stops. */
async function serveEndless(status: number) {
  let isClosed = () => {}
  const closed = new Promise<void>(resolve => {
    isClosed = resolve
  })
  const { origin, close } = await listen(async (_, response) => {
    response.writeHead(status, { 'Content-Encoding': 'gzip', 'Retry-After': '3' })
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(64 * 1024, 'a')
      })(),
    )
    endless.pipe(createGzip()).pipe(response)
    await once(response, 'close')
    endless.destroy()
    isClosed()
  })
  onTestFinished(close)
  return { url: `${origin}/v1/domains`, closed }
}

const KIB = 1024

test.each([
  ['the webhook', 16, (fetch: typeof globalThis.fetch) => createWebhook({ url: 'http://x', secret, fetch })([change])],
  [
    'a client',
    4 * KIB,
    (fetch: typeof globalThis.fetch) => registerAll(['a.com'], { url: 'http://x', apiKey: 'svc_team_1_00', fetch }),
  ],
])('%s stops reading a response after %i KiB and one more chunk', async (_, limit, send) => {
  let chunks = 0
  const pull = (controller: ReadableStreamDefaultController) => {
    chunks += 1
    controller.enqueue(new Uint8Array(KIB))
  }
  await Promise.allSettled([send(async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })))])
  expect(chunks).toBe(limit + 1)
})

test('a client fails after 4 MiB of an endless response', async () => {
  const { url, closed } = await serveEndless(200)
  const error = await rejection(registerAll(['a.com'], { url, apiKey: 'svc_team_1_00' }))
  expect(error).toMatchObject({ name: 'RegisterAllError', status: 200, message: 'The response is larger than 4 MiB.' })
  await closed
})

test('the error of a client quotes a hostile response in one short line without control characters', async () => {
  const hostile = `\u001b[2J\u202eAll is well.\r\n${'x'.repeat(100_000)}`
  const fetch = async () => Response.json({ error: hostile, message: hostile }, { status: 400 })
  const options = { url: 'http://x', apiKey: 'svc_team_1_00', fetch }
  const { message, code } = (await rejection(registerAll(['a.com'], options))) as { message: string; code: string }
  const words = / \[2J All is well\. x{50,}$/
  expect([message, code]).toEqual([expect.stringMatching(words), expect.stringMatching(words)])
  expect(Math.max(message.length, code.length)).toBeLessThanOrEqual(1000)
})

test.each([
  [200, undefined],
  [400, { message: expect.stringMatching(/^The monitor returned 400: a{200}$/) }],
  [503, { name: 'MonitorUnavailableError', retryAfter: 3000 }],
])('a %i response with an endless body is judged by its status and the start of its body', async (status, outcome) => {
  const { url, closed } = await serveEndless(status)
  const judged = await createWebhook({ url, secret })([change]).catch(error => error)
  if (outcome) expect(judged).toMatchObject(outcome)
  else expect(judged).toBeUndefined()
  await closed
})
