import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { hashApiKey } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { expectHarmless } from './harmless.ts'
import { exchange, type RawResponse, toWire } from './raw-http.ts'
import type { StartServer, Traits } from './suite.ts'

const good = '{"domains":["www.example.com"]}'
const bodyLimit = 256 * 1024
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const call = (...domains: string[]) => JSON.stringify({ domains })

interface Call {
  /** `null`: the call has no key. */
  key?: 'team' | 'organization' | null
  /**
   * Header lines, which replace the usual lines with the same names. A header may be given several times; the value
   * `null` omits it.
   */
  fields?: readonly (readonly [name: string, value: string | null])[]
  body?: string | Uint8Array
  /** Replaces `POST /v1/domains HTTP/1.1`. */
  requestLine?: string
  /** Closes the connection this many milliseconds after the last byte. */
  hangUpAfter?: number
}

/**
 * A call, the statuses that are allowed for it, and a pattern that the message must match. An empty array of statuses
 * means that Node need not respond.
 */
type Case = [claim: string, call: Call, statuses: readonly number[], message?: RegExp]

const withField = (name: string, ...values: (string | null)[]): Call => ({
  fields: values.map(value => [name, value] as const),
})
const withBody = (body: string | Uint8Array): Call => ({ body })
const forOrganization = (body: string): Call => ({ key: 'organization', body })
const chunked = (body: string): Call => ({
  fields: [
    ['Content-Length', null],
    ['Transfer-Encoding', 'chunked'],
  ],
  body,
})

const headerFields: Case[] = [
  ...[
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf8',
    'application/json;charset="UTF-8"',
    'application/json ; profile="x"; charset=utf-8',
  ].map((type): Case => [`Content-Type: ${type}`, withField('Content-Type', type), [200]]),
  ...[
    null,
    '',
    'json',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/vnd.x+json',
    'application/jsonx',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    `application/${';'.repeat(4000)}`,
    `application/json${' '.repeat(8000)}x`,
  ].map(
    (type): Case => [
      `Content-Type: ${String(type).slice(0, 40)}`,
      withField('Content-Type', type),
      [415],
      /Content-Type|UTF-8/,
    ],
  ),
  [
    'Content-Type twice, the second with another type',
    withField('Content-Type', 'application/json', 'text/plain'),
    [200, 415],
  ],
  [
    'Content-Type twice, the first with another type',
    withField('Content-Type', 'text/plain', 'application/json'),
    [415],
  ],
  ['Content-Encoding: identity', withField('Content-Encoding', 'identity'), [200]],
  ['a gzip body', { ...withField('Content-Encoding', 'gzip'), body: gzipSync(good) }, [415]],
  ['a deflate body', { ...withField('Content-Encoding', 'deflate'), body: deflateSync(good) }, [415]],
  ['a body that is not gzip although its header says so', withField('Content-Encoding', 'gzip'), [415]],
  ['an unknown Content-Encoding', withField('Content-Encoding', 'identity, x-mine'), [415]],

  ['no Authorization', { key: null }, [401]],
  ...[
    '',
    `Bearer ${'x'.repeat(8000)}`,
    `Bearer ${' '.repeat(8000)}x`,
    'Bearer svc_team_1_\xff\xfe',
    'Basic c3ZjOg==',
  ].map((value): Case => [`Authorization: ${value.slice(0, 40)}`, withField('Authorization', value), [401]]),
]

/** Bytes that are not UTF-8. */
const notUtf8: [claim: string, bytes: readonly number[]][] = [
  ['a byte that never occurs', [0xff]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
]

const bodies: Case[] = [
  ['nothing', withBody(''), [400], /is empty|must be an array/],
  ['white space', withBody(' \r\n\t'), [400], /is empty|is not valid JSON/],
  ...['null', '"domains"', '["www.example.com"]'].map(
    (body): Case => [body, withBody(body), [400], /must be a JSON object|is not valid JSON/],
  ),

  ['a byte order mark before the JSON', withBody(`\ufeff${good}`), [200]],
  ['UTF-16, little-endian', withBody(Buffer.from(`\ufeff${good}`, 'utf16le')), [400], /is not valid/],
  ['UTF-16, big-endian', withBody(Buffer.from(good, 'utf16le').swap16()), [400], /is not valid/],
  ...notUtf8.map(
    ([claim, bytes]): Case => [
      claim,
      withBody(Buffer.concat([Buffer.from('{"domains":["a'), Buffer.from(bytes), Buffer.from('.com"]}')])),
      [400],
      /is not valid (?:UTF-8|JSON)/,
    ],
  ),
  [
    'strings that are not hostnames',
    withBody(
      '{"domains":["a\\u0000.com","\\udc00\\ud800.com","__proto__","<script>alert(1)</script>","\'; DROP TABLE"]}',
    ),
    [200],
  ],
  ['domains under __proto__', withBody('{"__proto__":{"domains":["www.example.com"]}}'), [400], /^domains must be/],
  [
    'team_id twice, the last of another organization',
    forOrganization('{"domains":["a.com"],"team_id":"1","team_id":"3"}'),
    [404],
  ],
  ['100,000 nested arrays', withBody(nested(100_000)), [400], /must be a JSON object/],
  [
    '20,000 nested objects',
    withBody(`${'{"domains":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
    [400],
    /^domains must be/,
  ],
  ['100,000 nested arrays as a hostname', withBody(`{"domains":[${nested(100_000)}]}`), [400], /^domains\[0\] must be/],
  ['100,000 nested arrays in a field that is ignored', withBody(`{"x":${nested(100_000)},"domains":["a.com"]}`), [200]],
  ['80,000 hostnames', withBody(call(...Array<string>(80_000).fill(''))), [400], /^domains must contain at most 100/],
  [
    '20,000 fields',
    withBody(`{${Array.from({ length: 20_000 }, (_, n) => `"${n}":0`).join()},"domains":["a.com"]}`),
    [200],
  ],
  ['a number of 250,000 digits', withBody(`{"x":${'9'.repeat(250_000)},"domains":["a.com"]}`), [200]],
  ['one hostname of 250,000 characters', withBody(call('a'.repeat(250_000))), [200]],
  ['JSON as long as the limit', withBody(good.padEnd(bodyLimit)), [200, 413]],
  ['JSON longer than the limit by one', withBody(good.padEnd(bodyLimit + 1)), [413]],
]

const framing: Case[] = [
  ['Content-Length: 0', { ...withField('Content-Length', '0'), body: '' }, [400], /is empty|must be an array/],
  ...['-1', 'abc', '1e3', '0x10', '5, 6', ''].map(
    (value): Case => [`Content-Length: ${value}`, withField('Content-Length', value), [400]],
  ),
  ['Content-Length twice, with different values', withField('Content-Length', '5', '31'), [400]],
  [
    'a Content-Length that is too long, then hanging up',
    { ...withField('Content-Length', '1000'), hangUpAfter: 0 },
    [],
  ],
  ['Content-Length and Transfer-Encoding', { ...withField('Transfer-Encoding', 'chunked'), body: '0\r\n\r\n' }, [400]],
  ['Transfer-Encoding: identity', { ...chunked(good), ...withField('Transfer-Encoding', 'identity') }, [400, 501]],
  ['chunks', chunked(`1;x=y\r\n{\r\n1e\r\n${good.slice(1)}\r\n0\r\nTrailer: x\r\n\r\n`), [200]],
  ['a chunk whose size is not a number', chunked(`zz\r\n${good}\r\n0\r\n\r\n`), [400]],
  ['chunks without an end, then hanging up', { ...chunked(`1f\r\n${good}\r\n`), hangUpAfter: 0 }, []],
  ['an unknown Expect', withField('Expect', '200-maybe'), [417]],
  ['a target in absolute form', { requestLine: 'POST http://localhost/v1/domains HTTP/1.1' }, [200]],
  ['HTTP/1.0', { requestLine: 'POST /v1/domains HTTP/1.0' }, [200]],
  ['no Host', withField('Host', null), [400]],
  ['a field of 32 kB', withField('X-Flood', 'x'.repeat(32_768)), [431]],
]

/** The statuses that differ if the application's body parser reads the body first. */
const readBefore = new Map<string, readonly number[]>([
  // body-parser accepts only charsets whose name begins with "utf-".
  ['Content-Type: application/json; charset=utf8', [415]],
  // The parser may replace bytes that it cannot decode.
  ...notUtf8.map(([claim]) => [claim, [200, 400]] as const),
])

/**
 * Requests that no HTTP client sends, but that an attacker may send over a socket. Every adapter sends a documented
 * response that reveals nothing, and keeps working.
 */
export function describeHostileHttp(name: string, start: StartServer, { bodyIsReadBefore = false }: Traits = {}): void {
  describe(`${name}: hostile input`, () => {
    async function serve() {
      const { keys, issue } = createKeys()
      const keyOf = { team: await issue('team', '1'), organization: await issue('organization', '10') }
      const otherTeamKey = await issue('team', '3')
      const onError = vi.fn()
      const { origin, close } = await start({ store: createStore(), keys, onError })
      onTestFinished(async () => {
        const [after] = await exchange(origin, compose())
        await close()
        expect(after?.status).toBe(200)
      })

      function compose({
        key = 'team',
        fields = [],
        body = good,
        requestLine = 'POST /v1/domains HTTP/1.1',
      }: Call = {}) {
        const usual: [string, string][] = [
          ['Host', 'localhost'],
          ['Connection', 'close'],
          ['Content-Type', 'application/json'],
          ['Content-Length', String(Buffer.byteLength(body))],
          ...(key === null ? [] : ([['Authorization', `Bearer ${keyOf[key]}`]] as [string, string][])),
        ]
        const replaced = new Set(fields.map(([field]) => field))
        const given = fields.filter((field): field is [string, string] => field[1] !== null)
        return toWire([...usual.filter(([field]) => !replaced.has(field)), ...given], body, requestLine)
      }

      const registered = await fetch(`${origin}/v1/domains`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${otherTeamKey}` },
        body: call('only-team-3-has-this.com'),
      })
      const [{ domainId }] = (await registered.json()).data.results
      const owned = [otherTeamKey, keyOf.team, keyOf.organization]
      const secrets = [...owned, ...(await Promise.all(owned.map(hashApiKey))), domainId, 'only-team-3-has-this.com']
      async function send(sent: Call = {}, claim?: string): Promise<RawResponse[]> {
        const responses = await exchange(origin, compose(sent), { hangUpAfter: sent.hangUpAfter })
        for (const response of responses) await expectHarmless(response, secrets, claim)
        return responses
      }
      return { origin, otherTeamKey, onError, compose, send }
    }

    test.each([
      ['bodies', bodies],
      ['headers', headerFields],
      ['lengths, chunks and request lines', framing],
    ] as const)(
      'requests with odd or malformed %s, all sent at once, do not disturb a valid call',
      async (_, cases) => {
        const { send, onError } = await serve()
        async function sendHostile([claim, sent, statuses, message]: Case) {
          const [response] = await send(sent, claim)
          if (statuses.length === 0) return expect([undefined, 400], claim).toContain(response?.status)
          const expected = (bodyIsReadBefore && readBefore.get(claim)) || statuses
          expect(expected, `${claim}: ${response?.status} ${response?.body}`).toContain(response?.status)
          if (message && response?.status !== 200 && response?.headers.has('content-type'))
            expect(JSON.parse(response.body).message, claim).toMatch(message)
        }
        async function sendGood() {
          const [response] = await send({ body: call('www.undisturbed.com') })
          expect(JSON.parse(response?.body ?? '').data.totals).toEqual({ created: 1, existing: 0, invalid: 0 })
        }
        await Promise.all([...cases.map(sendHostile), sendGood()])
        expect(onError).not.toHaveBeenCalled()
      },
    )

    test('a call with two tokens is rejected, even if one of them is valid', async () => {
      const { origin, compose, otherTeamKey } = await serve()
      const own = /^Authorization: (.*)$/m.exec(Buffer.from(compose()).toString('latin1'))?.[1]?.trim() ?? ''
      for (const other of [`Bearer ${otherTeamKey}`, own, 'Basic c3ZjOg==']) {
        const [response] = await exchange(origin, compose(withField('Authorization', own, other)))
        expect(response?.status).toBe(401)
      }
    })

    test('bytes beyond the Content-Length are treated as a new request, which has no key', async () => {
      const { send } = await serve()
      const keptAlive = ['Connection', 'keep-alive'] as const
      const [cut, ...rest] = await send({ fields: [keptAlive, ['Content-Length', '20']] })
      expect(cut?.status).toBe(400)
      for (const { status } of rest) expect(status).toBe(400)

      const length = ['Content-Length', String(good.length)] as const
      const smuggled = toWire([['Host', 'x'], ['Connection', 'close'], length], good)
      const statuses = (await send({ fields: [keptAlive, length], body: good + smuggled })).map(({ status }) => status)
      expect(statuses).toEqual([200, 401])
    })

    test('pipelined requests all get a response, in order', async () => {
      const { origin, compose } = await serve()
      const keptAlive = withField('Connection', 'keep-alive')
      const requests = [
        compose({ ...keptAlive, body: call('www.one.com') }),
        compose({ ...keptAlive, key: null }),
        compose({ ...keptAlive, body: '{' }),
        compose({ body: call('www.two.com') }),
      ]
      const responses = await exchange(origin, Buffer.concat(requests))
      expect(responses.map(({ status }) => status)).toEqual([200, 401, 400, 200])
      expect(responses.at(-1)?.body).toContain('"www.two.com"')
    })

    const never = {
      fields: [['Expect', '100-continue'] as const, ['Content-Length', '999999999999'] as const],
      body: '',
    }
    if (!bodyIsReadBefore)
      test('a call gets its 401, 415 or 413 even if the rest of the body never arrives', async () => {
        const { send } = await serve()
        const answers = await Promise.all([
          send({ ...never, key: null }),
          send({ ...never, fields: [...never.fields, ['Content-Type', 'text/plain']] }),
          send(never),
          send(chunked(`40001\r\n${' '.repeat(0x40001)}\r\n`)),
        ])
        expect(answers.map(([response]) => response?.status)).toEqual([401, 415, 413, 413])
      })
  })
}
