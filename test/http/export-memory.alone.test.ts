import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { counts, isLong } from '../counts.ts'
import { team1 } from '../fixtures.ts'
import { createGeneratedStore } from './generated-store.ts'
import { allServers } from './servers.ts'

/** The allowed growth in bytes: much more than a few pages need, and much less than the whole export needs. */
const FLAT = 5_000_000

const current = allServers.filter(([name]) => !name.endsWith(' 4'))

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function readMemory(): number {
  // The first collection finds unused memory outside the heap, but only the second one frees it.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Reads an export. Returns the number of lines, and the largest growth of used memory since the first page, in bytes.
 * Memory is measured after garbage collections.
 */
async function readExport(start: (typeof allServers)[number][1], count: number) {
  const { store, seen } = createGeneratedStore(count)
  const authenticate = () => ({ ...team1, scopes: ['domains:read'] })
  const server = await start({ store, operations: ['export'], authenticate })
  const response = await fetch(`${server.origin}/v1/domains/export`)
  let lines = 0
  let most = 0
  let first: number | undefined
  let measuredAt = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
    if (seen.pages < measuredAt + 10) continue
    measuredAt = seen.pages
    // The reader is slow, so a server that reads ahead would accumulate pages.
    await sleep(1)
    const now = readMemory()
    first ??= now
    most = Math.max(most, now)
  }
  await server.close()
  return { lines, growth: most - (first ?? most) }
}

test.skipIf(!isLong).each(current)(
  'with %s, an export of very many names uses constant memory (skipped in a short run)',
  async (_, start) => {
    // The first export loads all the code.
    await readExport(start, 30_000)
    const { lines, growth } = await readExport(start, counts.registrations)
    expect(lines).toBe(counts.registrations + 1)
    expect(growth).toBeLessThan(FLAT)
  },
)

const READERS = 6

test.skipIf(!isLong).each(current)(
  'with %s, a client that stops reading an export costs the server less than 200 kB of memory (skipped in a short run)',
  async (_, start) => {
    const { store, seen } = createGeneratedStore(Number.POSITIVE_INFINITY)
    const authenticate = () => ({ ...team1, scopes: ['domains:read'] })
    const server = await start({ store, operations: ['export'], authenticate })
    const { hostname, port } = new URL(server.origin)
    const whenStalled = async () => {
      for (let before = -1; before !== seen.pages; await sleep(200)) before = seen.pages
    }
    /** A socket that is paused before it connects does not read ahead. */
    const open = async () => {
      const socket = connect(Number(port), hostname).pause()
      socket.on('error', () => {}).write('GET /v1/domains/export HTTP/1.1\r\nHost: localhost\r\n\r\n')
      return socket
    }
    // The first export loads all the code.
    const sockets = [await open()]
    await whenStalled()
    const before = readMemory()
    for (let reader = 0; reader < READERS; reader += 1) sockets.push(await open())
    await whenStalled()
    const held = (readMemory() - before) / READERS
    for (const socket of sockets) socket.destroy()
    await server.close()
    expect(seen.pages).toBeGreaterThan(READERS)
    expect(held).toBeLessThan(200_000)
  },
)
