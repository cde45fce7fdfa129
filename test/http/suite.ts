import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HandlerOptions } from '../../src/http/index.ts'
import { createKeys, createStore } from '../fixtures.ts'
import type { RunningServer } from '../listen.ts'
import { waitFor } from '../wait-for.ts'
import { expectDocumented } from './documented.ts'
import { exchange, toResponse, toWire } from './raw-http.ts'

/**
 * Starts a real server on a free port. The operations are mounted as an application would mount them, at the default
 * path unless another path is given.
 */
export type StartServer = (options: HandlerOptions & { path?: string }) => Promise<RunningServer>

interface PostOptions {
  readonly key?: string | null
  readonly headers?: Record<string, string>
  readonly path?: string
}

const domains = ['www.example.com', 'localhost']

const hasCurl = spawnSync('curl', ['--version']).status === 0
const why = hasCurl ? '' : ' (skipped: there is no curl on the PATH)'

const twoNames = '{"domains":["www.example.com","bücher.de"]}'

/** How a server differs from the other servers. */
export interface Traits {
  /** The application's parser reads the whole body before the package does. */
  readonly bodyIsReadBefore?: boolean
  /** The server stops reading the body but leaves the connection open, so the client may close it. */
  readonly leavesClosing?: boolean
  /** The status of a method that no operation has: 405 if the adapter responds to all methods. Default 404. */
  readonly statusOfOtherMethods?: 404 | 405
}

/** The cases that every adapter must pass on a real server, over real HTTP. */
export function describeHttp(name: string, start: StartServer, traits: Traits = {}): void {
  describe(name, () => {
    /** Runs a server until the test ends. */
    async function serve(options: Partial<HandlerOptions> & { path?: string } = {}) {
      const { keys, issue } = createKeys()
      const organizationKey = await issue('organization', '10')
      const teamKey = await issue('team', '1')
      const onError = vi.fn()
      const { origin, close } = await start({ store: createStore(), keys, onError, ...options } as HandlerOptions)
      onTestFinished(close)
      const ourPath = options.path ?? '/v1/domains'

      /**
       * Sends an object as JSON, or a string unchanged. Responses at our path are checked against the OpenAPI document.
       */
      async function post(body: unknown, { key = teamKey, headers = {}, path = '/v1/domains' }: PostOptions = {}) {
        const isBody = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
        const url = new URL(path, origin)
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            ...(key !== null && { Authorization: `Bearer ${key}` }),
            ...headers,
          },
          body: isBody ? (body as BodyInit) : JSON.stringify(body),
          duplex: 'half',
        } as RequestInit)
        if ([ourPath, `${ourPath}/`].includes(url.pathname)) await expectDocumented(response)
        return response
      }
      return { origin, post, organizationKey, teamKey, issue, onError }
    }

    async function expectError(response: Response, status: number, code: string, message = /\.$/) {
      expect(response.status).toBe(status)
      expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(await response.json()).toEqual({ error: code, message: expect.stringMatching(message) })
    }

    test('returns 200 with results and totals, for both kinds of key', async () => {
      const { post, organizationKey } = await serve()
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

    test('can be mounted at a given path, and leaves all other paths and methods to the application', async () => {
      const path = '/monitoring/names'
      const { origin, post } = await serve({ path })
      for (const suffix of ['', '/', '?x=1', '/?x=1'])
        expect((await post({ domains }, { path: path + suffix })).status).toBe(200)
      for (const other of ['/v1/domains', '/monitoring', '/Monitoring/names', '/monitoring//names'])
        expect((await post({ domains }, { path: other })).status, other).toBe(404)
      for (const suffix of ['/1', 's', '//'])
        expect((await post({ domains }, { path: path + suffix })).status, suffix).toBe(404)
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'])
        expect((await fetch(origin + path, { method })).status, method).toBe(traits.statusOfOtherMethods ?? 404)
    })

    test('rejects each invalid call with the right status, error code and WWW-Authenticate header', async () => {
      const { post, organizationKey, issue } = await serve()
      const inTeam = (team_id: string) => post({ domains, team_id }, { key: organizationKey })
      const packed = brotliCompressSync(JSON.stringify({ domains }))
      const large = JSON.stringify({ domains, padding: 'x'.repeat(300 * 1024) })
      const revoked = await issue('team', '1', { revokedAt: new Date() })
      const reading = await issue('team', '1', { scopes: ['domains:read'] })
      const badToken = 'Bearer error="invalid_token"'
      const badScope = 'Bearer error="insufficient_scope", scope="domains:create"'
      const cases: [answer: Response, status: number, code: string, challenge?: string][] = [
        [await post({ domains }, { key: null }), 401, 'unauthorized', 'Bearer'],
        [await post({ domains }, { key: revoked }), 401, 'unauthorized', badToken],
        [await post('not JSON', { key: reading }), 403, 'insufficient_scope', badScope],
        [await post({ domains }, { headers: { 'Content-Type': '' } }), 415, 'unsupported_media_type'],
        [await post(packed, { headers: { 'Content-Encoding': 'br' } }), 415, 'unsupported_media_type'],
        [await post(large), 413, 'payload_too_large'],
        [await post(new Blob([large]).stream()), 413, 'payload_too_large'],
        [await post(''), 400, 'invalid_request'],
        [await post(new Uint8Array([0x7b, 0xff, 0x7d])), 400, 'invalid_request'],
        [await inTeam('3'), 404, 'team_not_found'],
        [await inTeam('9'), 403, 'team_suspended'],
      ]
      for (const [answer, status, code, challenge = null] of cases) {
        await expectError(answer, status, code)
        expect(answer.headers.get('WWW-Authenticate')).toBe(challenge)
      }
    })

    if (!traits.bodyIsReadBefore)
      test('returns 413 for a body over the limit, and does not read the rest', async () => {
        const { origin, teamKey } = await serve()
        const fields = { Host: 'localhost', Authorization: `Bearer ${teamKey}`, 'Content-Type': 'application/json' }
        const request = toWire(Object.entries({ ...fields, 'Content-Length': '100000000' }), '{"domains": ["')
        const [answer] = (await exchange(origin, request, traits.leavesClosing ? { hangUpAt: /}/ } : {})).map(
          toResponse,
        )
        await expectDocumented(answer as Response)
        await expectError(answer as Response, 413, 'payload_too_large')
      })

    test('accepts a body as long as the configurable limit, in one piece or in chunks, but no byte more', async () => {
      const body = JSON.stringify({ domains })
      const { post } = await serve({ bodyLimit: body.length })
      const inChunks = (text: string) => post(new Blob([text]).stream())
      // If the application's parser reads a body in chunks, nobody knows afterwards how long it was.
      for (const send of traits.bodyIsReadBefore ? [post] : [post, inChunks]) {
        expect((await send(body)).status).toBe(200)
        await expectError(await send(`${body} `), 413, 'payload_too_large', new RegExp(`${body.length} bytes`))
      }
    })

    test('reports the remaining rate limit, and a 429 says when to call again', async () => {
      const { post } = await serve({ rateLimiter: new RateLimiterMemory({ points: 1, duration: 60 }) })
      expect((await post({ domains })).headers.get('RateLimit')).toMatch(/^"default";r=0;t=[0-9]+$/)
      const refused = await post({ domains })
      await expectError(refused, 429, 'too_many_requests', new RegExp(`${refused.headers.get('Retry-After')} s`))
    })

    test('returns 503 with Retry-After if a push to the monitor fails, and calls onError with the cause', async () => {
      const cause = new Error('password=secret at /srv/app.js:1')
      const { post, onError } = await serve({ store: createStore({ synchronize: () => Promise.reject(cause) }) })
      const response = await post({ domains })
      await expectError(response, 503, 'domain_registration_unavailable', /^(?!.*secret).* again(?: later)?\.$/)
      expect(response.headers.get('Retry-After')).toMatch(/^[1-9][0-9]*$/)
      expect(onError.mock.calls).toMatchObject([[cause, { step: 'synchronize', keyContext: { teamId: '1' } }]])
    })

    describe('over real connections,', () => {
      async function connectTo(options?: Partial<HandlerOptions>) {
        const { origin, teamKey, onError } = await serve(options)
        onTestFinished(() => expect(onError).not.toHaveBeenCalled())
        const headers = {
          Host: new URL(origin).host,
          Authorization: `Bearer ${teamKey}`,
          'Content-Type': 'application/json',
        }
        return { origin, url: `${origin}/v1/domains`, headers }
      }

      test('a client can reuse a connection, and send a body in chunks or byte by byte', async () => {
        const { url, headers } = await connectTo()
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        onTestFinished(() => agent.destroy())
        const reused: boolean[] = []
        for (const pieces of [[twoNames], [twoNames], [twoNames.slice(0, 9), twoNames.slice(9)], [...twoNames]]) {
          const outgoing = request(url, { method: 'POST', headers, agent })
          const answered = once(outgoing, 'response')
          outgoing.setNoDelay(true)
          for (const piece of pieces.slice(0, -1)) {
            outgoing.write(piece)
            await sleep(1)
          }
          outgoing.end(pieces.at(-1))
          const [incoming] = await answered
          expect(JSON.parse(await text(incoming)).data.results).toHaveLength(2)
          reused.push(outgoing.reusedSocket)
        }
        // Deno closes the connection after a chunked body.
        expect(reused.slice(0, 2)).toEqual([false, true])
      })

      if (!traits.bodyIsReadBefore)
        test.each<[what: string, status: number, changes: Record<string, string>]>([
          ['a call with a valid key', 408, {}],
          ['a call with an unknown key', 401, { Authorization: 'Bearer unknown' }],
        ])('%s and a body that stops midway gets %i, and the connection is closed', async (_, status, changes) => {
          const { origin, headers } = await connectTo({ bodyTimeLimit: 50 })
          const fields = { ...headers, ...changes, 'Content-Length': '100' }
          const request = toWire(Object.entries(fields), '{"domains": ')
          const [answer] = await exchange(origin, request, traits.leavesClosing ? { hangUpAt: /}/ } : {})
          expect(answer).toMatchObject({
            status,
            body: expect.stringContaining(status === 408 ? 'request_timeout' : 'unauthorized'),
          })
          // Without it, a client sends its next call on a connection that is about to close.
          if (status === 408 && !traits.leavesClosing) expect(answer?.headers.get('connection')).toBe('close')
        })

      test('a call is completed even if its caller disconnects before the response', async () => {
        const store = createStore()
        const { findTeam } = store
        let goOn = () => {}
        const working = vi.spyOn(store, 'findTeam').mockImplementation(async id => {
          await new Promise<void>(resolve => {
            goOn = resolve
          })
          return findTeam(id)
        })
        const { origin, headers } = await connectTo({ store })
        const { hostname, port } = new URL(origin)
        const socket = connect(Number(port), hostname)
        const length = String(Buffer.byteLength(twoNames))
        socket.write(toWire(Object.entries({ ...headers, 'Content-Length': length }), twoNames))
        await waitFor(() => expect(working).toHaveBeenCalled())
        socket.destroy()
        // The server must notice that the connection is closed before the store finishes the call.
        await sleep(50)
        goOn()
        await waitFor(async () => expect(await store.count()).toBe(2))
      })

      test.skipIf(!hasCurl)(
        `curl gets a response if it sends "Expect: 100-continue" before the body${why}`,
        async () => {
          const { url, headers } = await connectTo()
          const fields = Object.entries({ ...headers, Expect: '100-continue' }).flatMap(field => [
            '-H',
            field.join(': '),
          ])
          const { stdout } = await promisify(execFile)('curl', ['-sS', '-m', '20', ...fields, '-d', twoNames, url])
          expect(JSON.parse(stdout).data.results).toHaveLength(2)
        },
      )
    })
  })
}
