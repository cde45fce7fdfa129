import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { waitFor } from '../wait-for.ts'
import { killAll, start, toUrl } from './programs.ts'

afterAll(killAll)

describe('the receiver', () => {
  let database: TestServer
  let receiver: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    database = await openDatabase()
    receiver = await start('receiver.ts', { DATABASE_URL: toUrl(database.config) })
  })
  afterAll(() => database.stop())

  /** Sends a body in pieces, without a signature. Resolves to the status. */
  function send(size: number, headers: Record<string, string | number> = {}): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const call = request({ port: receiver.port, host: '127.0.0.1', method: 'POST', headers }, response => {
        response.resume().on('end', () => resolve(response.statusCode))
      })
      call.on('error', reject)
      const piece = Buffer.alloc(100_000, ' ')
      let left = size
      function write(): void {
        for (; left > 0; left -= piece.length) if (!call.write(piece)) return void call.once('drain', next)
        call.end()
      }
      function next(): void {
        left -= piece.length
        write()
      }
      write()
    })
  }

  test('rejects an unsigned body of 300 MB with 413, with and without its length, and keeps none of it', async () => {
    expect(await send(100_000)).toBe(401)
    const before = receiver.memory()
    const size = 300_000_000
    expect([await send(size), await send(size, { 'Content-Length': size })]).toEqual([413, 413])
    expect(receiver.memory() - before).toBeLessThan(100_000)
    expect(receiver.errors()).toBe('')
  })

  test('logs one line for a request that is cut off', async () => {
    const lines = () => (receiver.printed() + receiver.errors()).trimEnd().split('\n')
    const before = lines().length
    const caller = connect(receiver.port, '127.0.0.1')
    caller.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{')
    await once(caller, 'data')
    caller.resetAndDestroy()
    await waitFor(() => expect(lines().length).toBeGreaterThan(before))
    expect(await send(100)).toBe(401)
    expect(lines().slice(before)).toEqual([expect.stringContaining('"event":"failed"')])
  })
})
