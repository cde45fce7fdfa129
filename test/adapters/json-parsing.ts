import { describe, expect, test } from 'vitest'
import { counts, sample } from '../counts.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { readCases } from '../vectors/read.ts'
import { expectHarmless } from './harmless.ts'
import type { StartServer } from './suite.ts'

const cases = readCases<[file: string, base64: string, times: number]>('json-parsing.json').map(
  ([file, base64, times]) => ({
    file,
    bytes: Buffer.concat(Array<Buffer>(times).fill(Buffer.from(base64, 'base64'))),
  }),
)

/** Where the text stands in the body. */
const places = [
  ['the whole body', '', ''],
  ['the value of domains', '{"domains":', '}'],
  ['an entry of domains', '{"domains":["www.example.com",', ']}'],
] as const

const notJson = /is not valid JSON|is not valid UTF-8|is empty/

/**
 * Texts that come to us changed where `express.json({ strict: false })` reads them before: of nothing it makes an empty
 * object, and a string it leaves is taken for the text of a body.
 */
const changedByTheHost = new Set([
  'n_structure_no_data',
  'n_structure_UTF8_BOM_no_data',
  'y_string_space',
  'y_structure_lonely_string',
  'y_structure_string_empty',
])

/** Every text of the JSON parsing test suite: refused as no JSON where it must be, never where it must not. */
export function describeJsonParsing(name: string, start: StartServer, { bodyIsReadBefore = false } = {}): void {
  describe(`${name}: the JSON parsing test suite`, () => {
    test('has 95 texts to accept, 188 to reject, and 35 to choose', () => {
      const count = (kind: string) => cases.filter(({ file }) => file.startsWith(kind)).length
      expect([count('y_'), count('n_'), count('i_')]).toEqual([95, 188, 35])
    })

    test.each(places)('as %s', async (_, before, after) => {
      const { keys, issue } = createKeys()
      const failures: unknown[] = []
      const server = await start({ store: createStore(), keys, onError: error => void failures.push(error) })
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${await issue('team', '1')}` }

      async function findDifference({ file, bytes }: (typeof cases)[number]) {
        const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])
        const response = await fetch(`${server.origin}/v1/domains`, { method: 'POST', headers, body })
        const answer = { status: response.status, headers: new Map(response.headers), body: await response.text() }
        await expectHarmless(answer, [])
        const isRefusedAsJson = answer.status === 400 && notJson.test(JSON.parse(answer.body).message)
        if (bodyIsReadBefore && before === '' && changedByTheHost.has(file)) return []
        const isRight = {
          y: !isRefusedAsJson && [200, 400].includes(answer.status),
          n: isRefusedAsJson,
          i: [200, 400].includes(answer.status),
        }[file[0] as 'y' | 'n' | 'i']
        return isRight ? [] : [{ file, ...answer }]
      }

      try {
        const differences = []
        for (const vector of sample(cases, counts.parsedTexts)) differences.push(...(await findDifference(vector)))
        expect(differences).toEqual([])
        expect(failures).toEqual([])
      } finally {
        await server.close()
      }
    })
  })
}
