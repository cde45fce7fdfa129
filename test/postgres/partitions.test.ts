import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toCommand } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/index.ts'
import { toSettings } from '../../src/postgres/settings.ts'
import type { Statements } from '../../src/postgres/statements.ts'
import { flatten, names, type Plan, parameters, textOf, toArguments } from './plan.ts'
import { openDatabase, type TestServer } from './server.ts'

const PARTITIONS = 8

let server: TestServer
let client: PoolClient
/** By what is in their registrable domains. */
let partitionOf: Map<string, string>
beforeAll(async () => {
  server = await openDatabase()
  const pool = server.createPool()
  await migrate({ pool, partitions: PARTITIONS })
  client = await pool.connect()
  await client.query(
    `INSERT INTO domain_registration.names (registrable_domain, path, domain_id, team_id, due)
       SELECT domain, path, CASE WHEN path <> '' THEN gen_random_uuid() END, '1', CASE WHEN path <> '' THEN now() END
       FROM (SELECT chr(n) || '.com' FROM generate_series(97, 122) AS n UNION ALL SELECT 'crowd.com')
         AS domains (domain),
         (SELECT '' UNION ALL SELECT '.www' UNION ALL SELECT '.host-' || n FROM generate_series(1, 300) AS n)
          AS paths (path)`,
  )
  await client.query('ANALYZE domain_registration.names')
  const { rows } = await client.query<{ zone: string; partition: string }>(
    `SELECT registrable_domain AS zone, relname AS partition
     FROM domain_registration.names AS name JOIN pg_class ON pg_class.oid = name.tableoid WHERE path = ''`,
  )
  partitionOf = new Map(rows.map(({ zone, partition }) => [zone, partition]))
})
afterAll(async () => {
  client.release(true)
  await server.stop()
})

test('names are spread over all partitions', () => expect(new Set(partitionOf.values()).size).toBe(PARTITIONS))

/** What a maintenance statement goes through from end to end, each partition by an index. */
const withoutKey = new Set<keyof Statements>(['findDueNames', 'countDueNames', 'listAll', 'listTeam', 'walk'])

const modes = ['force_generic_plan', 'force_custom_plan'] as const
/** Releases are in a table of their own, which is small. */
const isOfNames = (name: keyof Statements) => textOf(name).includes('.names')
const cases = names.filter(isOfNames).flatMap(name => modes.map(mode => [name, mode] as const))

describe.each(cases)('%s, with a %s,', (name, mode) => {
  const isKeyed = !withoutKey.has(name)
  test(`touches ${isKeyed ? 'only its partitions' : 'each partition by an index'}`, async () => {
    const plans = await run(name, mode)
    const touched = plans.filter(
      plan => /^names_\d$/.test(plan['Relation Name'] ?? '') && isScan(plan) && isExecuted(plan),
    )
    expect(new Set(touched.map(plan => plan['Relation Name']))).toEqual(
      new Set(isKeyed ? zonesRead(name).map(zone => partitionOf.get(zone)) : partitionOf.values()),
    )
    for (const plan of touched) expect(plan['Node Type']).toMatch(/^Index (Only )?Scan$/)
  })
})

/** Those that look at nothing but what is in the way of their rows. */
const inserting = new Set<keyof Statements>(['claim', 'insert', 'occupy'])

/** The registrable domains among the parameters that are looked up; what is inserted is not. */
function zonesRead(name: keyof Statements): string[] {
  if (inserting.has(name)) return []
  const [zones = ''] = parameters[name]
  return zones.match(/\w+\.com/g) ?? []
}

const isScan = (plan: Plan) => /Scan$/.test(plan['Node Type'])
const isExecuted = (plan: Plan) => (plan['Actual Loops'] ?? 0) > 0

async function run(name: keyof Statements, mode: string): Promise<Plan[]> {
  await client.query(`BEGIN; ${toCommand(toSettings('PostgreSQL', 60_000))}; SET LOCAL plan_cache_mode = ${mode}`)
  try {
    await client.query(`PREPARE explained AS ${textOf(name)}`)
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON, ANALYZE) EXECUTE explained${toArguments(name)}`)
    return flatten(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('ROLLBACK; DEALLOCATE ALL')
  }
}
