/**
 * How calls wait for PostgreSQL: what a call costs this process, depending on how many wait; and in virtual time, how
 * many calls for one registrable domain several servers make, and the slowest call beside locks of somebody else. How
 * many calls real stores on one PostgreSQL make is only printed: all of them share the processors of this machine.
 */
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate, type PostgresStore } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { countCalls, findWorstBusyCall } from '../test/postgres/simulated-servers.ts'
import { keyContext, median, newNames, report, team, timeCpu } from './measure.ts'

const COMMIT = 10
const SECONDS = 5
const SERVERS = [1, 2, 4, 8]
const CALLERS = 48
const WAITING = [10, 100, 400] as const
/** Fewer than 10,000 names of a team may wait. */
const TEAMS = 20
const CALLS = 800
const ROUNDS = 3
/** Milliseconds for a call: the last of 400 that wait needs seconds, on a busy machine more than the default of ten. */
const TIME_LIMIT = 60_000

const ofServers: number[] = []
for (const servers of SERVERS)
  ofServers.push(await countCalls({ servers, commit: COMMIT, milliseconds: SECONDS * 1000 }))
const [one, eight] = [ofServers[0], ofServers.at(-1)] as [number, number]
console.log(`calls through ${SERVERS.join(', ')} servers in virtual time: ${ofServers.join(', ')}`)

const worst: number[] = []
for (const servers of [3, 8])
  for (const callers of [1, 6])
    for (const commit of [2, 5, 10]) worst.push(await findWorstBusyCall({ servers, callers, commit }))

const server = await startServer()
const openStore = (): PostgresStore =>
  createPostgresStore({
    database: server.createPool({ max: 9, pipeline: true }),
    findTeam: id => ({ ...team, id }),
    timeLimit: TIME_LIMIT,
  })
await migrate({ database: server.createPool({ max: 1 }) })

const ofStores: number[] = []
for (const stores of SERVERS) ofStores.push(await countCallsOf(Array.from({ length: stores }, openStore)))
console.log(`calls through ${SERVERS.join(', ')} stores on one PostgreSQL: ${ofStores.join(', ')}`)

const store = openStore()
const costs = new Map<number, number[]>(WAITING.map(waiting => [waiting, []]))
await costOfCall(100)
for (let round = 0; round < ROUNDS; round += 1)
  for (const waiting of WAITING) costs.get(waiting)?.push(await costOfCall(waiting))
await server.stop()
const [few, many, most] = WAITING.map(waiting => median(costs.get(waiting) ?? [])) as [number, number, number]
console.log(`processor for a call, with ${WAITING.join(', ')} waiting: ${[few, many, most].map(format).join(', ')} ms`)
report({ queueCost: most / few, queueServers: one / eight, queueLocks: Math.max(...worst) })

function format(milliseconds: number): string {
  return milliseconds.toFixed(1)
}

/** Counts the calls that callers of one registrable domain make through several stores. */
async function countCallsOf(stores: readonly PostgresStore[]): Promise<number> {
  const end = performance.now() + SECONDS * 1000
  let calls = 0
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    const teamId = String(caller)
    const store = stores[caller % stores.length] as PostgresStore
    for (let call = 0; performance.now() < end; call += 1) {
      const domains = [`n${call}-${caller}-of-${stores.length}.hot.com`]
      const { data } = await registerDomains({ ...keyContext, teamId }, { domains }, store)
      if (data.totals.created !== 1) throw new Error('Not created')
      calls += 1
    }
  })
  await Promise.all(callers)
  return calls
}

/** The processor time of this process for a call of 100 new names, in milliseconds, while so many calls wait. */
async function costOfCall(waiting: number): Promise<number> {
  const all = Array.from({ length: CALLS }, () => newNames())
  async function call(caller: number): Promise<void> {
    for (let domains = all.pop(); domains; domains = all.pop())
      await registerDomains({ ...keyContext, teamId: String(caller % TEAMS) }, { domains }, store, {
        timeLimit: TIME_LIMIT,
      })
  }
  const spent = await timeCpu(() => Promise.all(Array.from({ length: waiting }, (_, caller) => call(caller))))
  return spent / CALLS
}
