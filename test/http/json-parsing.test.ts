import { expect, test, vi } from 'vitest'
import { createHandler } from '../../src/http/index.ts'
import { createStore, team1 } from '../fixtures.ts'
import { readCases } from '../vectors/read.ts'
import { expectDocumented } from './documented.ts'

/** Every input of the JSON parsing test suite. */
const cases = readCases<[file: string, base64: string, times: number]>('json-parsing.json').map(
  ([file, base64, times]) => ({
    file,
    bytes: Buffer.concat(Array<Buffer>(times).fill(Buffer.from(base64, 'base64'))),
  }),
)

test('the JSON parsing test suite has 95 inputs to accept, 188 to reject, and 35 optional ones', () => {
  const count = (kind: string) => cases.filter(({ file }) => file.startsWith(kind)).length
  expect([count('y_'), count('n_'), count('i_')]).toEqual([95, 188, 35])
})

test.each([
  ['the whole body', '', ''],
  ['the value of domains', '{"domains":', '}'],
  ['an entry of domains', '{"domains":["www.example.com",', ']}'],
])('used as %s, each input of the JSON parsing test suite gets the required result', async (_, before, after) => {
  const onError = vi.fn()
  const handle = createHandler({ store: createStore(), authenticate: () => team1, onError })
  const header = (name: string) => (name === 'content-type' ? 'application/json' : null)
  for (const { file, bytes } of cases) {
    const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])
    const answer = await handle({ header, readBody: () => ({ bytes: body }) })
    await expectDocumented(new Response(answer.body, answer))
    expect([200, 400], file).toContain(answer.status)
    const isRefusedAsJson = /is not valid JSON|is not valid UTF-8|is empty/.test(JSON.parse(answer.body).message)
    if (!file.startsWith('i_')) expect(isRefusedAsJson, file).toBe(file.startsWith('n_'))
  }
  expect(onError).not.toHaveBeenCalled()
})
