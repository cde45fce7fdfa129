/**
 * A hundred callers of one name each, over HTTP: Express and PostgreSQL by this package, and by hand without its rules.
 * Both servers are separate processes, each with its own database of one PostgreSQL, and take turns.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { startServer } from '../test/postgres/server.ts'
import { median, newNames, passOver, report, time } from './measure.ts'
import { apiKey } from './postgres-load-server.ts'

const CALLERS = 100
const CALLS = 2000
const ROUNDS = { warmUp: 2, measured: 5 }

if (process.platform !== 'linux') await passOver('only Linux tells the processor time of other processes')

/** What one call costs: milliseconds in all, of PostgreSQL's processor time, and of the server's. */
type Cost = Record<'milliseconds' | 'postgres' | 'node', number>

const postgres = await startServer(['-c', 'shared_buffers=1GB'])
const admin = postgres.createPool({ max: 1 })
const postmaster = await findPostmaster(admin)
const [ours, byHand] = await Promise.all([start('ours'), start('by hand')])
const ratios: Cost[] = []
for (let round = 0; round < ROUNDS.warmUp + ROUNDS.measured; round += 1) {
  const [one, other] = [await load(ours), await load(byHand)]
  const ratio = Object.fromEntries(
    (Object.keys(one) as (keyof Cost)[]).map(name => [name, one[name] / other[name]]),
  ) as Cost
  if (round >= ROUNDS.warmUp) ratios.push(ratio)
}
for (const { child } of [ours, byHand]) child.kill()
await postgres.stop()
const medianOf = (name: keyof Cost) => median(ratios.map(ratio => ratio[name]))
console.log(`Node's processor time for a call: ${medianOf('node').toFixed(2)} × by hand`)
report({ loadPostgres: medianOf('postgres'), loadTime: medianOf('milliseconds') })

interface Server {
  readonly url: string
  readonly child: ChildProcess
}

async function start(name: 'ours' | 'by hand'): Promise<Server> {
  const database = name.replace(' ', '_')
  await admin.query(`CREATE DATABASE ${database}`)
  const config = JSON.stringify({ ...postgres.config, database, max: 10, pipeline: true })
  const script = fileURLToPath(new URL('postgres-load-server.ts', import.meta.url))
  const child = fork(script, [name, config], { execArgv: ['--import', 'tsx', '--no-warnings'] })
  const [url] = (await once(child, 'message')) as [string]
  return { url, child }
}

async function load({ url, child }: Server): Promise<Cost> {
  const bodies = newNames(CALLS).map(domain => JSON.stringify({ domains: [domain] }))
  const readNode = async (): Promise<number> => {
    child.send('usage')
    return (await once(child, 'message'))[0]
  }
  const before = { postgres: readPostgres(), node: await readNode() }
  const milliseconds = await time(() => Promise.all(Array.from({ length: CALLERS }, call)))
  const after = { postgres: readPostgres(), node: await readNode() }
  let ticks = 0
  for (const [pid, spent] of after.postgres) ticks += spent - (before.postgres.get(pid) ?? 0)
  return { milliseconds, postgres: ticks, node: after.node - before.node }

  async function call(): Promise<void> {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers, body })
      const { data } = (await response.json()) as { data?: { totals: { created: number } } }
      if (data?.totals.created !== 1) throw new Error(`Not created: ${response.status}`)
    }
  }
}

/** Returns the numbers after the name of a process in `/proc/<pid>/stat`, which begin with field 3. */
function readStat(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
}

async function findPostmaster(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
  return Number(readStat(rows[0].pid)[1])
}

/** The processor time of each process of PostgreSQL, in ticks. */
function readPostgres(): ReadonlyMap<number, number> {
  const ticks = new Map<number, number>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const stat = readStat(pid)
      if (Number(stat[1]) === postmaster) ticks.set(pid, Number(stat[11]) + Number(stat[12]))
    } catch {
      // The process has ended since the folder was read.
    }
  }
  return ticks
}
