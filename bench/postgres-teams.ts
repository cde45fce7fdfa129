/**
 * How long calls wait because of others, through one pool: a team's calls below its own domain, while another team
 * keeps 200 calls in flight for this domain; and calls of all other teams, while another process has locked six
 * registrable domains, and calls for these wait.
 */
import { deleteDomains, registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { median, newNames, report, team, time } from './measure.ts'

const FLOOD = 200
const LOCKS = ['a', 'b', 'c', 'd', 'e', 'f'].map(letter => `locked-${letter}.com`)
const LOCKED = 5000
/** Milliseconds between the calls of others. */
const PAUSE = 20

const server = await startServer()
const database = server.createPool({ max: 10, pipeline: true })
await migrate({ database })
const store = createPostgresStore({ database, findTeam: id => ({ ...team, id }) })

const keyOf = (teamId: string) => ({ type: 'team' as const, teamId, scopes: ['domains:create', 'domains:delete'] })
const register = (teamId: string, domains: readonly string[]) => registerDomains(keyOf(teamId), { domains }, store)
const later = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))

let next = 0
/** Registers and deletes a name below the team's own domain. */
async function churn(): Promise<void> {
  const domains = [`own-${next++}.victim.com`]
  const { data } = await register('1', domains)
  if (data.totals.created !== 1) throw new Error('Not created')
  const { data: deleted } = await deleteDomains(keyOf('1'), { domains }, store)
  if (deleted.results[0]?.status !== 'deleted') throw new Error('Not deleted')
}

async function medianOfChurn(times: number): Promise<number> {
  const spent: number[] = []
  for (let round = 0; round < times; round += 1) spent.push(await time(churn))
  return median(spent)
}

await register('1', ['victim.com'])
await medianOfChurn(100)
const alone = await medianOfChurn(100)
let isOver = false
let failed = 0
const flood = Array.from({ length: FLOOD }, async (_, caller) => {
  for (let call = 0; !isOver; call += 1) {
    const calling = register('2', [`n${call}-${caller}.victim.com`])
    await calling.catch(() => {
      failed += 1
    })
  }
})
const flooded = await medianOfChurn(100)
isOver = true
await Promise.all(flood)
console.log(
  `register and delete: ${alone.toFixed(1)} ms alone, ${flooded.toFixed(1)} ms; ${failed} of the others failed`,
)

/** The durations of calls that are made at a fixed rate, whether the earlier ones have ended or not, in order. */
async function callFor(milliseconds: number): Promise<readonly number[]> {
  const calls: Promise<number>[] = []
  const end = performance.now() + milliseconds
  for (let due = performance.now(); due < end; due += PAUSE) {
    await later(due - performance.now())
    calls.push(time(() => register('3', newNames(1))))
  }
  return (await Promise.all(calls)).sort((one, other) => one - other)
}
const p99 = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.99)] as number

await callFor(LOCKED)
const free = await callFor(LOCKED)
const holder = await server.createPool({ max: 1 }).connect()
await holder.query('BEGIN')
const query = (text: string, values: unknown[]) => holder.query(text, values)
const application = createPostgresStore({ database: { query }, findTeam: () => team })
for (const domain of LOCKS) await registerDomains(keyOf('1'), { domains: [domain] }, application)
const waiting = LOCKS.map(domain => register('1', [`www.${domain}`]))
const beside = await callFor(LOCKED)
await holder.query('COMMIT')
for (const { data } of await Promise.all(waiting)) if (data.totals.created !== 1) throw new Error('Not created')
holder.release()
await server.stop()
console.log(`p99 ${p99(free).toFixed(1)} ms alone, ${p99(beside).toFixed(1)} ms beside six locks`)
report({ flood: flooded / alone, locks: p99(beside) / p99(free), locksWorst: beside.at(-1) as number })
