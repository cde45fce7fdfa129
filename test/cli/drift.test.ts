import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../../src/cli/checks.ts'
import { examineTables, readParts } from '../../src/cli/doctor-postgres.ts'
import { findSqliteDrift } from '../../src/cli/doctor-sqlite.ts'
import { migrate } from '../../src/postgres/index.ts'
import { sqliteSchema } from '../../src/sqlite/index.ts'
import { findInstalledPostgres, NOT_INSTALLED } from '../postgres/installed.ts'
import { openDatabase, startServer, type TestServer } from '../postgres/server.ts'
import { openDatabase as openFile, type TestDatabase } from '../sqlite/open-database.ts'

const SCHEMA = 'domain_registration'
type Part = Awaited<ReturnType<typeof readParts>>[number]
type Change = readonly [name: string, sql: string]

/** Changes of each kind, to every part of the tables that can change so. */
function toChanges(parts: readonly Part[]): Readonly<Record<string, readonly Change[]>> {
  const ofKind = (...kinds: string[]) => parts.filter(({ kind }) => kinds.includes(kind))
  const change = (some: readonly Part[], toSql: (table: string, part: Part) => string) =>
    some.map((part): Change => [part.name, toSql(`${SCHEMA}.${part.table}`, part)])
  // Without its column or its row, the version of the tables is unknown.
  const columns = ofKind('column').filter(({ table }) => table !== 'version')
  const having = (facet: RegExp) => columns.filter(({ facets }) => facets?.some(each => facet.test(each)))
  const isOfKey = ({ table, name }: Part) =>
    ofKind('primary key').some(key => key.table === table && key.definition.includes(name))
  const alter = (some: readonly Part[], toChange: (part: Part) => string) =>
    change(some, (table, part) => `ALTER TABLE ${table} ALTER COLUMN ${part.id} ${toChange(part)}`)
  const [texts, indexes] = [having(/^TYPE text/), ofKind('index')]
  return {
    'dropped tables': change(
      ofKind('table').filter(({ name }) => name !== 'version'),
      table => `DROP TABLE ${table}`,
    ),
    'dropped columns': change(
      columns,
      (table, { id }) => `TRUNCATE ${table}; ALTER TABLE ${table} DROP COLUMN ${id} CASCADE`,
    ),
    'nullable columns': alter(
      having(/^SET NOT NULL/).filter(part => !isOfKey(part)),
      () => 'DROP NOT NULL',
    ),
    'required columns': alter(having(/^DROP NOT NULL/), () => 'SET NOT NULL'),
    'dropped defaults': alter(having(/^SET DEFAULT/), () => 'DROP DEFAULT'),
    'narrowed types': alter(texts, ({ facets }) => `TYPE varchar(500)${facets?.[0]?.endsWith(']') ? '[]' : ''}`),
    'changed collations': alter(texts, ({ facets }) => `${facets?.[0]?.split(' COLLATE')[0]} COLLATE "POSIX"`),
    'dropped constraints': change(
      ofKind('primary key', 'constraint'),
      (table, { id }) => `ALTER TABLE ${table} DROP CONSTRAINT ${id}`,
    ),
    'dropped indexes': change(indexes, (_, { id }) => `DROP INDEX ${SCHEMA}.${id}`),
    'redefined indexes': change(
      indexes,
      (table, { id }) => `DROP INDEX ${SCHEMA}.${id}; CREATE INDEX ${id} ON ${table} ((1))`,
    ),
    'invalid indexes': change(
      indexes,
      (_, { id }) => `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${SCHEMA}.${id}'::regclass`,
    ),
  }
}

/** Changes that no catalog suggests. */
const otherChanges: readonly Change[] = [
  [
    'names_pkey', // moved to other columns
    'ALTER TABLE domain_registration.names DROP CONSTRAINT names_pkey; ' +
      'ALTER TABLE domain_registration.names ADD CONSTRAINT other PRIMARY KEY (path, second_level_domain)',
  ],
  [
    'names_within', // with another condition
    'DROP INDEX domain_registration.names_within; ' +
      'CREATE INDEX names_within ON domain_registration.names (registrable_domain, path) WHERE path = domain',
  ],
  [
    'changes_kind_check',
    'ALTER TABLE domain_registration.changes DROP CONSTRAINT changes_kind_check; ' +
      "ALTER TABLE domain_registration.changes ADD CONSTRAINT changes_kind_check CHECK (kind IN ('registered'))",
  ],
  ['refusals', 'ALTER TABLE domain_registration.changes ALTER COLUMN refusals TYPE bigint'],
]

const installed = findInstalledPostgres()
const servers: readonly [string, (() => Promise<TestServer>) | undefined][] = [
  ['PostgreSQL 18', openDatabase],
  [
    installed ? `PostgreSQL ${installed.version}` : NOT_INSTALLED,
    installed && (() => startServer([], installed.programs)),
  ],
]

describe.each(servers)('on %s', (_, open) => {
  let server: TestServer
  let pool: ReturnType<TestServer['createPool']>
  beforeAll(async () => {
    if (!open) return
    server = await open()
    pool = server.createPool()
    await migrate({ database: pool })
  })
  afterAll(() => server?.stop())

  async function examine(): Promise<Finding[]> {
    const client = await pool.connect()
    try {
      const findings = await examineTables(client, SCHEMA, false)
      return findings.filter(({ state }) => state !== 'ok')
    } finally {
      client.release()
    }
  }

  const repair = async (findings: readonly Finding[]) => {
    for (const statement of findings.flatMap(({ sql = [] }) => sql)) await pool.query(statement)
  }

  test.skipIf(!open)('doctor does not report what an application added to the tables', async () => {
    expect(await examine()).toEqual([])
    await pool.query(`ALTER TABLE domain_registration.names ADD COLUMN note text,
        ADD COLUMN kind text NOT NULL DEFAULT 'x';
      CREATE INDEX of_ours ON domain_registration.names (note);
      ALTER TABLE domain_registration.names ADD CHECK (kind <> ''), ADD UNIQUE (domain_id, note);
      ALTER INDEX domain_registration.names_by_id RENAME TO names_by_their_id;
      ALTER INDEX domain_registration.names_of_team SET (fillfactor = 70)`)
    expect(await examine()).toEqual([])
    await pool.query('DROP SCHEMA domain_registration CASCADE')
    await migrate({ database: pool })
  })

  test.skipIf(!open)('doctor finds each change to the tables, and prints SQL that repairs it', async () => {
    // Other versions of PostgreSQL could only describe the tables in other words, so a few changes suffice there.
    const all = open === openDatabase ? toChanges(await readParts(pool, SCHEMA)) : {}
    for (const [kind, changes] of [...Object.entries(all), ['other changes', otherChanges] as const]) {
      for (const [, sql] of changes) await pool.query(sql)
      const found = await examine()
      const missed = changes.filter(([name]) => !found.some(({ finding }) => finding.includes(`"${name}"`)))
      expect([kind, changes.length > 0, missed]).toEqual([kind, true, []])
      await repair(found)
      expect([kind, await examine()]).toEqual([kind, []])
    }
  })

  test.skipIf(!open)('doctor notes an invalid index that REINDEX CONCURRENTLY left, and drops it', async () => {
    await pool.query(`CREATE UNIQUE INDEX names_by_id_ccnew ON domain_registration.names (domain_id);
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'domain_registration.names_by_id_ccnew'::regclass`)
    const found = await examine()
    expect(found).toMatchObject([{ state: 'note', finding: expect.stringContaining('"names_by_id_ccnew" is invalid') }])
    await repair(found)
    expect(await examine()).toEqual([])
    const { rows } = await pool.query(`SELECT to_regclass('domain_registration.names_by_id_ccnew') AS left`)
    expect(rows).toEqual([{ left: null }])
  })
})

describe('on SQLite', () => {
  const parts = [...sqliteSchema().matchAll(/^CREATE (?:UNIQUE )?(TABLE|INDEX) IF NOT EXISTS (\w+)/gm)]
  const statements = [...sqliteSchema().matchAll(/^CREATE TABLE IF NOT EXISTS (\w+) \(\n(.*?)\n\)[^;]*/gms)]
  const nameOf = (line: string) => line.trim().split(' ')[0] ?? ''
  const replaced = (name: string, statement: string) => `DROP TABLE ${name}; ${statement}`
  const changes: Readonly<Record<string, string>> = Object.fromEntries([
    ...parts.map(([, type, name = '']) => [`the ${type?.toLowerCase()} ${name} was dropped`, `DROP ${type} ${name}`]),
    ...statements.flatMap(([statement, name = '', columns = '']) =>
      columns.split('\n').flatMap(line => [
        [
          `the column "${nameOf(line)}" of ${name} was renamed`,
          replaced(name, statement.replace(line, line.replaceAll(new RegExp(`\\b${nameOf(line)}\\b`, 'g'), 'other'))),
        ],
        [
          `the type of the column "${nameOf(line)}" of ${name} was changed`,
          replaced(name, statement.replace(line, line.replace(/INTEGER|TEXT/, 'ANY'))),
        ],
      ]),
    ),
    ...statements.map(([statement, name = '']) => [
      `${name} is not STRICT`,
      replaced(name, statement.replace('STRICT', '')),
    ]),
    [
      'the condition of an index was changed',
      'DROP INDEX domain_registration_names_within; CREATE INDEX domain_registration_names_within ' +
        "ON domain_registration_names (registrable_domain, path) WHERE path <> ''",
    ],
  ])

  function examine(database: TestDatabase): Finding[] {
    const model = openFile()
    const findings = [...findSqliteDrift(database, model)]
    model.close()
    return findings
  }

  function open() {
    const database = openFile()
    onTestFinished(() => void database.close())
    database.exec(sqliteSchema())
    return { database, examine: () => examine(database) }
  }

  test('doctor finds no difference in tables that stores created, and ignores other tables of the application', () => {
    const { database, examine } = open()
    database.exec('CREATE TABLE of_ours (a); CREATE INDEX of_ours_a ON of_ours (a)')
    expect(examine()).toEqual([])
  })

  test.each(Object.entries(changes))('doctor finds that %s, and prints SQL that repairs it', (_, sql) => {
    const { database, examine } = open()
    database.exec(sql)
    const found = examine()
    expect(found.length).toBeGreaterThan(0)
    for (const statement of found.flatMap(({ sql = [] }) => sql)) database.exec(statement)
    expect(examine()).toEqual([])
  })

  test("the SQL that recreates a table keeps its rows, and copies the application's columns to another table", () => {
    const { database, examine } = open()
    database.exec(`INSERT INTO domain_registration_keys (hash, type, owner_id, scopes, created_at)
      VALUES ('a', 'team', '1', '[]', 0); ALTER TABLE domain_registration_keys ADD COLUMN note TEXT DEFAULT 'ours'`)
    for (const statement of examine().flatMap(({ sql = [] }) => sql)) database.exec(statement)
    expect(examine()).toEqual([])
    const select = (table: string) => database.prepare(`SELECT * FROM ${table}`).all()
    expect(select('domain_registration_keys')).toMatchObject([{ hash: 'a', owner_id: '1' }])
    expect(select('domain_registration_keys_before')).toMatchObject([{ hash: 'a', note: 'ours' }])
  })
})
