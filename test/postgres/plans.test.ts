import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toCommand } from '../../src/postgres/database.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { toSettings } from '../../src/postgres/settings.ts'
import type { Statements } from '../../src/postgres/statements.ts'
import { lookUp, save } from '../../src/testing/calls.ts'
import { flatten, names, type Plan, parameters, textOf, toArguments } from './plan.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let client: PoolClient
beforeAll(async () => {
  server = await openDatabase()
  const pool = server.createPool()
  await migrate({ database: pool })
  client = await pool.connect()
})
afterAll(async () => {
  client.release(true)
  await server.stop()
})

const opening = toCommand(toSettings('PostgreSQL', 60_000))

async function explain(statement: keyof Statements, mode: string, options = ''): Promise<Plan[]> {
  await client.query('BEGIN')
  try {
    await client.query(opening)
    await client.query(`SET LOCAL plan_cache_mode = ${mode}; PREPARE explained AS ${textOf(statement)}`)
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON ${options}) EXECUTE explained${toArguments(statement)}`)
    return flatten(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('ROLLBACK; DEALLOCATE ALL')
  }
}

const isOfTable = (plan: Plan) => plan['Relation Name'] === 'names' || plan['Relation Name'] === 'releases'
const isScan = (plan: Plan) => /Scan/.test(plan['Node Type']) && isOfTable(plan)

/** Those that walk an index of their own. */
const indexes = new Map<keyof Statements, string>([
  ['findDueNames', 'names_due'],
  ['findDueReleases', 'releases_due'],
  ['countDueNames', 'names_due'],
  ['listAll', 'names_in_order'],
  ['listTeam', 'names_of_team_in_order'],
])

/** What is counted whole, by whichever index. */
const whole = new Set<keyof Statements>(['countReleases'])

/** What a statement may look up in an index by: all begin with the registrable domain, or find one row by its ID. */
function expectLookUps(statement: keyof Statements, plans: readonly Plan[]): void {
  for (const plan of plans.filter(isScan)) {
    expect(plan['Node Type']).toMatch(/^Index (Only )?Scan$/)
    const index = indexes.get(statement)
    if (index) expect(plan['Index Name']).toBe(index)
    else if (!whole.has(statement)) expect(plan['Index Cond']).toMatch(/registrable_domain|domain_id = /)
  }
}

/** In this order: the last fills the table. */
const tables: readonly (readonly [what: string, sql: string])[] = [
  ['a table that was never analysed', 'SELECT'],
  ['an empty table', `VACUUM ANALYZE domain_registration.names; VACUUM ANALYZE domain_registration.releases`],
  [
    'a table of one row',
    `INSERT INTO domain_registration.names (registrable_domain, path) VALUES ('a.com', '');
      ANALYZE domain_registration.names`,
  ],
  [
    'a large table',
    `INSERT INTO domain_registration.names (registrable_domain, path, domain_id, team_id)
       SELECT 'crowd.com', CASE WHEN n = 0 THEN '' ELSE '.n' || n END, CASE WHEN n > 0 THEN gen_random_uuid() END, '1'
       FROM generate_series(0, 100000) AS n;
     INSERT INTO domain_registration.names (registrable_domain, path, domain_id, team_id)
       SELECT 'n' || n || '.com', '', gen_random_uuid(), '1' FROM generate_series(1, 50000) AS n;
     INSERT INTO domain_registration.releases (due, domain_id, registrable_domain, path, team_id)
       SELECT now(), gen_random_uuid(), 'n' || n % 1000 || '.com', '', '1' FROM generate_series(1, 20000) AS n;
     ANALYZE domain_registration.names; ANALYZE domain_registration.releases`,
  ],
]

describe.each(tables)('on %s', (_, sql) => {
  beforeAll(async () => {
    for (const statement of sql.split(';')) await client.query(statement)
  })

  const cases = names.flatMap(name => ['force_generic_plan', 'force_custom_plan'].map(mode => [name, mode] as const))
  test.each(cases)('%s goes by the index, with a %s', async (name, mode) => {
    const plans = await explain(name, mode)
    expectLookUps(name, plans)
    expect(plans.some(isOfTable)).toBe(true)
  })
})

test.each(['claim', 'insert', 'occupy'] as const)('%s fails outside a transaction', async name => {
  const saving = async () => {
    await client.query(`PREPARE outside AS ${textOf(name)}`)
    await client.query(`EXECUTE outside (${parameters[name].join(', ').replaceAll('.com', '.outside')})`)
  }
  // On a session that has never had one, and on one that has.
  await expect(saving()).rejects.toThrow()
  await client.query(`DEALLOCATE ALL; BEGIN; ${opening}; COMMIT`)
  await expect(saving()).rejects.toThrow('timestamp')
  await client.query('DEALLOCATE ALL')
  const { rows } = await client.query("SELECT FROM domain_registration.names WHERE registrable_domain LIKE '%.outside'")
  expect(rows).toEqual([])
})

test('a connection plans each statement once', async () => {
  const pool = server.createPool({ max: 1, pipeline: true })
  const store = createPostgresStore({ database: pool, findTeam: () => null })
  for (const domain of ['planned.com', 'www.planned.com', 'api.planned.com', '*.planned.net']) {
    await save(store, '1', [domain])
  }
  const { rows } = await pool.query(
    `SELECT custom_plans::integer, generic_plans::integer FROM pg_prepared_statements
      WHERE name LIKE 'domain_registration_%'`,
  )
  expect(rows.length).toBeGreaterThan(3)
  for (const row of rows) expect(row).toEqual({ custom_plans: 0, generic_plans: expect.any(Number) })
  await store.release('1', ['planned.com', 'www.planned.com', 'api.planned.com', '*.planned.net'])
})

describe('with a hundred thousand names of team 1 below one base', () => {
  const countRows = (plans: readonly Plan[]) =>
    plans
      .filter(isScan)
      .map(plan => ((plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0)) * (plan['Actual Loops'] ?? 0))
      .reduce((sum, rows) => sum + rows, 0)

  test.each([
    ["'1'", 1008, 'the team that holds them'],
    ["'2'", 2, 'a team that holds none'],
  ])('to team %s a wildcard costs a look at %i rows: %s', async (team, limit) => {
    const [domain, after, before, , claim] = parameters.findBelow
    const plans = await explainWith('findBelow', [domain, after, before, team, claim] as string[])
    expect(countRows(plans)).toBeGreaterThan(0)
    expect(countRows(plans)).toBeLessThanOrEqual(limit)
  })

  test('the answers are right all the same', async () => {
    const pool = server.createPool()
    const store = createPostgresStore({ database: pool, findTeam: () => null })
    const own = await lookUp(store, '1', [], ['crowd.com'])
    expect(own.below).toEqual([
      { ownDomains: [expect.any(String), expect.any(String), expect.any(String)], ownCount: 1000, heldByOthers: false },
    ])
    const foreign = await lookUp(store, '2', [], ['crowd.com', 'n1.crowd.com'])
    expect(foreign.below).toEqual([
      { ownDomains: [], ownCount: 0, heldByOthers: true },
      { ownDomains: [], ownCount: 0, heldByOthers: false },
    ])
  })

  async function explainWith(statement: keyof Statements, values: readonly string[]): Promise<Plan[]> {
    await client.query(`BEGIN; ${opening}; PREPARE explained AS ${textOf(statement)}`)
    try {
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON, ANALYZE) EXECUTE explained (${values.join(', ')})`)
      return flatten(rows[0]['QUERY PLAN'][0].Plan)
    } finally {
      await client.query('ROLLBACK; DEALLOCATE ALL')
    }
  }
})
