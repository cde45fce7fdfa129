import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import type { HandlerOptions } from '../../src/http/handler.ts'
import type { DomainStore } from '../../src/registry/store.ts'
import { createKeys, createStore } from '../fixtures.ts'
import type { RunningServer, StartServer } from './suite.ts'

interface Client {
  port: number
  url: string
  headers: Record<string, string>
  onError: ReturnType<typeof vi.fn>
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
 * @param pipelines Whether the server takes a call before it has answered the one before.
 */
export function describeClients(
  start: StartServer,
  { bodyIsReadBefore = false, leavesClosing = false, pipelines = true } = {},
): void {
  async function serve(
    use: (client: Client) => Promise<void>,
    { store = createStore(), ...options }: { store?: DomainStore; bodyTimeLimit?: number } = {},
  ): Promise<void> {
    const { keys, issue } = createKeys()
    const key = await issue('team', '1')
    const onError = vi.fn()
    const server: RunningServer = await start({ store, keys, onError, ...options } satisfies HandlerOptions)
    const { port, host } = new URL(server.origin)
    const headers = { Host: host, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    try {
      await use({ port: Number(port), url: `${server.origin}/v1/domains`, headers, onError })
      expect(onError).not.toHaveBeenCalled()
    } finally {
      await server.close()
    }
  }

  const bodyOf = (...domains: string[]) => JSON.stringify({ domains })

  /** A request as it stands on the wire. */
  function toWire(headers: Record<string, string>, body: string): string {
    const length = 'Transfer-Encoding' in headers ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const fields = Object.entries({ ...headers, ...length })
    return `POST /v1/domains HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  }

  async function open(port: number) {
    const socket = connect(port, 'localhost').setNoDelay(true).setEncoding('utf8')
    await once(socket, 'connect')
    return socket
  }

  /** Hangs up when it has what it waited for. */
  async function readUntil(socket: Socket, last: RegExp): Promise<string> {
    let received = ''
    for await (const part of socket) {
      received += part
      if (last.test(received)) break
    }
    return received
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
      await serve(async client => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const first = await postInPieces(client, [bodyOf('www.example.com')], agent)
        const second = await postInPieces(client, [bodyOf('www.example.com')], agent)
        agent.destroy()
        expect([first.reused, second.reused]).toEqual([false, true])
        expect(second.body.data.totals).toEqual({ created: 0, existing: 1, invalid: 0 })
      })
    })

    test('a body may come in chunks, and slowly, byte by byte', async () => {
      await serve(async client => {
        const body = bodyOf('www.example.com', 'bücher.de')
        for (const pieces of [[body.slice(0, 9), body.slice(9)], [...body]]) {
          const { status, body: answer } = await postInPieces(client, pieces)
          expect([status, answer.data?.results.length]).toEqual([200, 2])
        }
      })
    })

    test.skipIf(!pipelines)(
      'two calls sent at once on one connection are answered in order (skipped where a server takes one at a time)',
      async () => {
        await serve(async ({ port, headers }) => {
          const socket = await open(port)
          socket.write(toWire(headers, bodyOf('first.com')) + toWire(headers, bodyOf('second.com')))
          const answers = (await readUntil(socket, /"totals".*"totals":{.*?}/s)).split(/(?=HTTP\/1\.1 )/)
          expect(answers.map(answer => /"domain":"([^"]+)"/.exec(answer)?.[1])).toEqual(['first.com', 'second.com'])
          for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
        })
      },
    )

    test.skipIf(bodyIsReadBefore)(
      'a body in chunks is answered 413 once it is over the limit (skipped where the host reads it before us)',
      async () => {
        await serve(async ({ port, headers }) => {
          const socket = await open(port)
          const received = leavesClosing ? readUntil(socket, /}/) : text(socket)
          const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
          socket.write(toWire({ ...headers, 'Transfer-Encoding': 'chunked' }, chunk.repeat(5)))
          const answer = await received
          expect(answer).toMatch(/^HTTP\/1\.1 413 /)
          expect(answer).toContain('"payload_too_large"')
        })
      },
    )

    /** Sends what announces 100 bytes and brings 12 of them, and waits until the server hangs up. */
    async function stall({ port, headers }: Client, changes: Record<string, string> = {}): Promise<string> {
      const socket = await open(port)
      const received = leavesClosing ? readUntil(socket, /}/) : text(socket)
      socket.write(
        toWire({ ...headers, ...changes }, '{"domains": ').replace('Content-Length: 12', 'Content-Length: 100'),
      )
      return await received
    }

    test.skipIf(bodyIsReadBefore)(
      'a body that stops coming is answered 408, the connection is closed (skipped where the host reads it first)',
      async () => {
        await serve(
          async client => {
            const answer = await stall(client)
            expect(answer).toMatch(/^HTTP\/1\.1 408 /)
            expect(answer).toContain('{"error":"request_timeout","message":"The request body did not come in time')
          },
          { bodyTimeLimit: 50 },
        )
      },
    )

    test.skipIf(bodyIsReadBefore)(
      'a caller who is not let in holds no connection with a body that stops coming (skipped as above)',
      async () => {
        await serve(
          async client => expect(await stall(client, { Authorization: 'Bearer unknown' })).toMatch(/^HTTP\/1\.1 401 /),
          { bodyTimeLimit: 50 },
        )
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
      await serve(
        async ({ port, url, headers }) => {
          const body = bodyOf('www.example.com', 'www.example.org')
          const socket = await open(port)
          socket.write(toWire(headers, body))
          await working.given
          socket.destroy()
          await sleep(50)
          goOn.give()
          await saved.given
          const retry = await fetch(url, { method: 'POST', headers, body })
          expect((await retry.json()).data.totals).toEqual({ created: 0, existing: 2, invalid: 0 })
        },
        { store: slowStore },
      )
    })

    test.skipIf(!hasCurl)(`curl is answered, also when it asks whether to send the body${why}`, async () => {
      await serve(async ({ url, headers }) => {
        for (const more of [[], ['-H', 'Expect: 100-continue'], ['-H', 'Transfer-Encoding: chunked']]) {
          const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
          const body = bodyOf('www.example.com')
          const { stdout } = await promisify(execFile)('curl', ['-sS', '-m', '20', ...fields, ...more, '-d', body, url])
          expect(JSON.parse(stdout).data.results).toMatchObject([{ domain: 'www.example.com' }])
        }
      })
    })
  })
}
