/** How long other calls wait while a thousand callers register names below one domain, through the same pool. */
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { keyContext, newNames, report, team, time } from './measure.ts'

const CONNECTIONS = 10
const OTHERS = 4
const CROWD = 1000
const SECONDS = 8

const server = await startServer()
const database = server.createPool({ max: CONNECTIONS, pipeline: true })
await migrate({ database })
const store = createPostgresStore({ database, findTeam: () => team })

await callFor(1)
const alone = await callFor(SECONDS)
let isOver = false
let fought = 0
const crowd = Array.from({ length: CROWD }, fight)
const among = await callFor(SECONDS)
isOver = true
await Promise.all(crowd)
await server.stop()
console.log(`p99 alone ${alone.toFixed(1)} ms, among ${fought} calls of the crowd ${among.toFixed(1)} ms`)
report({ crowd: among / alone })

/** @returns The 99th percentile of the durations of all other calls, in milliseconds. */
async function callFor(seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  const spent: number[] = []
  async function work(): Promise<void> {
    while (performance.now() < end) spent.push(await time(() => register(newNames(1))))
  }
  await Promise.all(Array.from({ length: OTHERS }, work))
  return spent.toSorted((one, other) => one - other)[Math.floor(spent.length * 0.99)] as number
}

async function fight(_: unknown, caller: number): Promise<void> {
  for (let call = 0; !isOver; call += 1) {
    // If a caller waits longer than the store's time limit, its call fails, and the caller makes the next call.
    await register([`n${call}-${caller}.hot.com`]).catch(() => {})
    fought += 1
  }
}

async function register(domains: readonly string[]): Promise<void> {
  const { data } = await registerDomains(keyContext, { domains }, store)
  if (data.totals.created !== domains.length) throw new Error('Not created')
}
