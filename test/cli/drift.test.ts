import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../../src/cli/checks.ts'
import { examineTables, readParts } from '../../src/cli/doctor-postgres.ts'
import { examineTables as examineSqliteTables } from '../../src/cli/doctor-sqlite.ts'
import { migrate } from '../../src/postgres/index.ts'
import { sqliteSchema } from '../../src/sqlite/index.ts'
import { findInstalledPostgres, NOT_INSTALLED } from '../postgres/installed.ts'
import { openDatabase, startServer, type TestServer } from '../postgres/server.ts'
import { openDatabase as openFile } from '../sqlite/open-database.ts'

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
  const having = (words: RegExp) => columns.filter(({ definition }) => words.test(definition))
  const isOfKey = ({ table, name }: Part) =>
    ofKind('primary key').some(key => key.table === table && key.definition.includes(name))
  const alter = (some: readonly Part[], toChange: (part: Part) => string) =>
    change(some, (table, part) => `ALTER TABLE ${table} ALTER COLUMN ${part.name} ${toChange(part)}`)
  // The type of a generated column cannot be changed alone.
  const [texts, indexes] = [having(/^\w+ text\b(?!.* GENERATED )/), ofKind('index')]
  const dimension = ({ definition }: Part) => (definition.includes('text[]') ? '[]' : '')
  return {
    'dropped tables': change(
      ofKind('table').filter(({ name }) => name !== 'version'),
      table => `DROP TABLE ${table}`,
    ),
    'unlogged tables': change(ofKind('table'), table => `ALTER TABLE ${table} SET UNLOGGED`),
    'dropped columns': change(columns, (table, { name }) => `ALTER TABLE ${table} DROP COLUMN ${name} CASCADE`),
    'nullable columns': alter(
      having(/ NOT NULL/).filter(part => !isOfKey(part)),
      () => 'DROP NOT NULL',
    ),
    'required columns': alter(having(/^(?!.* NOT NULL)/), () => 'SET NOT NULL'),
    'dropped defaults': alter(having(/ DEFAULT /), () => 'DROP DEFAULT'),
    'narrowed types': alter(texts, part => `TYPE varchar(500)${dimension(part)}`),
    'changed collations': alter(texts, part => `TYPE text${dimension(part)} COLLATE "POSIX"`),
    'dropped constraints': change(
      ofKind('primary key', 'constraint'),
      (table, { name }) => `ALTER TABLE ${table} DROP CONSTRAINT ${name}`,
    ),
    'dropped indexes': change(indexes, (_, { name }) => `DROP INDEX ${SCHEMA}.${name}`),
    'redefined indexes': change(
      indexes,
      (table, { name }) => `DROP INDEX ${SCHEMA}.${name}; CREATE INDEX ${name} ON ${table} ((1))`,
    ),
    'invalid indexes': change(
      indexes,
      (_, { name }) => `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${SCHEMA}.${name}'::regclass`,
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
  ['last_failure', 'ALTER TABLE domain_registration.changes ALTER COLUMN last_failure TYPE varchar(99)'],
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

  async function recreate(): Promise<void> {
    await pool.query('DROP SCHEMA domain_registration CASCADE')
    await migrate({ database: pool })
  }

  test.skipIf(!open)(
    'of what an application added to the tables, doctor notes only what may refuse a row',
    async () => {
      expect(await examine()).toEqual([])
      await pool.query(`ALTER TABLE domain_registration.names ADD COLUMN note text,
        ADD COLUMN kind text NOT NULL DEFAULT 'x';
      CREATE INDEX of_ours ON domain_registration.names (note);
      ALTER TABLE domain_registration.names ADD CHECK (kind <> ''), ADD UNIQUE (domain_id, note);
      ALTER INDEX domain_registration.names_by_id RENAME TO names_by_their_id;
      ALTER INDEX domain_registration.names_of_team SET (fillfactor = 70)`)
      expect((await examine()).map(({ state, finding }) => `${state} ${finding}`)).toEqual([
        'note names: the constraint "names_domain_id_note_key" is not from this package',
        'note names: the constraint "names_kind_check" is not from this package',
      ])
      await recreate()
    },
  )

  test.skipIf(!open)('doctor finds each change to the tables', async () => {
    // Other versions of PostgreSQL could only describe the tables in other words, so a few changes suffice there.
    const all = open === openDatabase ? toChanges(await readParts(pool, SCHEMA)) : {}
    for (const [kind, changes] of [...Object.entries(all), ['other changes', otherChanges] as const]) {
      for (const [, sql] of changes) await pool.query(sql)
      const found = await examine()
      const missed = changes.filter(([name]) => !found.some(({ finding }) => finding.includes(`"${name}"`)))
      expect([kind, changes.length > 0, missed]).toEqual([kind, true, []])
      await recreate()
    }
  })

  test.skipIf(!open)('doctor says what a different part is, and what it should be', async () => {
    await pool.query('ALTER TABLE domain_registration.names ALTER COLUMN path TYPE varchar(9) COLLATE "POSIX"')
    expect(await examine()).toContainEqual(
      expect.objectContaining({
        state: 'wrong',
        finding:
          'names: the column "path" differs: path character varying(9) COLLATE "POSIX" NOT NULL; ' +
          'expected: path text COLLATE "C" NOT NULL',
        advice: expect.stringContaining('migrate --print'),
      }),
    )
    await recreate()
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
      // A line that is indented further belongs to the column before it.
      columns.split(/\n(?! {3}| {2}PRIMARY)/).flatMap(line => [
        [
          `the column "${nameOf(line)}" of ${name} was renamed`,
          replaced(name, statement.replaceAll(new RegExp(`\\b${nameOf(line)}\\b`, 'g'), 'other')),
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

  const examine = (database: Parameters<typeof examineSqliteTables>[0]) =>
    examineSqliteTables(database, openFile()).filter(({ state }) => state !== 'ok')

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

  // Without its column or its row, the version of the tables is unknown.
  test.each(Object.entries(changes).filter(([change]) => !/version was dropped|"version"/.test(change)))(
    'doctor finds that %s',
    (_, sql) => {
      const { database, examine } = open()
      database.exec(sql)
      expect(examine()).toContainEqual(expect.objectContaining({ state: 'wrong' }))
    },
  )
})
