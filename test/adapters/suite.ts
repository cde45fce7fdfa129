import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { HandlerOptions, Step } from '../../src/http/handler.ts'
import { hashApiKey } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { describeClients } from './clients.ts'
import { expectDocumented } from './documented.ts'

/** A server under test: where it answers, and how to stop it. */
export interface RunningServer {
  /** `http://localhost:<port>`; the operation is mounted at its default path. */
  origin: string
  close(): Promise<void>
}

/** Starts a real server on a free port, with our operation in it as a user of the adapter would mount it. */
export type StartServer = (options: HandlerOptions & { path?: string }) => Promise<RunningServer>

const domains = ['www.example.com', 'localhost']

/**
 * The cases that every adapter passes on a real server, over real HTTP.
 *
 * @param bodyIsReadBefore A parser of the host's reads the body, to its end, before we are asked.
 * @param leavesClosing The server does not close the connection of a body that it stopped reading; the client may.
 * @param pipelines Whether the server takes a call before it has answered the one before.
 */
export function describeHttp(
  name: string,
  start: StartServer,
  { bodyIsReadBefore = false, leavesClosing = false, pipelines = true } = {},
): void {
  describe(name, () => {
    /** Runs a server for the length of one test. */
    async function serve(
      use: (context: {
        origin: string
        call(path: string, init: RequestInit): Promise<Response>
        post(
          body: unknown,
          changes?: { key?: string | null; headers?: Record<string, string>; path?: string },
        ): Promise<Response>
        organizationKey: string
        teamKey: string
        issue: ReturnType<typeof createKeys>['issue']
        onError: ReturnType<typeof vi.fn>
      }) => Promise<void>,
      options: Partial<HandlerOptions> & { path?: string } = {},
    ) {
      const { keys, issue } = createKeys()
      const organizationKey = await issue('organization', '10')
      const teamKey = await issue('team', '1')
      const onError = vi.fn()
      const server = await start({ store: createStore(), keys, onError, ...options } as HandlerOptions)
      const ourPath = options.path ?? '/v1/domains'

      /** Where every answer comes in. What we answer, and not the host, is documented. */
      async function call(path: string, init: RequestInit): Promise<Response> {
        const url = new URL(path, server.origin)
        const response = await fetch(url, init)
        if ([ourPath, `${ourPath}/`].includes(url.pathname)) await expectDocumented(response)
        return response
      }
      try {
        await use({
          origin: server.origin,
          call,
          organizationKey,
          teamKey,
          issue,
          onError,
          post: (body, { key = teamKey, headers = {}, path = '/v1/domains' } = {}) =>
            call(path, {
              method: 'POST',
              headers: {
                'Content-Type': 'application/json',
                ...(key !== null && { Authorization: `Bearer ${key}` }),
                ...headers,
              },
              body: body instanceof Uint8Array || typeof body === 'string' ? (body as string) : JSON.stringify(body),
            }),
        })
      } finally {
        await server.close()
      }
    }

    /** An answer as it came over the wire. */
    function readResponse(received: string): Response {
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const [statusLine = '', ...fields] = head.split('\r\n')
      const headers = fields.map(field => field.split(/: (.*)/s).slice(0, 2) as [string, string])
      return new Response(body, { status: Number(statusLine.split(' ')[1]), headers })
    }

    async function expectError(
      response: Response,
      status: number,
      code: string,
      message: RegExp = /\.$/,
    ): Promise<void> {
      expect(response.status).toBe(status)
      expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(await response.json()).toEqual({ error: code, message: expect.stringMatching(message) })
    }

    test('answers 200 with results and totals, for both kinds of key', async () => {
      await serve(async ({ post, organizationKey }) => {
        const created = await post({ domains, team_id: '1' }, { key: organizationKey })
        expect(created.status).toBe(200)
        expect(created.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
        expect(created.headers.get('Cache-Control')).toBe('no-store')
        const { data } = await created.json()
        expect(data).toEqual({
          results: [
            { status: 'created', input: 'www.example.com', domain: 'www.example.com', domainId: expect.any(String) },
            { status: 'invalid', input: 'localhost', code: 'internal_domain', message: expect.any(String) },
          ],
          totals: { created: 1, existing: 0, invalid: 1 },
        })
        const existing = await (await post({ domains })).json()
        expect(existing.data.results[0]).toEqual({ ...data.results[0], status: 'existing' })
      })
    })

    test('answers 200 also when every result is invalid', async () => {
      await serve(async ({ post }) => {
        const response = await post({ domains: ['localhost'] })
        expect(response.status).toBe(200)
        expect((await response.json()).data.totals).toEqual({ created: 0, existing: 0, invalid: 1 })
      })
    })

    test('takes a trailing slash and a query', async () => {
      await serve(async ({ post }) => {
        for (const path of ['/v1/domains/', '/v1/domains?x=1', '/v1/domains/?x=1']) {
          expect((await post({ domains }, { path })).status).toBe(200)
        }
      })
    })

    test('leaves other methods and paths to the host', async () => {
      await serve(async ({ origin, post }) => {
        for (const path of ['/v1/domains/1', '/v1', '/v1/domain', '/V1/domains', '/v1//domains', '/v1/domains//']) {
          expect((await post({ domains }, { path })).status, path).toBe(404)
        }
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
          expect((await fetch(`${origin}/v1/domains`, { method })).status, method).toBe(404)
        }
      })
    })

    test('can be mounted at another path', async () => {
      await serve(
        async ({ post }) => {
          expect((await post({ domains }, { path: '/monitoring/names/' })).status).toBe(200)
          expect((await post({ domains })).status).toBe(404)
        },
        { path: '/monitoring/names' },
      )
    })

    describe('401 unauthorized', () => {
      test('without a token the challenge names the scheme only', async () => {
        await serve(async ({ post }) => {
          for (const headers of [{}, { Authorization: 'Basic dXNlcjpwYXNz' }]) {
            const response = await post({ domains }, { key: null, headers })
            expect(response.headers.get('WWW-Authenticate')).toBe('Bearer')
            await expectError(response, 401, 'unauthorized', /bearer token is missing or invalid/)
          }
        })
      })

      test('with a bad token the challenge says so', async () => {
        await serve(async ({ post, teamKey, issue }) => {
          const revoked = await issue('team', '1', { revokedAt: new Date() })
          for (const key of ['svc_team_1_00', 'svc_1_00', `${teamKey} ${teamKey}`, revoked]) {
            const response = await post({ domains }, { key })
            expect(response.headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"')
            await expectError(response, 401, 'unauthorized', /bearer token is missing or invalid/)
          }
        })
      })
    })

    test('403 insufficient_scope names the scope in the challenge', async () => {
      await serve(async ({ post, issue }) => {
        const response = await post('not JSON', { key: await issue('team', '1', { scopes: ['domains:read'] }) })
        expect(response.headers.get('WWW-Authenticate')).toBe(
          'Bearer error="insufficient_scope", scope="domains:create"',
        )
        await expectError(response, 403, 'insufficient_scope')
      })
    })

    test('403 team_suspended and 404 team_not_found', async () => {
      await serve(async ({ post, organizationKey: key }) => {
        await expectError(await post({ domains, team_id: '9' }, { key }), 403, 'team_suspended')
        await expectError(await post({ domains, team_id: '3' }, { key }), 404, 'team_not_found')
        await expectError(await post({ domains, team_id: '77' }, { key }), 404, 'team_not_found')
      })
    })

    test('400 invalid_request says what is wrong', async () => {
      await serve(async ({ post, organizationKey: key }) => {
        const cases: [unknown, RegExp][] = [
          ['', /is empty|^domains must be an array/],
          ['{"domains": [', /is not valid JSON/],
          ["{'domains': ['example.com']}", /is not valid JSON/],
          ['null', /must be a JSON object/],
          ['"text"', /JSON/],
          [['example.com'], /must be a JSON object/],
          [{ team_id: '1' }, /^domains must be an array/],
          [{ domains: [], team_id: '1' }, /^domains must hold at least one/],
          [{ domains: Array(101).fill('example.com'), team_id: '1' }, /^domains must hold at most 100/],
          [{ domains: ['example.com', 7], team_id: '1' }, /^domains\[1\] must be a string/],
          [{ domains }, /^team_id is required/],
          [{ domains, team_id: 1 }, /^team_id is required/],
          [{ domains, team_id: 'one' }, /^team_id must be/],
          [new Uint8Array([0x7b, 0xff, 0x7d]), /not valid (?:UTF-8|JSON)/],
        ]
        for (const [body, message] of cases)
          await expectError(await post(body, { key }), 400, 'invalid_request', message)
      })
    })

    test('a byte order mark before the JSON does not matter', async () => {
      await serve(async ({ post }) => {
        expect((await post(`\ufeff${JSON.stringify({ domains })}`)).status).toBe(200)
      })
    })

    test('415 unsupported_media_type for what is not JSON in UTF-8', async () => {
      await serve(async ({ post }) => {
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'json', '']) {
          const response = await post({ domains }, { headers: { 'Content-Type': type } })
          await expectError(response, 415, 'unsupported_media_type', /application\/json/)
        }
        const latin1 = { 'Content-Type': 'application/json; charset=iso-8859-1' }
        await expectError(await post({ domains }, { headers: latin1 }), 415, 'unsupported_media_type')
        const compressed = await post(brotliCompressSync(JSON.stringify({ domains })), {
          headers: { 'Content-Encoding': 'br' },
        })
        await expectError(compressed, 415, 'unsupported_media_type')
        for (const type of [
          'application/json',
          'Application/JSON; charset="UTF-8"',
          'application/json ;charset=utf-8',
        ]) {
          expect((await post({ domains }, { headers: { 'Content-Type': type } })).status).toBe(200)
        }
      })
    })

    test('413 payload_too_large, with a declared length and without', async () => {
      await serve(async ({ call, post, teamKey }) => {
        const padding = 'x'.repeat(300 * 1024)
        await expectError(await post({ domains, padding }), 413, 'payload_too_large')
        const chunked = await call('/v1/domains', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${teamKey}` },
          body: new Blob([JSON.stringify({ domains, padding })]).stream(),
          duplex: 'half',
        } as RequestInit)
        await expectError(chunked, 413, 'payload_too_large')
      })
    })

    test('100 hostnames of the longest kind fit into the body limit', async () => {
      await serve(async ({ post }) => {
        const longest = Array.from({ length: 100 }, (_, index) => `${index}.`.padStart(1020, 'ü.'))
        expect((await post({ domains: longest })).status).toBe(200)
      })
    })

    test.skipIf(bodyIsReadBefore)(
      'a body over the limit is not read on (skipped where the host reads it before us)',
      async () => {
        await serve(async ({ origin, teamKey }) => {
          const { port } = new URL(origin)
          const socket = connect(Number(port), 'localhost')
          await once(socket, 'connect')
          let received = ''
          socket.setEncoding('utf8').on('data', chunk => {
            received += chunk
          })
          socket.on('error', () => {})
          const closed = once(socket, 'close')
          const length = 100_000_000
          socket.write(
            `POST /v1/domains HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${teamKey}\r\n` +
              `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{"domains": ["`,
          )
          while (leavesClosing && !received.includes('}')) await once(socket, 'data')
          if (leavesClosing) socket.destroy()
          await closed
          const response = readResponse(received)
          await expectDocumented(response)
          await expectError(response, 413, 'payload_too_large')
        })
      },
    )

    test('a client that hangs up in the middle of its body leaves the server well', async () => {
      await serve(async ({ origin, post, teamKey, onError }) => {
        const socket = connect(Number(new URL(origin).port), 'localhost')
        await once(socket, 'connect')
        socket.write(
          `POST /v1/domains HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${teamKey}\r\n` +
            'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"domains": ["www.example.com"',
        )
        await new Promise(resolve => setTimeout(resolve, 50))
        socket.destroy()
        await new Promise(resolve => setTimeout(resolve, 50))
        const { data } = await (await post({ domains })).json()
        expect(data.totals).toEqual({ created: 1, existing: 0, invalid: 1 })
        expect(onError).not.toHaveBeenCalled()
      })
    })

    test('a key that is revoked while its body is on the way is refused', async () => {
      const { keys, issue } = createKeys()
      const key = await issue('team', '1')
      await serve(
        async ({ origin }) => {
          const body = JSON.stringify({ domains })
          const socket = connect(Number(new URL(origin).port), 'localhost')
          await once(socket, 'connect')
          socket.write(
            `POST /v1/domains HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n` +
              `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
          )
          await new Promise(resolve => setTimeout(resolve, 200))
          keys.revokeKey(await hashApiKey(key))
          socket.write(body.slice(5))
          await expectError(readResponse(await text(socket)), 401, 'unauthorized')
        },
        { keys } as Partial<HandlerOptions>,
      )
    })

    test('onResult learns of each answer of 200, with the call and how long it took, and changes none', async () => {
      const onResult = vi.fn(() => {
        throw new Error('audit log down')
      })
      await serve(
        async ({ post }) => {
          const response = await post({ domains })
          expect(response.status).toBe(200)
          expect((await post({ domains: [] })).status).toBe(400)
          const { data } = await response.json()
          const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
          expect(onResult.mock.calls).toEqual([
            [
              {
                request: expect.objectContaining({ raw: expect.anything() }),
                keyContext,
                operation: 'create',
                data,
                duration: expect.any(Number),
              },
            ],
          ])
        },
        { onResult },
      )
    })

    test('the body limit is the host’s choice', async () => {
      await serve(async ({ post }) => expectError(await post({ domains }), 413, 'payload_too_large', /20 bytes/), {
        bodyLimit: 20,
      })
    })

    describe('429 too_many_requests', () => {
      /** Allows two calls a minute for each key. */
      function createLimiter() {
        const consumed = new Map<string, number>()
        return {
          points: 2,
          duration: 60,
          async consume(key: string, points = 1) {
            const total = (consumed.get(key) ?? 0) + points
            consumed.set(key, total)
            const result = { msBeforeNext: 41_500, remainingPoints: 2 - total }
            if (total > 2) throw result
            return result
          },
        }
      }

      test('tells when to come back, and counts each key for itself', async () => {
        await serve(
          async ({ post, organizationKey, issue }) => {
            for (const remaining of [1, 0]) {
              const response = await post({ domains })
              expect(response.status).toBe(200)
              expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=2;w=60')
              expect(response.headers.get('RateLimit')).toBe(`"default";r=${remaining};t=42`)
            }
            const refused = await post('not JSON')
            expect(refused.headers.get('Retry-After')).toBe('42')
            expect(refused.headers.get('RateLimit')).toBe('"default";r=0;t=42')
            await expectError(refused, 429, 'too_many_requests', /42 s/)

            const other = await post({ domains, team_id: '1' }, { key: organizationKey })
            expect(other.status).toBe(200)
            const sameTeam = await post({ domains }, { key: await issue('team', '1') })
            expect(sameTeam.status).toBe(200)
          },
          { rateLimiter: createLimiter() },
        )
      })

      test('comes after 401 and before 403 insufficient_scope, and every later answer carries the limit', async () => {
        await serve(
          async ({ post, issue }) => {
            const key = await issue('team', '1', { scopes: [] })
            for (let call = 0; call < 4; call += 1) expect((await post({ domains }, { key: null })).status).toBe(401)
            const forbidden = await post({ domains }, { key })
            expect(forbidden.status).toBe(403)
            expect(forbidden.headers.get('RateLimit')).toBe('"default";r=1;t=42')
            await post({ domains }, { key })
            expect((await post({ domains }, { key })).status).toBe(429)
          },
          { rateLimiter: createLimiter() },
        )
      })

      test('a limiter that fails lets nobody through, and the host learns of it', async () => {
        const cause = new Error('limiter down')
        await serve(
          async ({ post, onError }) => {
            await expectError(await post({ domains }), 500, 'internal_error')
            expect(onError.mock.calls).toMatchObject([[cause, { step: 'consume', keyContext: { teamId: '1' } }]])
          },
          { rateLimiter: { consume: () => Promise.reject(cause) } },
        )
      })
    })

    test('503 domain_registration_unavailable, and the same call again goes through', async () => {
      let isOnline = false
      const cause = new Error('offline')
      const store = createStore({
        synchronize() {
          if (!isOnline) throw cause
        },
      })
      await serve(
        async ({ post, onError }) => {
          const response = await post({ domains })
          expect(response.headers.get('Retry-After')).toMatch(/^[1-9][0-9]*$/)
          await expectError(response, 503, 'domain_registration_unavailable', /same call again/)
          expect(onError.mock.calls).toMatchObject([[cause, { step: 'synchronize', keyContext: { teamId: '1' } }]])
          isOnline = true
          expect((await (await post({ domains })).json()).data.totals).toEqual({ created: 0, existing: 1, invalid: 1 })
        },
        { store },
      )
    })

    test('500 internal_error when a store fails or hangs: told to the host, and not to the caller', async () => {
      const cause = new Error('password=secret at /srv/app.js:1')
      const store = createStore()
      const failures: [step: Step, Partial<HandlerOptions>][] = [
        ['findTeam', { store: { ...store, findTeam: () => Promise.reject(cause) } }],
        ['authenticate', { store, keys: { findKey: () => Promise.reject(cause) } }],
        ['authenticate', { store, keys: { findKey: () => new Promise(() => {}) }, timeLimit: 20 }],
      ]
      for (const [step, options] of failures) {
        await serve(async ({ post, onError }) => {
          await expectError(await post({ domains }), 500, 'internal_error', /^(?!.*secret).*Try again later\.$/)
          expect(onError.mock.calls).toMatchObject([[expect.any(Error), { step }]])
        }, options)
      }
    })

    test('a store that fails for every name fails the call, and the application is told once', async () => {
      const store = createStore()
      const register = vi.fn(() => Promise.reject(new Error('disk full')))
      await serve(
        async ({ post, onError }) => {
          const response = await post({ domains: ['a.com', 'b.com', 'c.com'] })
          expect([response.status, response.headers.get('Retry-After')]).toEqual([500, '5'])
          expect(await response.json()).toMatchObject({ error: 'internal_error' })
          expect(onError.mock.calls).toMatchObject([[{ message: 'disk full' }, { step: 'register' }]])
          expect(register.mock.calls.length).toBeGreaterThan(1)
        },
        { store: { ...store, register } },
      )
    })

    test('an onError that throws does no harm', async () => {
      const store = { ...createStore(), register: () => Promise.reject(new Error('down')) }
      const onError = () => {
        throw new Error('logger down')
      }
      await serve(
        async ({ post }) => {
          const response = await post({ domains: ['example.com'] })
          expect(await response.json()).toMatchObject({ error: 'internal_error' })
        },
        { store, onError },
      )
    })

    test('a host may tell by itself who is calling', async () => {
      const { keys: _, ...options } = {
        keys: undefined,
        authenticate: (request: { header(name: string): string | null | undefined }) => {
          if (request.header('x-session') !== 'ours') throw Object.assign(new Error('no session'))
          return { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
        },
      }
      await serve(
        async ({ post, onError }) => {
          expect((await post({ domains }, { key: null, headers: { 'X-Session': 'ours' } })).status).toBe(200)
          await expectError(await post({ domains }, { key: null }), 500, 'internal_error')
          expect(onError).toHaveBeenCalledTimes(1)
        },
        { ...options, keys: undefined } as never,
      )
    })

    test('many calls at once over kept-alive connections each get their own answer', async () => {
      await serve(async ({ post }) => {
        const answers = await Promise.all(
          Array.from({ length: 100 }, async (_, index) => {
            const { data } = await (await post({ domains: [`www.n${index}.com`, 'shared.com'] })).json()
            return [data.results[0].input, data.results[1].domainId, data.results[1].status]
          }),
        )
        expect(answers.map(([input]) => input)).toEqual(answers.map((_, index) => `www.n${index}.com`))
        expect(new Set(answers.map(([, domainId]) => domainId)).size).toBe(1)
        expect(answers.filter(([, , status]) => status === 'created')).toHaveLength(1)
      })
    })

    describeClients(start, { bodyIsReadBefore, leavesClosing, pipelines })
  })
}
