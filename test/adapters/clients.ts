import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HandlerOptions } from '../../src/http/handler.ts'
import type { DomainStore } from '../../src/registry/store.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { exchange } from './raw-http.ts'
import type { StartServer } from './suite.ts'

interface Client {
  origin: string
  url: string
  headers: Record<string, string>
}

const hasCurl = spawnSync('curl', ['--version']).status === 0
const why = hasCurl ? '' : ' (skipped: there is no curl on the PATH)'

/** Something that happens once, to be waited for. */
function createSignal() {
  let give = () => {}
  const given = new Promise<void>(resolve => {
    give = resolve
  })
  return { give, given }
}

/**
 * What clients do that `fetch` does not, on a real server, each with real connections.
 *
 * @param bodyIsReadBefore A parser of the host's reads the body, to its end, before we are asked.
 * @param leavesClosing The server does not close the connection of a body that it stopped reading; the client may.
 */
export function describeClients(start: StartServer, { bodyIsReadBefore = false, leavesClosing = false } = {}): void {
  async function serve({ store = createStore(), ...options }: { store?: DomainStore; bodyTimeLimit?: number } = {}) {
    const { keys, issue } = createKeys()
    const key = await issue('team', '1')
    const onError = vi.fn()
    const { origin, close } = await start({ store, keys, onError, ...options } satisfies HandlerOptions)
    onTestFinished(async () => {
      await close()
      expect(onError).not.toHaveBeenCalled()
    })
    const headers = { Host: new URL(origin).host, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    return { origin, url: `${origin}/v1/domains`, headers } satisfies Client
  }

  const bodyOf = (...domains: string[]) => JSON.stringify({ domains })

  /** A request as it stands on the wire. */
  function toWire(headers: Record<string, string>, body: string, length = Buffer.byteLength(body)): string {
    const fields = Object.entries({ ...headers, 'Content-Length': String(length) })
    return `POST /v1/domains HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  }

  /** Sends a body in pieces, without a declared length if there are several. */
  async function postInPieces({ url, headers }: Client, pieces: readonly string[], agent?: Agent) {
    const outgoing = request(url, { method: 'POST', headers, ...(agent && { agent }) })
    const answered = once(outgoing, 'response')
    outgoing.setNoDelay(true)
    for (const piece of pieces.slice(0, -1)) {
      outgoing.write(piece)
      await sleep(1)
    }
    outgoing.end(pieces.at(-1))
    const [incoming] = await answered
    return { status: incoming.statusCode, reused: outgoing.reusedSocket, body: JSON.parse(await text(incoming)) }
  }

  describe('clients', () => {
    test('a connection is kept for the next call', async () => {
      const client = await serve()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const first = await postInPieces(client, [bodyOf('www.example.com')], agent)
      const second = await postInPieces(client, [bodyOf('www.example.com')], agent)
      agent.destroy()
      expect([first.reused, second.reused]).toEqual([false, true])
      expect(second.body.data.totals).toEqual({ created: 0, existing: 1, invalid: 0 })
    })

    test('a body may come in chunks, and slowly, byte by byte', async () => {
      const client = await serve()
      const body = bodyOf('www.example.com', 'bücher.de')
      for (const pieces of [[body.slice(0, 9), body.slice(9)], [...body]]) {
        const { status, body: answer } = await postInPieces(client, pieces)
        expect([status, answer.data?.results.length]).toEqual([200, 2])
      }
    })

    test.skipIf(bodyIsReadBefore).each<[status: number, whose: string, changes: Record<string, string>]>([
      [408, 'a caller who may register', {}],
      [401, 'a caller who is not let in', { Authorization: 'Bearer unknown' }],
    ])(
      '%i ends the connection of %s whose body stops coming (skipped where the host reads it first)',
      async (status, _, changes) => {
        const { origin, headers } = await serve({ bodyTimeLimit: 50 })
        const request = toWire({ ...headers, ...changes }, '{"domains": ', 100)
        const [answer] = await exchange(origin, request, leavesClosing ? { hangUpAt: /}/ } : {})
        expect(answer).toMatchObject({
          status,
          body: expect.stringContaining(status === 408 ? 'request_timeout' : 'unauthorized'),
        })
      },
    )

    test('a call whose caller hangs up while the store works is brought to its end', async () => {
      const store = createStore()
      const working = createSignal()
      const goOn = createSignal()
      const saved = createSignal()
      const slowStore: DomainStore = {
        async findTeam(teamId) {
          working.give()
          await goOn.given
          return store.findTeam(teamId)
        },
        async register(registration) {
          const registered = await store.register(registration)
          if (registered.saved.length > 0) saved.give()
          return registered
        },
      }
      const { origin, url, headers } = await serve({ store: slowStore })
      const body = bodyOf('www.example.com', 'www.example.org')
      const { hostname, port } = new URL(origin)
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      socket.write(toWire(headers, body))
      await working.given
      socket.destroy()
      await sleep(50)
      goOn.give()
      await saved.given
      const retry = await fetch(url, { method: 'POST', headers, body })
      expect((await retry.json()).data.totals).toEqual({ created: 0, existing: 2, invalid: 0 })
    })

    test.skipIf(!hasCurl)(`curl is answered when it asks whether to send the body${why}`, async () => {
      const { url, headers } = await serve()
      const fields = Object.entries({ ...headers, Expect: '100-continue' }).flatMap(field => ['-H', field.join(': ')])
      const body = bodyOf('www.example.com')
      const { stdout } = await promisify(execFile)('curl', ['-sS', '-m', '20', ...fields, '-d', body, url])
      expect(JSON.parse(stdout).data.results).toMatchObject([{ domain: 'www.example.com' }])
    })
  })
}
