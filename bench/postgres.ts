import { pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { createUuidGenerator } from '../src/uuid.ts'
import { startServer } from '../test/postgres/server.ts'
import { record } from './figures.ts'

/**
 * What registering in PostgreSQL costs, as the median of ratios to a bare insert of the same rows: same server, same
 * connection, pipelined, with every setting of durability at its default. The sides take turns.
 * Run it with `node --import tsx bench/postgres.ts`.
 */
export interface Row {
  readonly work: string
  readonly yardstick: string
  readonly ratio: number
  /** Medians in milliseconds. */
  readonly spent: readonly [work: number, yardstick: number]
  readonly goal: string
}

export const BATCH = 100
/** Enough for the compiler, which takes its time over what waits for a database most of the time. */
const COMPILED = 3000
/** Of each kind of names. */
const WARM_UP = 500
const ROUNDS = 400

export const team = { id: '1', organizationId: '1', state: 'active' } as const
export const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const

/** How customers have names: each registrable domain by itself or with something below it. */
export const inputs = {
  '100 new names': (index: number) => `${['', 'www.', '', 'api.'][index % 4]}${word(index)}.com`,
  '100 new names, all registrable domains': (index: number) => `${word(index)}.com`,
  '100 new names below one registrable domain': (index: number) =>
    `host-${index}.${word(Math.floor(index / BATCH))}.net`,
}

export async function measureRegistering(pool: Pool): Promise<Row[]> {
  const store = createPostgresStore({ pool, findTeam: () => team })
  await pool.query('CREATE TABLE yardstick (LIKE domain_registration.names INCLUDING ALL)')
  const insert = createBareInsert(pool, 'yardstick')
  const rows: Row[] = []
  for (const [work, toName] of Object.entries(inputs)) {
    const spent = { work: [] as number[], yardstick: [] as number[] }
    const warmUp = rows.length === 0 ? COMPILED : WARM_UP
    for (let round = 0; round < warmUp + ROUNDS; round += 1) {
      const domains = nextNames(toName)
      const workTime = await time(async () => {
        const { data } = await registerDomains(keyContext, { domains }, store)
        if (data.totals.created !== BATCH) throw new Error('The names were not new')
      })
      const yardstickTime = await time(insert(domains))
      if (round < warmUp) continue
      spent.work.push(workTime)
      spent.yardstick.push(yardstickTime)
    }
    const medians = [median(spent.work), median(spent.yardstick)] as const
    rows.push({
      work: `PostgreSQL, ${work}`,
      yardstick: 'INSERT … SELECT unnest … ON CONFLICT DO NOTHING of the same rows',
      ratio: median(spent.work.map((duration, round) => duration / (spent.yardstick[round] ?? Number.NaN))),
      spent: medians,
      goal: '≤ 1.6',
    })
  }
  return rows
}

/**
 * One statement that knows the keys and saves the same rows, into a table with the same columns, checks and indexes:
 * of each registrable domain the first name in its head row.
 */
export function createBareInsert(pool: Pool, table: string): (domains: readonly string[]) => () => Promise<void> {
  const createId = createUuidGenerator()
  const text = `INSERT INTO ${table} (registrable_domain, path, inlined_path, domain_id, team_id, created_at)
    SELECT registrable_domain, path, nullif(inlined_path, ''), domain_id, $5, now()
    FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) 
       AS new (registrable_domain, path, inlined_path, domain_id)
    ON CONFLICT DO NOTHING`
  return domains => {
    const heads = new Set<string>()
    const rows = domains.map(domain => {
      const labels = domain.split('.')
      const registrableDomain = labels.slice(-2).join('.')
      const path = `.${labels.slice(0, -2).reverse().join('.')}`
      const isHead = !heads.has(registrableDomain)
      heads.add(registrableDomain)
      return isHead ? [registrableDomain, '', path, createId()] : [registrableDomain, path, '', createId()]
    })
    const columns = [0, 1, 2, 3].map(column => rows.map(row => row[column]))
    return async () => {
      const { rowCount } = await pool.query({ name: table, text, values: [...columns, '1'] })
      if (rowCount !== BATCH) throw new Error('The rows were not new')
    }
  }
}

let fresh = 0
export const nextNames = (toName: (index: number) => string) => {
  const first = fresh
  fresh += BATCH
  return Array.from({ length: BATCH }, (_, index) => toName(first + index))
}

/** Distinct, and in no order, so that rows go to all parts of an index. */
export const word = (index: number) =>
  `${(Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-${index.toString(36)}`

export const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[values.length >> 1] as number

export async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export function print({ work, yardstick, ratio, spent, goal }: Row): void {
  const medians = spent.map(milliseconds => `${milliseconds.toFixed(2)} ms`).join(' : ')
  console.log(`${`${work}, against ${yardstick}`.padEnd(112)} ${ratio.toFixed(2).padStart(6)}  ${goal}  (${medians})`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const server = await startServer()
  try {
    const pool = server.createPool({ max: 1, pipeline: true })
    await migrate({ pool })
    for (const row of await measureRegistering(pool)) {
      record('postgres', row.ratio)
      print(row)
    }
  } finally {
    await server.stop()
  }
}
