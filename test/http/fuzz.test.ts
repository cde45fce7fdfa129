import express from 'express'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { hashApiKey } from '../../src/index.ts'
import { counts, seed } from '../counts.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { listen, type RunningServer } from '../listen.ts'
import { expectHarmless } from './harmless.ts'
import { exchange, toWire } from './raw-http.ts'

const onError = vi.fn()
const seen = new Map<number, number>()
let server: RunningServer
let keys: { team: string; organization: string; unscoped: string }
let secrets: string[]

beforeAll(async () => {
  const { keys: keyStore, issue } = createKeys()
  keys = {
    team: await issue('team', '1'),
    organization: await issue('organization', '10'),
    unscoped: await issue('team', '1', { scopes: [] }),
  }
  secrets = [...Object.values(keys), ...(await Promise.all(Object.values(keys).map(hashApiKey)))]
  const options = { store: createStore(), keys: keyStore, onError, bodyLimit: 2000 }
  server = await listen(express().use(domainsRouter(options)))
})
afterAll(() => server.close())

/**
 * Sends random requests, and checks that the server still responds to a valid one afterwards.
 *
 * @param examples Requests that are always sent, so every expected kind of response occurs.
 */
async function check<T>(
  arbitrary: fc.Arbitrary<T>,
  toRequest: (value: T) => string | Uint8Array,
  examples: readonly T[] = [],
) {
  seen.clear()
  await fc.assert(
    fc.asyncProperty(arbitrary, async value => {
      for (const response of await exchange(server.origin, toRequest(value), { hangUpAfter: 100 })) {
        // With another target, the request would miss our route and get the framework's own page.
        if (response.status === 404 && response.headers.get('content-type')?.startsWith('text/html')) continue
        await expectHarmless(response, secrets)
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
      }
    }),
    { seed, numRuns: counts.fuzzedRequests, examples: examples.map(example => [example]) },
  )
  const [after] = await exchange(server.origin, compose({}))
  expect(after?.status).toBe(200)
  expect(onError).not.toHaveBeenCalled()
}

interface Fields {
  authorization?: string
  type?: string
  encoding?: string
  body?: Uint8Array | string
}

function compose({
  authorization = `Bearer ${keys.team}`,
  type = 'application/json',
  encoding,
  body = '{"domains":["www.example.com"]}',
}: Fields) {
  const fields: [string, string][] = [
    ['Host', 'localhost'],
    ['Connection', 'close'],
    ['User-Agent', 'a client that nobody has heard of '.repeat(3)],
    ['Authorization', authorization],
    ['Content-Type', type],
    ['Content-Length', String(Buffer.byteLength(body))],
  ]
  if (encoding !== undefined) fields.push(['Content-Encoding', encoding])
  return toWire(fields, body)
}

/** Strings so similar to hostnames that some of them are valid. */
const hostname = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6(),
  fc.array(fc.nat(0x10ffff), { maxLength: 40 }).map(points => String.fromCodePoint(...points)),
  fc.constantFrom('*.example.com', 'localhost', 'com', '', ' ', 'bücher.de', '__proto__', '127.1'),
)
const body = fc.oneof(
  fc.record({
    domains: fc.array(hostname, { maxLength: 12 }),
    team_id: fc.constantFrom('1', '9', '3', '77', 'x', 1, null),
  }),
  fc.record({ domains: fc.array(fc.oneof(hostname, fc.jsonValue()), { maxLength: 120 }) }, { requiredKeys: [] }),
  fc.dictionary(fc.constantFrom('domains', 'team_id', '__proto__', 'constructor', 'length'), fc.jsonValue()),
  fc.jsonValue(),
)

test('random JSON as the body, with each kind of key, gets a documented response', async () => {
  await check(
    fc.record({ body, owner: fc.constantFrom('team', 'team', 'organization', 'organization', 'unscoped') }),
    ({ body, owner }) =>
      compose({ body: JSON.stringify(body), authorization: `Bearer ${keys[owner as keyof typeof keys]}` }),
    [
      { body: { domains: ['a.com'] }, owner: 'team' },
      { body: {}, owner: 'team' },
      { body: {}, owner: 'unscoped' },
      { body: { domains: ['a.com'], team_id: '77' }, owner: 'organization' },
    ],
  )
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 400, 403, 404]))
})

test('a request with random values in the headers that the server reads gets a documented response', async () => {
  const mix = (...right: string[]) =>
    fc.oneof(
      fc.constantFrom(...right),
      fc.string({ unit: fc.constantFrom(...'abcjsonutf/-+;:=", \t8_.%\xe9'), maxLength: 40 }),
    )
  await check(
    fc.record(
      {
        authorization: mix('Bearer svc_team_1_00', 'Bearer ', 'Basic eDp5'),
        type: mix('application/json', 'application/json;charset=utf-8', 'application/json; charset="utf-16"'),
        encoding: mix('identity', 'gzip', ''),
      },
      { requiredKeys: [] },
    ),
    compose,
    [{}, { authorization: 'Basic eDp5' }, { encoding: 'gzip' }],
  )
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 401, 415]))
})

test('a valid request with bytes changed, doubled, removed or inserted gets a documented response', async () => {
  const change = fc.record({
    permille: fc.nat(999),
    drop: fc.integer({ min: 0, max: 3 }),
    put: fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      fc
        .constantFrom('\r\n', '\n', '\r\n\r\n', ',', '"', '\\', '{', ']', '9', '0', ': ', 'chunked', '\0', '\ufeff')
        .map(text => Buffer.from(text)),
    ),
  })
  const good = compose({})
  const at = (text: string) => ({ permille: Math.ceil((good.indexOf(text) / good.byteLength) * 1000), drop: 1 })
  const put = Buffer.from('{')
  await check(
    fc.array(change, { minLength: 1, maxLength: 4 }),
    changes =>
      changes.reduce<Buffer>((bytes, { permille, drop, put }) => {
        const start = Math.floor((permille / 1000) * bytes.byteLength)
        return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + drop)])
      }, good),
    [[{ permille: 0, drop: 0, put: Buffer.from('') }], [{ ...at('"domains"'), put }], [{ ...at('svc_team'), put }]],
  )
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 400, 401]))
})
