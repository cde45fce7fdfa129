/**
 * How long other calls wait while a thousand callers register names below one domain, through the same pool: each of
 * them makes a call every five seconds. What others wait if each makes its next call at once is only printed, because
 * there, the faster the calls of the crowd are, the more it makes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { keyContext, newNames, report, team, time } from './measure.ts'

const CONNECTIONS = 10
const OTHERS = 4
const CROWD = 1000
const SECONDS = 8
/** Milliseconds from one call of a caller to the next. */
const PAUSE = 5000

const server = await startServer()
const database = server.createPool({ max: CONNECTIONS, pipeline: true })
await migrate({ database })
const store = createPostgresStore({ database, findTeam: () => team })

let next = 0
await callFor(1)
const alone = await callFor(SECONDS)
const among = await callBeside(PAUSE)
const closed = await callBeside(0)
await server.stop()
console.log(
  `p99 alone ${alone.toFixed(1)} ms, beside the crowd ${among.toFixed(1)} ms, in a closed loop ${closed.toFixed(1)} ms`,
)
report({ crowd: among / alone })

/** @param pause Milliseconds between the calls of one caller of the crowd, if its calls are not slower. */
async function callBeside(pause: number): Promise<number> {
  const start = performance.now()
  let isOver = false
  let fought = 0
  const crowd = Array.from({ length: CROWD }, async (_, caller) => {
    for (let call = caller / CROWD; !isOver; call += 1) {
      await sleep(start + call * pause - performance.now())
      // If a caller waits longer than the store's time limit, its call fails, and the caller makes the next call.
      await register([`n${next++}.hot.com`]).catch(() => {})
      fought += 1
    }
  })
  const p99 = await callFor(SECONDS)
  isOver = true
  await Promise.all(crowd)
  console.log(`${fought} calls of the crowd`)
  return p99
}

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

async function register(domains: readonly string[]): Promise<void> {
  const { data } = await registerDomains(keyContext, { domains }, store)
  if (data.totals.created !== domains.length) throw new Error('Not created')
}
