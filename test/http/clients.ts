import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HandlerSettings } from '../../src/http/index.ts'
import { createStore } from '../fixtures.ts'
import { exchange, toWire } from './raw-http.ts'
import type { Traits } from './suite.ts'

/** Runs a server until the test ends. */
type Serve = (options?: Partial<HandlerSettings>) => Promise<{
  readonly origin: string
  readonly teamKey: string
  readonly onError: ReturnType<typeof vi.fn>
}>

const hasCurl = spawnSync('curl', ['--version']).status === 0
const why = hasCurl ? '' : ' (skipped: there is no curl on the PATH)'

/** Milliseconds. */
const PATIENCE = 20_000

const body = '{"domains":["www.example.com","bücher.de"]}'
const length = String(Buffer.byteLength(body))

/** Tests a real server with clients other than `fetch`. */
export function describeClients(startServer: Serve, { bodyIsReadBefore, leavesClosing }: Traits): void {
  async function serve(options?: Partial<HandlerSettings>) {
    const { origin, teamKey, onError } = await startServer(options)
    onTestFinished(() => expect(onError).not.toHaveBeenCalled())
    const headers = {
      Host: new URL(origin).host,
      Authorization: `Bearer ${teamKey}`,
      'Content-Type': 'application/json',
    }
    return { origin, url: `${origin}/v1/domains`, headers }
  }

  describe('over real connections,', () => {
    test('a client can reuse a connection, and send a body in chunks or byte by byte', async () => {
      const { url, headers } = await serve()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      onTestFinished(() => agent.destroy())
      const reused: boolean[] = []
      for (const pieces of [[body], [body], [body.slice(0, 9), body.slice(9)], [...body]]) {
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

    if (!bodyIsReadBefore)
      test.each<[what: string, status: number, changes: Record<string, string>]>([
        ['a call with a valid key', 408, {}],
        ['a call with an unknown key', 401, { Authorization: 'Bearer unknown' }],
      ])('%s and a body that stops midway gets %i, and the connection is closed', async (_, status, changes) => {
        const { origin, headers } = await serve({ bodyTimeLimit: 50 })
        const fields = { ...headers, ...changes, 'Content-Length': '100' }
        const request = toWire(Object.entries(fields), '{"domains": ')
        const [answer] = await exchange(origin, request, leavesClosing ? { hangUpAt: /}/ } : {})
        expect(answer).toMatchObject({
          status,
          body: expect.stringContaining(status === 408 ? 'request_timeout' : 'unauthorized'),
        })
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
      const { origin, headers } = await serve({ store })
      const { hostname, port } = new URL(origin)
      const socket = connect(Number(port), hostname)
      socket.write(toWire(Object.entries({ ...headers, 'Content-Length': length }), body))
      await vi.waitFor(() => expect(working).toHaveBeenCalled(), PATIENCE)
      socket.destroy()
      // The server must notice that the connection is closed before the store finishes the call.
      await sleep(50)
      goOn()
      await vi.waitFor(async () => expect(await store.count()).toBe(2), PATIENCE)
    })

    test.skipIf(!hasCurl)(`curl gets a response if it sends "Expect: 100-continue" before the body${why}`, async () => {
      const { url, headers } = await serve()
      const fields = Object.entries({ ...headers, Expect: '100-continue' }).flatMap(field => ['-H', field.join(': ')])
      const { stdout } = await promisify(execFile)('curl', ['-sS', '-m', '20', ...fields, '-d', body, url])
      expect(JSON.parse(stdout).data.results).toHaveLength(2)
    })
  })
}
