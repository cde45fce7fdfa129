import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { createHandler } from '../../src/http/index.ts'
import { ApiError } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'

const CHUNK = 65_536
const BODY_LIMIT = 262_144

/** The example in the doc comment, as a program. */
async function runExample(): Promise<{ answer: (request: Request) => Promise<Response>; authorization: string }> {
  const { keys, issue } = createKeys()
  const source = readFileSync(new URL('../../src/http/handler.ts', import.meta.url), 'utf8')
  const [, example = ''] = / \* @example\n((?: \*(?!\/).*\n)+) \*\/\nexport function createHandler/.exec(source) ?? []
  const code = ts.transpile(example.replace(/^ \* ?/gm, ''), { target: ts.ScriptTarget.ES2022 })
  const run = new Function('createHandler', 'ApiError', 'store', 'keys', `${code}\nreturn answer`)
  return {
    answer: run(createHandler, ApiError, createStore(), keys),
    authorization: `Bearer ${await issue('team', '1')}`,
  }
}

test('the example of createHandler registers names, and does not read a body beyond the limit', async () => {
  const { answer, authorization } = await runExample()
  const post = (body: BodyInit) => {
    const headers = { authorization, 'content-type': 'application/json' }
    return answer(new Request('http://localhost', { method: 'POST', headers, body, duplex: 'half' } as RequestInit))
  }
  const registered = await post(JSON.stringify({ domains: ['example.com'] }))
  expect(await registered.json()).toMatchObject({ data: { totals: { created: 1 } } })

  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += CHUNK
      controller.enqueue(new Uint8Array(CHUNK))
    },
  })
  expect((await post(endless)).status).toBe(413)
  expect(sent).toBeLessThanOrEqual(BODY_LIMIT + 2 * CHUNK)
})
