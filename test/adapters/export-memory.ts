/**
 * A process of its own, run by `export-memory.test.ts` with `--expose-gc`: exports registrations over HTTP from every
 * adapter, and sends what is in use after a collection, at most and at the beginning.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createGeneratedStore } from './generated-store.ts'
import { PREFIX, servers } from './servers.ts'

export interface Export {
  readonly name: string
  readonly lines: number
  /** Bytes in use beyond those at the first page. */
  readonly growth: number
}

const collect = (globalThis as { gc?: () => void }).gc as () => void

function readMemory(): number {
  // What the first has let go of outside the heap is freed by the second.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function readExport(name: string, start: (typeof servers)[number][1], count: number): Promise<Export> {
  const { store, seen } = createGeneratedStore(count)
  const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:read'] }) as const
  const server = await start({ store, operations: ['export'], authenticate })
  const response = await fetch(`${server.origin}${PREFIX}/v1/domains/export`)
  let lines = 0
  let most = 0
  let first: number | undefined
  let measuredAt = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
    if (seen.pages < measuredAt + 10) continue
    measuredAt = seen.pages
    // A slow reader: what the server read ahead would pile up.
    await sleep(1)
    const now = readMemory()
    first ??= now
    most = Math.max(most, now)
  }
  await server.close()
  return { name, lines, growth: most - (first ?? most) }
}

process.once('message', async (count: number) => {
  // The code of everything is loaded by a first one.
  const newest = servers.filter(([name]) => !name.endsWith(' 4'))
  for (const [name, start] of newest) await readExport(name, start, 30_000)
  const exports: Export[] = []
  for (const [name, start] of newest) exports.push(await readExport(name, start, count))
  process.send?.(exports)
  process.disconnect()
})
