import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { examineTables, readTables } from '../../src/cli/doctor-postgres.ts'
import { findSqliteDrift } from '../../src/cli/doctor-sqlite.ts'
import type { Finding } from '../../src/cli/finding.ts'
import { migrate } from '../../src/postgres/index.ts'
import { sqliteSchema } from '../../src/sqlite/index.ts'
import { findInstalledPostgres, NOT_INSTALLED } from '../postgres/installed.ts'
import { openDatabase, startServer, type TestServer } from '../postgres/server.ts'
import { openDatabase as openFile, type TestDatabase } from '../sqlite/open-database.ts'

const SCHEMA = 'domain_registration'
type Tables = Awaited<ReturnType<typeof readTables>>

/** SQL that changes one thing in the tables, with a description of the result. */
function toChanges(tables: Tables): (readonly [description: string, sql: string])[] {
  return tables.flatMap(({ name, columns, constraints, indexes }) => {
    const table = `${SCHEMA}.${name}`
    const keys = constraints.map(({ definition }) => definition).filter(text => text.startsWith('PRIMARY KEY'))
    const ofColumns = columns.flatMap(({ name: column, type, isRequired, default: preset }) => {
      const alter = `ALTER TABLE ${table} ALTER COLUMN ${column}`
      const isOfKey = keys.some(key => key.includes(column))
      return [
        [
          `the column ${name}.${column} was dropped`,
          `TRUNCATE ${table}; ALTER TABLE ${table} DROP COLUMN ${column} CASCADE`,
        ],
        ...(isRequired && !isOfKey ? [[`${name}.${column} is nullable`, `${alter} DROP NOT NULL`]] : []),
        ...(isRequired ? [] : [[`${name}.${column} is NOT NULL`, `${alter} SET NOT NULL`]]),
        ...(preset === null ? [] : [[`the default of ${name}.${column} was dropped`, `${alter} DROP DEFAULT`]]),
        ...(type.startsWith('text')
          ? [
              [
                `the type of ${name}.${column} was narrowed`,
                `${alter} TYPE varchar(500)${type.endsWith(']') ? '[]' : ''}`,
              ],
              [`the collation of ${name}.${column} was changed`, `${alter} TYPE ${type.split(' ')[0]} COLLATE "POSIX"`],
            ]
          : []),
      ]
    })
    const ofIndexes = indexes
      .filter(({ isPrimary }) => !isPrimary)
      .flatMap(({ name: index }) => [
        [`the index ${index} was dropped`, `DROP INDEX ${SCHEMA}.${index}`],
        [`the index ${index} was redefined`, `DROP INDEX ${SCHEMA}.${index}; CREATE INDEX ${index} ON ${table} ((1))`],
        [
          `the index ${index} is invalid`,
          `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${SCHEMA}.${index}'::regclass`,
        ],
      ])
    return [
      [`the table ${name} was dropped`, `DROP TABLE ${table}`],
      ...ofColumns,
      ...constraints.map(({ name: constraint }) => [
        `the constraint ${constraint} was dropped`,
        `ALTER TABLE ${table} DROP CONSTRAINT ${constraint}`,
      ]),
      ...ofIndexes,
    ] as [string, string][]
  })
}

/** Changes that no catalog suggests. */
const otherChanges: readonly (readonly [string, string])[] = [
  [
    'a primary key was moved to other columns',
    'ALTER TABLE domain_registration.names DROP CONSTRAINT names_pkey; ' +
      'ALTER TABLE domain_registration.names ADD CONSTRAINT other PRIMARY KEY (path, second_level_domain)',
  ],
  [
    'the condition of an index was changed',
    'DROP INDEX domain_registration.names_within; ' +
      'CREATE INDEX names_within ON domain_registration.names (registrable_domain, path) WHERE path = domain',
  ],
  [
    'a check constraint was changed',
    'ALTER TABLE domain_registration.changes DROP CONSTRAINT changes_kind_check; ' +
      "ALTER TABLE domain_registration.changes ADD CONSTRAINT changes_kind_check CHECK (kind IN ('registered'))",
  ],
  ['the type of a column was changed', 'ALTER TABLE domain_registration.changes ALTER COLUMN refusals TYPE bigint'],
  [
    'a required column without a default was added',
    'ALTER TABLE domain_registration.names ADD COLUMN "of Ann" text NOT NULL',
  ],
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
      const findings = await examineTables(client, SCHEMA, { mayRead: false, isDistributed: false })
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

  test.skipIf(!open)(
    'doctor finds each change to the tables, and prints SQL that repairs it',
    async () => {
      // Other versions of PostgreSQL could only describe the tables in other words, so a few changes suffice there.
      const isMain = open === openDatabase
      const changes = isMain ? [...toChanges(await readTables(pool, SCHEMA)), ...otherChanges] : otherChanges
      expect(changes.length).toBeGreaterThan(isMain ? 100 : 4)
      for (const [description, sql] of changes) {
        await pool.query(sql)
        const found = await examine()
        expect([description, found.length]).not.toEqual([description, 0])
        await repair(found)
      }
      expect(await examine()).toEqual([])
    },
    120_000,
  )

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
