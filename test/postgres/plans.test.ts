import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toCommands } from '../../src/postgres/drivers/sequence.ts'
import { postgres } from '../../src/postgres/engines/plain.ts'
import { toSettings } from '../../src/postgres/engines/settings.ts'
import { migrate } from '../../src/postgres/index.ts'
import { toTables } from '../../src/postgres/schema.ts'
import type { Statement } from '../../src/postgres/statements/sql.ts'
import { createStatements, type Statements } from '../../src/postgres/statements/store.ts'
import { isLong } from '../counts.ts'
import { findInstalledPostgres, NOT_INSTALLED } from './installed.ts'
import { openDatabase, startServer, type TestServer } from './server.ts'

const id = "'00000000-0000-7000-8000-000000000001'"
const ids = "'{00000000-0000-7000-8000-000000000001,00000000-0000-7000-8000-000000000002}'"
const domains = "'{a.com,b.com}'"
const kinds = "'{registered,released}'"
const change = 'changes_pkey: (domain_id = , second_level_domain = )'
const changeById = 'changes_pkey: (domain_id = )'
const below = 'names_pkey: (second_level_domain = , path > , path < )'
const within = 'names_within: (registrable_domain = , path > , path < )'
const ownWithin = 'names_of_team_within: (registrable_domain = , team_id = , path > , path < )'
const ownBelow = 'names_of_team_below: (second_level_domain = , team_id = , path > , path < )'

interface Case {
  /** The parameters, as SQL. */
  readonly values: readonly string[]
  /**
   * The indexes that the statement reads, with their conditions. The statement must read nothing else from the tables.
   */
  readonly reads: readonly string[]
}

const cases: Readonly<Record<keyof Statements, Case>> = {
  lock: { values: [domains, domains], reads: [] },
  unlock: { values: [domains, domains], reads: ['locks_pkey: (second_level_domain = , registrable_domain = )'] },
  findByDomain: {
    values: [domains, "'{.www,.www}'"],
    reads: ['names_pkey: (second_level_domain = , path = )', change],
  },
  findWildcards: {
    values: [domains, "'{.www.a,.www}'", `'{"{0,4}","{0}"}'`],
    reads: ['names_pkey: (second_level_domain = , path = )', change],
  },
  findById: { values: [ids], reads: ['names_by_id: (domain_id = )', change] },
  findBelow: {
    values: ["'{crowd.com}'", "'{.}'", "'{/}'", `'{"{crowd.com}"}'`, "'2'"],
    reads: [below, within, ownWithin],
  },
  insertNames: { values: [ids, domains, "'{.new,.*}'", domains, domains, "'{1,2}'", "'{0,0}'"], reads: [] },
  findTakenIds: { values: [ids], reads: ['names_by_id: (domain_id = )'] },
  findPendingIds: { values: [ids], reads: [changeById] },
  transferNames: { values: [ids, ids, "'2'", '0'], reads: ['names_by_id: (domain_id = )'] },
  deleteNames: { values: [ids], reads: ['names_by_id: (domain_id = )'] },
  listOldest: { values: [id, '1000'], reads: ['names_by_id: (domain_id > )', change] },
  listNewest: { values: [id, '1000'], reads: ['names_by_id: (domain_id < )', change] },
  listOldestOfTeam: {
    values: [id, '1000', "'1'"],
    reads: ['names_of_team: (team_id+domain_id > , team_id+domain_id <= )', change],
  },
  listNewestOfTeam: {
    values: [id, '1000', "'1'"],
    reads: ['names_of_team: (team_id+domain_id < , team_id+domain_id >= )', change],
  },
  listBelow: { values: ["'crowd.com'", "'.'", "'/'", '1000'], reads: [below, change] },
  listBelowOfTeam: { values: ["'crowd.com'", "'.'", "'/'", '1000', "'1'"], reads: [ownWithin, ownBelow, change] },
  count: { values: [], reads: ['any index'] },
  countOfTeam: { values: ["'1'"], reads: ['names_of_team: (team_id = )'] },
  addChanges: {
    values: [domains, ids, domains, domains, "'{0,0}'", "'{1,1}'", kinds, "'{0,0}'", "'{NULL,NULL}'"],
    reads: [],
  },
  follow: { values: [ids, ids], reads: ['changes_following: (follows = )'] },
  lease: { values: [ids, '1'], reads: [changeById] },
  replace: { values: [ids], reads: [changeById] },
  hasten: { values: ["'new'", '3600000'], reads: ['changes_next: (line > , line = , due > )', changeById] },
  findFirst: { values: ["'new'", '1000'], reads: ['changes_next: (line > , line = , due <= )'] },
  free: { values: [ids], reads: ['changes_following: (follows = )', changeById] },
  findShares: {
    values: ["'new'", '1000', "'1'"],
    reads: [
      'changes_next_of_team: (line = , team_id > )',
      'changes_next_of_team: (line = , team_id <= )',
      'changes_next_of_team: (line = , team_id > , team_id <= )',
      'changes_next_of_team: (line = , team_id > , team_id = , due <= )',
    ],
  },
  take: { values: [ids, '90000'], reads: [changeById] },
  finish: { values: [ids, "'registered'"], reads: [changeById, 'changes_following: (follows = )'] },
  hastenReleases: { values: [ids], reads: [changeById] },
  postpone: { values: [ids, kinds, "'{5,5}'", "'{NULL,refused}'", "'{0,1}'"], reads: [changeById] },
  findMonitor: { values: [], reads: ['a whole table'] },
  addMonitor: { values: [], reads: [] },
  retry: { values: [ids], reads: [changeById] },
  findFailed: { values: [id, '1000'], reads: ['changes_pkey: (domain_id > )'] },
  settle: { values: [ids], reads: [changeById] },
  findLongestRefused: { values: [], reads: ['changes_next: (line = )'] },
  countChanges: { values: [], reads: ['a whole table'] },
  listChanges: { values: [id, '1000'], reads: ['changes_pkey: (domain_id > )'] },
}

/**
 * An array parameter with a value for each of 1,000 rows in the large tables. Each row is in a different second-level
 * domain.
 */
const thousand = (toValue: (row: number) => string) =>
  `'{${Array.from({ length: 1000 }, (_, index) => toValue(index + 1))}}'`
const domainOfRow = thousand(row => `n${row}.com`)
const idOfRow = thousand(row => `0fffffff-0000-7000-8000-${row.toString(16).padStart(12, '0')}`)
const kindOfRow = thousand(() => 'registered')
const zeros = thousand(() => '0')

/** The parameters of the statements that read or write a list of rows. */
const ofThousand: Partial<Record<keyof Statements, readonly string[]>> = {
  findByDomain: [domainOfRow, thousand(() => '""')],
  findWildcards: [domainOfRow, thousand(() => '.a'), thousand(() => '"{0}"')],
  findById: [idOfRow],
  deleteNames: [idOfRow],
  unlock: [domainOfRow, domainOfRow],
  lease: [idOfRow, '1'],
  replace: [idOfRow],
  take: [idOfRow, '90000'],
  finish: [idOfRow, "'registered'"],
  hastenReleases: [idOfRow],
  postpone: [idOfRow, kindOfRow, zeros, zeros, zeros],
}
/** To read or write one row, a statement follows one path from the root of each index. */
const MOST_PAGES = 40

const statements = createStatements(toTables({}), postgres)
const opening = `BEGIN; ${toCommands(toSettings(postgres, 60_000, 'read committed'))}`

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Plan[]
}

function statementOf(name: keyof Statements): Statement<unknown> {
  const statement = statements[name]
  return typeof statement === 'function' ? statement(null, [])[0] : statement
}

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)]

/** Returns the plan of a statement. With the option ANALYZE, the statement runs and is rolled back. */
async function explain(
  client: PoolClient,
  name: keyof Statements,
  values: readonly string[],
  options = '',
): Promise<Plan> {
  const { text } = statementOf(name)
  // The token of a change.
  const all = text.includes('$1::text IS NULL') ? ['NULL', ...values] : values
  const given = all.length === 0 ? '' : ` (${all.join(', ')})`
  await client.query(opening)
  try {
    await client.query(`PREPARE explained AS ${text}`)
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON ${options}) EXECUTE explained${given}`)
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.query('ROLLBACK; DEALLOCATE ALL')
  }
}

const scansOf = (plan: Plan) => flatten(plan).filter(each => /Scan/.test(each['Node Type']))

/**
 * Whether a scan looks up every pair of values from two arrays, or from a row and an array, as PostgreSQL before
 * version 17 does. The condition of such a scan contains `= ANY` twice, or compares the same column once with `= ANY`
 * and once with `=`.
 */
function probesPairs({ 'Index Cond': condition = '' }: Plan): boolean {
  const columns = [...condition.matchAll(/\((?:\w+\.)?(\w+) = (ANY)?/g)]
  const arrays = columns.filter(([, , any]) => any)
  return arrays.length > 1 || arrays.some(([, name]) => columns.filter(([, other]) => other === name).length > 1)
}

/**
 * Describes what a scan reads, in the form of {@link Case.reads}. Empty for a scan that reads no table, such as the
 * scan of a function.
 */
function tellRead(plan: Plan): string[] {
  const { 'Index Name': index, 'Relation Name': table, 'Node Type': type, 'Index Cond': condition = '' } = plan
  if (index === undefined) return table === undefined ? [] : [`all of ${table}, by ${type}`]
  // A condition looks like "((name.path > base.after) AND …)". Only columns and operators are kept: "path > ".
  const compared = condition.replaceAll(/ROW\((?:\w+\.)?(\w+), (?:\w+\.)?(\w+)\)/g, '$1+$2')
  const columns = [...compared.matchAll(/\(?\(?(?:\w+\.)?([\w+]+) ([<>]?=|[<>]) /g)].map(
    ([, column, is]) => `${column} ${is} `,
  )
  return [`${index}: (${columns.join(', ')})`]
}

/** The order of the tables matters, because a connection keeps the plan that it made while a table was small. */
const tables: readonly (readonly [what: string, sql: string])[] = [
  ['tables that were never analyzed', 'SELECT'],
  ['tables that were analyzed while they were empty', 'VACUUM ANALYZE'],
  [
    'large tables with the statistics of empty tables',
    `INSERT INTO domain_registration.names
       SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), 'crowd.com', '.n' || n,
         'n' || n || '.crowd.com', 'crowd.com', '1'
       FROM generate_series(1, 50000) AS n;
     INSERT INTO domain_registration.names
       SELECT ('0fffffff-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), 'n' || n || '.com', '',
         'n' || n || '.com', 'n' || n || '.com', (2 + n % 10)::text
       FROM generate_series(1, 50000) AS n;
     INSERT INTO domain_registration.names
       SELECT ('1fffffff-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), 'cloud.com', '.s3.b' || n,
         'b' || n || '.s3.cloud.com', 'b' || n || '.s3.cloud.com', '2'
       FROM generate_series(1, 50000) AS n;
     INSERT INTO domain_registration.changes (domain_id, due, since, refusals, kind, second_level_domain, domain,
         registrable_domain, team_id)
       SELECT domain_id, now(), now(), length(domain) % 2, 'registered', second_level_domain, domain,
         registrable_domain, team_id
       FROM domain_registration.names WHERE right(domain_id::text, 12) < '000000002711';
     INSERT INTO domain_registration.locks
       SELECT DISTINCT second_level_domain, registrable_domain FROM domain_registration.names`,
  ],
  ['large tables', 'ANALYZE'],
]

/** Older versions plan differently. A short run uses only the newest version. */
const installed = isLong ? findInstalledPostgres() : undefined
const servers = [
  ['PostgreSQL 18', () => openDatabase()] as const,
  ...(installed ? [[`PostgreSQL ${installed.version}`, () => startServer([], installed.programs)] as const] : []),
]
if (isLong && !installed) test.skip(NOT_INSTALLED, () => {})

describe.each(servers)('in %s,', (_where, open) => {
  let server: TestServer
  let client: PoolClient
  beforeAll(async () => {
    server = await open()
    const pool = server.createPool()
    await migrate({ database: pool })
    // Autovacuum would analyze the large tables at some moment of this test.
    for (const table of ['names', 'changes', 'locks'])
      await pool.query(`ALTER TABLE domain_registration.${table} SET (autovacuum_enabled = false)`)
    client = await pool.connect()
  })
  afterAll(async () => {
    client.release(true)
    await server.stop()
  })

  describe.each(tables)('on %s', (what, sql) => {
    const isEmpty = what.includes('were empty')

    beforeAll(async () => {
      for (const statement of sql.split(';')) await client.query(statement)
    })

    // Statements without a name are planned anew each time, so for an empty table, they may have any plan.
    const isPlanned = ([name]: readonly [string, Case]) => !isEmpty || statementOf(name as keyof Statements).name !== ''
    const planned = (Object.entries(cases) as [keyof Statements, Case][]).filter(isPlanned)
    test.each(planned)('the statement "%s" uses the expected indexes', async (name, expected) => {
      const scans = scansOf(await explain(client, name, expected.values))
      expect(scans.filter(probesPairs)).toEqual([])
      const reads = new Set(scans.flatMap(tellRead))
      if (expected.reads.includes('any index')) expect([...reads]).toEqual([expect.stringMatching(/^names_\w+: \(\)$/)])
      else if (expected.reads.includes('a whole table')) expect(reads.size).toBe(1)
      else expect([...reads].sort()).toEqual([...expected.reads].sort())
    })

    test.each([
      [
        "SELECT team_id FROM domain_registration.names WHERE second_level_domain = 'a.com' AND path = '.www'",
        'names_pkey',
      ],
      [`SELECT domain FROM domain_registration.names WHERE domain_id = ${id}`, 'names_by_id'],
      [
        "SELECT domain FROM domain_registration.names WHERE team_id = '1' ORDER BY domain_id LIMIT 10",
        'names_(of_team|by_id)',
      ],
    ])('the planner uses an index for %s', async (text, index) => {
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`)
      const plans = flatten(rows[0]['QUERY PLAN'][0].Plan)
      const { rows: counted } = await client.query('SELECT count(*)::integer AS count FROM domain_registration.names')
      // PostgreSQL reads a table of at most one page as a whole.
      if (counted[0].count > 0)
        expect(plans.map(plan => plan['Index Name'])).toContainEqual(expect.stringMatching(`^${index}$`))
    })

    if (what.startsWith('large'))
      test.each(Object.entries(ofThousand))(
        'the statement "%s" visits only a few pages for each of 1,000 rows',
        async (name, values) => {
          const plan = await explain(client, name as keyof Statements, values, ', ANALYZE, BUFFERS')
          const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
          expect(pages).toBeGreaterThan(1000)
          expect(pages).toBeLessThanOrEqual(MOST_PAGES * 1000)
        },
      )
  })

  describe('with fifty thousand names below a wildcard', () => {
    const countRows = (plan: Plan) =>
      flatten(plan)
        .filter(each => each['Relation Name'] === 'names')
        .map(each => ((each['Actual Rows'] ?? 0) + (each['Rows Removed by Filter'] ?? 0)) * (each['Actual Loops'] ?? 0))
        .reduce((sum, rows) => sum + rows, 0)

    test.each([
      ['the same team registered the names', 1003, 'crowd.com', "'1'"],
      ['another team registered the names', 2, 'crowd.com', "'2'"],
      ['another team registered the names, all behind a public suffix', 100, 'cloud.com', "'1'"],
      ['the same team registered the names, all behind a public suffix', 100, 'cloud.com', "'2'"],
    ])('if %s, the statement "findBelow" reads at most %i rows', async (_, limit, base, team) => {
      const [, ...ranges] = cases.findBelow.values.slice(0, 3)
      const values = [`'{${base}}'`, ...ranges, `'{"{${base}}"}'`, team]
      const plan = await explain(client, 'findBelow', values, ', ANALYZE')
      expect(countRows(plan)).toBeGreaterThan(0)
      expect(countRows(plan)).toBeLessThanOrEqual(limit)
    })
  })
})
