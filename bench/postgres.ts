/**
 * Compares registering 100 names in PostgreSQL with one INSERT of the rows that the store creates, over the same
 * connection.
 */
import type { Pool } from 'pg'
import { type RegisterDomainsOptions, registerDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { toKey } from '../src/store/name-key.ts'
import { startServer } from '../test/postgres/server.ts'
import { compare, createTimePostgres, keyContext, newNames, report, team, time } from './measure.ts'

/** Copies rows from the table `names` in a schema into a table with the same columns. */
export async function createBareInsert(pool: Pool, schema: string, table: string, timer = time) {
  const { rows: columns } = await pool.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = '${schema}.names'::regclass AND attnum > 0`,
  )
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`)
  const text = `INSERT INTO ${table} (${columns.map(({ name }) => name)}) SELECT * FROM unnest(${arrays})`
  return async (domains: readonly string[]): Promise<number> => {
    const keys = domains.map(toKey)
    const { rows } = await pool.query(
      `SELECT name.* FROM unnest($1::text[], $2::text[]) AS asked (second_level_domain, path)
       JOIN ${schema}.names AS name USING (second_level_domain, path)`,
      [keys.map(({ secondLevelDomain }) => secondLevelDomain), keys.map(({ path }) => path)],
    )
    if (rows.length !== domains.length) throw new Error('The names were not saved')
    const values = columns.map(({ name }) => rows.map(row => row[name]))
    return timer(() => pool.query({ name: table, text, values }))
  }
}

export function createRegister(database: Pool, schema: string, timer = time) {
  const store = createPostgresStore({ database, schema, findTeam: () => team })
  return async (domains: readonly string[], status: 'created' | 'existing' = 'created'): Promise<number> =>
    timer(async () => {
      const { data } = await registerDomains(keyContext, { domains }, store)
      if (data.totals[status] !== domains.length) throw new Error(`Not ${status}: ${JSON.stringify(data.totals)}`)
    })
}

const HELD = 10_000

/** Registers and releases the same names in two teams with the same number of names. One of the teams has a limit. */
async function compareLimit(database: Pool, schema: string): Promise<number> {
  const sideOf = async (id: string, maxDomains: number | null) => {
    const store = createPostgresStore({ database, schema, findTeam: () => ({ ...team, id, maxDomains }) })
    const caller = { type: 'team', teamId: id, scopes: keyContext.scopes } as const
    for (let held = 0; held < HELD; held += 100) await registerDomains(caller, { domains: newNames() }, store)
    return async (domains: readonly string[]): Promise<number> => {
      const milliseconds = await time(() => registerDomains(caller, { domains }, store))
      if ((await store.release(id, domains)).length !== domains.length) throw new Error('The names were not saved')
      return milliseconds
    }
  }
  const [limited, unlimited] = [await sideOf('8', 10 * HELD), await sideOf('9', null)]
  await database.query(`VACUUM ANALYZE ${schema}.names`)
  return compare(newNames, { warmUp: 50, rounds: 100 }, limited, unlimited)
}

/** Registers and releases the same names with `checkNames`, which costs one more look-up, and without. */
async function compareAsked(database: Pool, schema: string): Promise<number> {
  const store = createPostgresStore({ database, schema, findTeam: () => team })
  const sideOf = (options: RegisterDomainsOptions) => async (domains: readonly string[]) => {
    const milliseconds = await time(() => registerDomains(keyContext, { domains }, store, options))
    if ((await store.release(team.id, domains)).length !== domains.length) throw new Error('The names were not saved')
    return milliseconds
  }
  const asked = sideOf({ checkNames: names => names.map(() => null) })
  return compare(newNames, { warmUp: 50, rounds: 100 }, asked, sideOf({}))
}

async function measure(): Promise<void> {
  const server = await startServer()
  const database = server.createPool({ max: 1, pipeline: true, idleTimeoutMillis: 0 })
  const schema = 'domain_registration'
  await migrate({ database })
  const timePostgres = await createTimePostgres(database)
  const register = createRegister(database, schema)
  await database.query(`CREATE TABLE yardstick (LIKE ${schema}.names INCLUDING ALL)`)
  const insert = await createBareInsert(database, schema, 'yardstick')
  const postgres = await compare(newNames, { warmUp: 300, rounds: 200 }, names => register(names), insert)
  const [registerCpu, insertCpu] = [
    createRegister(database, schema, timePostgres),
    await createBareInsert(database, schema, 'yardstick', timePostgres),
  ]
  const postgresCpu = await compare(newNames, { warmUp: 0, rounds: 200 }, names => registerCpu(names), insertCpu)
  const registered = async () => {
    const names = newNames()
    await register(names)
    return names
  }
  const existing = (names: readonly string[]) => register(names, 'existing')
  const postgresExisting = await compare(registered, { warmUp: 100, rounds: 150 }, existing, insert)
  const postgresLimit = await compareLimit(database, schema)
  const postgresAsked = await compareAsked(database, schema)
  await server.stop()
  report({ postgres, ...(postgresCpu > 0 && { postgresCpu }), postgresExisting, postgresLimit, postgresAsked })
}

if (import.meta.filename === process.argv[1]) await measure()
