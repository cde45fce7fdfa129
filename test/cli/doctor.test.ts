import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { examineSuffixList } from '../../src/cli/doctor.ts'
import { needed } from '../../src/cli/doctor-postgres.ts'
import { knownSuffixList } from '../../src/hostname/suffix-list-version.ts'
import { findOwners, generateApiKey, importDomains, registerDomains, transfer } from '../../src/index.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  createPostgresWaitingStore,
  migrate,
} from '../../src/postgres/index.ts'
import type { Registration } from '../../src/rules/registration.ts'
import { createUuidGenerator } from '../../src/store/index.ts'
import { startServer } from '../postgres/server.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { waitFor } from '../wait-for.ts'
import { createPostgresWithTables, createSqlite, sqliteName, type TestDatabase } from './databases.ts'
import { type RunOptions, run, sqliteEngine, toUrl } from './program.ts'

/**
 * Causes a fault in a database that has tables and one pending change. Returns the options with which doctor is then
 * run.
 */
type Plant = (database: TestDatabase) => Promise<RunOptions | undefined>

interface Fault {
  readonly plant: Plant
  /** The check that finds the fault. */
  readonly check: string
  readonly state?: 'note'
  /** A pattern that doctor's finding must match. */
  readonly finding: RegExp
  readonly advice: RegExp
}

const sql =
  (statement: string): Plant =>
  async ({ execute }) => {
    await execute(statement)
    return undefined
  }

/** Changes a setting of the database for new sessions. */
const alter = (setting: string) =>
  sql(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting}', current_database()); END $$`)

const callAt =
  (toUrl: (database: TestDatabase) => string): Plant =>
  async database => ({ env: { DATABASE_URL: toUrl(database) } })

const migrateFirst = /domain-registration migrate/
const fixFirst = /Fix this first/

/** Changes the version that is recorded in the tables, in PostgreSQL or SQLite. */
const faultsOfTables = (version: string, aging: string, late: string): Record<string, Fault> => ({
  'that the tables are older than the package': {
    plant: sql(`DELETE FROM ${version}`),
    check: 'tables',
    finding: /^version 0, but this package needs version \d/,
    advice: migrateFirst,
  },
  'that the tables are newer than the package': {
    plant: sql(`INSERT INTO ${version} VALUES (99)`),
    check: 'tables',
    finding: /^version 99/,
    advice: /Install the newer version/,
  },
  'that a change has been pending for hours': {
    plant: sql(aging),
    check: 'pending',
    finding: /^2 changes, 1 refused, the oldest since [^;]+; refused longest: www\.example\.com of team 1, .* offline/,
    advice: /domain-registration pending/,
  },
  'that nothing retries names that wait': {
    plant: sql(late),
    check: 'waiting',
    finding: /^1 name waits, one has been due for 120 minutes$/,
    advice: /startRetrying/,
  },
})

const faultsOfPostgres: Record<string, Fault> = {
  ...faultsOfTables(
    'domain_registration.version',
    `UPDATE domain_registration.changes SET since = since - interval '2 hours'`,
    `INSERT INTO domain_registration.waiting
     SELECT '1', 'a.com', 'a.com', at, at, at, at, 0, '{}' FROM (SELECT now() - interval '2 hours') AS late (at)`,
  ),
  'that there are no tables': {
    plant: sql('DROP SCHEMA domain_registration CASCADE'),
    check: 'tables',
    finding: /^missing: the schema "domain_registration" contains none/,
    advice: migrateFirst,
  },
  'that one table is missing': {
    plant: sql('DROP TABLE domain_registration.locks'),
    check: 'tables',
    finding: /^the table "locks" is missing/,
    advice: /^Restore a backup/,
  },
  'that transactions are read-only': {
    plant: alter('default_transaction_read_only = on'),
    check: 'writing',
    finding: /read-only transaction/,
    advice: /default_transaction_read_only = off/,
  },
  'that an added column makes every insert fail': {
    plant: sql('ALTER TABLE domain_registration.keys ADD COLUMN of_ours text NOT NULL'),
    check: 'writing',
    finding: /null value in column "of_ours"/,
    advice: fixFirst,
  },
  'that no server listens': {
    plant: callAt(() => 'postgres://me:secret-word@127.0.0.1:1/none'),
    check: 'connection',
    finding: /ECONNREFUSED/,
    advice: /Start the database/,
  },
  'that the password is wrong': {
    plant: callAt(({ address }) => address.replace(/:[^:@/]*@/, ':secret-word@')),
    check: 'connection',
    finding: /authentication failed/,
    advice: /Fix the password in the address, and run doctor again/,
  },
}

const faultsOfSqlite: Record<string, Fault> = {
  ...faultsOfTables(
    'domain_registration_version',
    'UPDATE domain_registration_changes SET since = since - 7200000',
    `INSERT INTO domain_registration_waiting
     SELECT '1', 'a.com', 'a.com', at, at, at, at, 0, '{}' FROM (SELECT 1000 * unixepoch() - 7200000 AS at)`,
  ),
  'that the file is missing': {
    plant: callAt(() => 'typo.db'),
    check: 'connection',
    finding: /there is no file "typo\.db"/,
    advice: /^Check the path\. .* migrate --database typo\.db"$/,
  },
  'that there are no tables': {
    plant: sql('DROP TABLE domain_registration_version'),
    check: 'tables',
    finding: /^missing$/,
    advice: /^Check the path\. .* migrate --database registrations\.db"$/,
  },
  'that the file is not a database': {
    plant: async ({ address }) => void writeFileSync(address, 'no database '.repeat(1000)),
    check: 'connection',
    finding: /is not a SQLite database/,
    advice: fixFirst,
  },
  'that another process has locked the file': {
    async plant({ address }) {
      const handle = openDatabase(address)
      onTestFinished(() => handle.close())
      handle.exec('BEGIN IMMEDIATE')
      return undefined
    },
    // Some drivers cannot even read a locked file.
    check: expect.stringMatching(/^(?:writing|connection)$/),
    finding: /held the write lock/,
    advice: fixFirst,
  },
}

type Finding = Report['findings'][number]

interface Report {
  readonly healthy: boolean
  readonly findings: readonly {
    check: string
    state: string
    finding: string
    advice?: string
    sql?: readonly string[]
  }[]
}

async function examine(database: TestDatabase, options?: RunOptions) {
  const { code, stdout, stderr } = await database.run(['doctor', '--json'], options)
  expect(stderr).toBe('')
  expect(stdout).not.toContain('secret-word')
  const { healthy, findings } = JSON.parse(stdout) as Report
  // The results of these checks depend on the date and on the pending change, so each check has its own test.
  const isSteady = ({ check, state }: Finding) => state === 'wrong' || !/^(?:suffix list|pending)$/.test(check)
  const faults = findings.filter(isSteady).filter(({ state }) => state !== 'ok')
  return {
    ...{ code, healthy, faults: faults.map(({ sql: _, ...fault }) => fault) },
    sql: faults.flatMap(({ sql = [] }) => sql),
  }
}

/** A database for one test, with a refused registration and a pending release. */
async function open(create: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await create()
  onTestFinished(() => database.close())
  await database.withStore(async store => {
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
    for (const domain of ['www.example.com', 'www.example.org'])
      await registerDomains(keyContext, { domains: [domain] }, store).catch(() => {})
    await store.release('1', ['www.example.org'])
  })
  return database
}

describe.each([
  ['PostgreSQL', createPostgresWithTables],
  [sqliteName, createSqlite],
] as const)('on %s', (name, create) => {
  test('doctor reports nothing if nothing is wrong', async () => {
    expect(await examine(await open(create))).toEqual({ code: 0, healthy: true, faults: [], sql: [] })
  })

  const faults = name === 'PostgreSQL' ? faultsOfPostgres : faultsOfSqlite
  test.each(Object.entries(faults))(
    'doctor finds %s',
    async (_, { plant, check, state = 'wrong', finding, advice }) => {
      const database = await open(create)
      expect(await examine(database, await plant(database))).toMatchObject({
        ...(state === 'note' ? { code: 0, healthy: true } : { code: 1, healthy: false }),
        faults: [{ check, state, finding: expect.stringMatching(finding), advice: expect.stringMatching(advice) }],
      })
    },
  )
})

test("doctor notes the monitor's error if a change has just failed, and does not report it as a fault", async () => {
  const { code, stdout } = await (await open(createPostgresWithTables)).run(['doctor'])
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/\nnote +pending +2 changes, .*: The monitor is offline\n +->/),
  ])
  expect(stdout).toContain('\n\nNothing is wrong, but see ')
})

/** Kinds of damage to a file of SQLite, which has pages of 4,096 bytes. */
const damage: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is cut in half': bytes => bytes.subarray(0, Math.floor(bytes.length / 8192) * 4096),
  'has a page of zeros': bytes => bytes.fill(0, pageOf(bytes), pageOf(bytes) + 4096),
  'has a page of noise': bytes => bytes.fill('noise', pageOf(bytes), pageOf(bytes) + 4096),
  'has a page in place of another': bytes => {
    bytes.copy(bytes, pageOf(bytes), 0, 4096)
    return bytes
  },
  'has an index that differs from its table': bytes => {
    bytes.write('www.example.con', bytes.indexOf('www.example.com', pageOf(bytes)))
    return bytes
  },
  'has a wrong pointer to a row': bytes => {
    bytes.writeUInt16BE(2, pageOf(bytes) + 8)
    return bytes
  },
}

/** Where the second page with rows begins, the one of an index: the other checks of doctor read only the tables. */
function pageOf(bytes: Buffer): number {
  const first = bytes.indexOf('www.example.com')
  const at = bytes.indexOf('www.example.com', first - (first % 4096) + 4096)
  return at - (at % 4096)
}

test.each(Object.entries(damage))('doctor finds that a file of SQLite %s', async (_, spoil) => {
  const database = await open(createSqlite)
  // Moves the log into the file.
  await database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  writeFileSync(database.address, spoil(readFileSync(database.address)))
  rmSync(`${database.address}-wal`, { force: true })
  const { code, stdout } = await database.run(['doctor', '--json'])
  const faults = (JSON.parse(stdout) as Report).findings.filter(({ state }) => state === 'wrong')
  expect([code, faults]).toEqual([
    1,
    [expect.objectContaining({ finding: expect.stringMatching(/damaged|malformed/) })],
  ])
})

test('if a restore lost a primary key, doctor says what is missing, and names the page that helps', async () => {
  const database = await open(createPostgresWithTables)
  await database.execute('ALTER TABLE domain_registration.locks DROP CONSTRAINT locks_pkey')
  const { code, stdout } = await database.run(['doctor'])
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining(
      'locks: the primary key "locks_pkey" is missing; expected: PRIMARY KEY (second_level_domain, ',
    ),
  ])
  expect(stdout).toMatch(/\n1 thing is wrong\. See "tables" in node_modules\/domain-registration\/docs\/runbook\.md\n$/)
})

const tables = 'domain_registration'

/** SQL that creates a trigger. */
const trigger = (when: string, table: string, body: string) => `
  CREATE FUNCTION of_ours() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; END $$;
  CREATE TRIGGER of_ours BEFORE ${when} ON ${tables}.${table} FOR EACH ROW EXECUTE FUNCTION of_ours()`

const seesTrigger = (table: string, kind = 'trigger') => `note ${table}: the ${kind} "of_ours" is not from this package`
const ofTeam = `${tables}.names ADD CONSTRAINT of_ours`

/** What an application may add to its tables in PostgreSQL, and what doctor finds then. */
const additions: Readonly<Record<string, readonly [sql: string, findings: readonly string[]]>> = {
  'a trigger that returns each row': [trigger('INSERT', 'names', 'RETURN NEW'), [seesTrigger('names')]],
  'a trigger that skips new rows': [
    trigger('INSERT', 'keys', 'RETURN NULL'),
    [
      seesTrigger('keys'),
      'wrong INSERT INTO "domain_registration".keys has no effect: a trigger or a rule skips the row',
    ],
  ],
  'a trigger that skips changes': [
    trigger('UPDATE', 'changes', 'RETURN NULL'),
    [
      seesTrigger('changes'),
      'wrong UPDATE "domain_registration".changes has no effect: a trigger or a rule skips the row',
    ],
  ],
  'a trigger that refuses deletes': [
    trigger('DELETE', 'names', "RAISE EXCEPTION 'nothing is deleted here'"),
    [seesTrigger('names'), 'wrong nothing is deleted here'],
  ],
  'a trigger that is disabled': [
    `${trigger('DELETE', 'names', 'RETURN NULL')}; ALTER TABLE ${tables}.names DISABLE TRIGGER of_ours`,
    [],
  ],
  'a rule that skips deletions': [
    `CREATE RULE of_ours AS ON DELETE TO ${tables}.names DO INSTEAD NOTHING`,
    [
      seesTrigger('names', 'rule'),
      'wrong DELETE FROM "domain_registration".names has no effect: a trigger or a rule skips the row',
    ],
  ],
  'a foreign key that its teams satisfy': [
    `CREATE TABLE teams (id text PRIMARY KEY); INSERT INTO teams VALUES ('1');
     ALTER TABLE ${ofTeam} FOREIGN KEY (team_id) REFERENCES teams`,
    [],
  ],
  'a foreign key before there is any team': [
    `TRUNCATE ${tables}.names; CREATE TABLE teams (id text PRIMARY KEY);
     ALTER TABLE ${ofTeam} FOREIGN KEY (team_id) REFERENCES teams`,
    [expect.stringMatching(/^note your application refuses a trial row: .* violates foreign key constraint "of_ours"/)],
  ],
  'a check of team IDs before there is any team': [
    `TRUNCATE ${tables}.names; ALTER TABLE ${ofTeam} CHECK (team_id ~ '^[0-9]+$')`,
    [
      seesTrigger('names', 'constraint'),
      expect.stringMatching(/^note your application refuses a trial row: .* violates check constraint "of_ours"/),
    ],
  ],
  'a trigger that refuses unknown teams before there is any team': [
    `TRUNCATE ${tables}.names; ${trigger('INSERT', 'names', "RAISE EXCEPTION 'no such team'")}`,
    [seesTrigger('names'), 'note your application refuses a trial row: no such team'],
  ],
  'a unique constraint, a unique index, a check and an exclusion': [
    `ALTER TABLE ${tables}.names ADD CONSTRAINT one_each UNIQUE (team_id, path);
     CREATE UNIQUE INDEX one_of_all ON ${tables}.names (domain);
     ALTER TABLE ${tables}.changes ADD CONSTRAINT short CHECK (length(domain) < 100);
     ALTER TABLE ${tables}.keys ADD CONSTRAINT alone EXCLUDE (owner_id WITH =)`,
    [
      'note changes: the constraint "short" is not from this package',
      'note keys: the constraint "alone" is not from this package',
      'note names: the constraint "one_each" is not from this package',
      'note names: the index "one_of_all" is not from this package',
    ],
  ],
  'a trigger that refuses at the commit': [
    `${trigger('INSERT', 'names', "RAISE EXCEPTION 'not at the commit'")
      .replace('CREATE TRIGGER of_ours BEFORE INSERT', 'CREATE CONSTRAINT TRIGGER of_ours AFTER INSERT')
      .replace('FOR EACH ROW', 'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW')}`,
    [seesTrigger('names'), 'wrong not at the commit'],
  ],
  'a server older than the oldest on which this package is tested': [
    // Stands for such a server: its version, as the doctor asks for it.
    `CREATE SCHEMA old;
     CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql
       AS $$ SELECT CASE $1 WHEN 'server_version_num' THEN '140015' ELSE pg_catalog.current_setting($1) END $$;
     DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = old, pg_catalog', current_database()); END $$`,
    [expect.stringMatching(/^note PostgreSQL .+, on which this package is not tested$/)],
  ],
}

test.each(Object.entries(additions))('with %s, doctor says what is true', async (_, [sql, expected]) => {
  const database = await open(createPostgresWithTables)
  await database.execute(sql)
  const { code, faults } = await examine(database)
  expect(faults.map(({ state, finding }) => `${state} ${finding}`)).toEqual(expected)
  expect(code).toBe(faults.some(({ state }) => state === 'wrong') ? 1 : 0)
})

test.each([
  ['INSERT', 'domain_registration_keys', 'IGNORE', 'INSERT INTO domain_registration_keys has no effect: '],
  ['UPDATE', 'domain_registration_changes', 'IGNORE', 'UPDATE domain_registration_changes has no effect: '],
  ['DELETE', 'domain_registration_names', "ABORT, 'not here'", 'not here'],
])('doctor finds a trigger in SQLite that lets no %s into %s (RAISE %s)', async (event, table, raise, finding) => {
  const database = await open(createSqlite)
  await database.execute(`CREATE TRIGGER of_ours BEFORE ${event} ON ${table} BEGIN SELECT RAISE(${raise}); END`)
  const { code, faults } = await examine(database)
  expect([code, faults]).toMatchObject([
    1,
    [
      { state: 'note', finding: `${table}: the trigger "of_ours" is not from this package` },
      { state: 'wrong', check: 'writing', finding: expect.stringContaining(finding) },
    ],
  ])
})

test('doctor finds that each commit waits for a synchronous standby that is not there', async () => {
  const server = await startServer()
  onTestFinished(() => server.stop())
  const pool = server.createPool()
  await migrate({ database: pool })
  await pool.query("ALTER SYSTEM SET synchronous_standby_names = 'away'")
  await pool.query('SELECT pg_reload_conf()')
  await waitFor(async () => {
    const { rows } = await server.createPool().query('SHOW synchronous_standby_names')
    expect(rows).toEqual([{ synchronous_standby_names: 'away' }])
  })
  const { code, stdout } = await run(['doctor', '--json'], { env: { DATABASE_URL: toUrl(server.config) } })
  const wrong = (JSON.parse(stdout) as Report).findings.filter(({ state }) => state === 'wrong')
  expect([code, wrong]).toEqual([
    1,
    [
      {
        state: 'wrong',
        check: 'writing',
        finding: 'each commit waits for a synchronous standby that does not respond: away',
        advice: 'Start the standby, or remove it from synchronous_standby_names',
      },
    ],
  ])
})

// The build for WebAssembly cannot wait, and no test can release the lock while this process waits.
const waits = !sqliteEngine.startsWith('node-sqlite3-wasm')

test.skipIf(!waits)(
  `doctor waits a second for the lock of a SQLite file${waits ? '' : ' (skipped on Node 20)'}`,
  async () => {
    const database = await open(createSqlite)
    const handle = openDatabase(database.address)
    onTestFinished(() => handle.close())
    handle.exec('BEGIN IMMEDIATE')
    const begun = performance.now()
    expect(await examine(database)).toMatchObject({
      faults: [{ finding: expect.stringMatching(/held the write lock/) }],
    })
    expect(performance.now() - begun).toBeGreaterThan(990)
  },
)

describe('a PostgreSQL role', () => {
  /** A role that may log in and read the catalogs. After the test, the role and its privileges are removed. */
  async function createRole() {
    const database = await open(createPostgresWithTables)
    const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
    await database.execute(`CREATE ROLE ${role} LOGIN PASSWORD 'role-password'`)
    onTestFinished(() => database.execute(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
    const DATABASE_URL = database.address.replace(/\/\/.*@/, `//${role}:role-password@`)
    return { database, role, env: { DATABASE_URL } }
  }

  test('that lacks privileges needs only the grants that doctor lists', async () => {
    const { database, role, env } = await createRole()
    const { code, faults, sql: grants } = await examine(database, { env })
    expect([code, faults.map(({ check }) => check), grants.length]).toEqual([1, ['rights'], 8])
    for (const grant of grants) await database.execute(grant.replace('…', role))
    expect(await examine(database, { env })).toMatchObject({ code: 0, healthy: true })
    // The commands that read and write need no privileges beyond those that the doctor checks.
    for (const command of ['count', 'keys create --team 1', 'release --team 1 www.example.com'])
      expect(await database.run(command.split(' '), { env })).toMatchObject({ code: 0, stderr: '' })
  })

  test('with just the privileges that doctor checks can do everything, and needs each of them', async () => {
    const { database, role, env } = await createRole()
    const change = (word: string, table: string, privilege: string) =>
      database.execute(
        `${word} ${privilege} ON domain_registration.${table} ${word === 'GRANT' ? 'TO' : 'FROM'} ${role}`,
      )
    await database.execute(`GRANT USAGE ON SCHEMA domain_registration TO ${role}`)
    const privileges = Object.entries(needed).flatMap(([table, all]) => all.map(each => [table, each] as const))
    for (const [table, privilege] of privileges) await change('GRANT', table, privilege)
    const pool = new Pool({ connectionString: env.DATABASE_URL })
    onTestFinished(() => pool.end())
    await doEverything(pool)
    const unneeded: string[] = []
    for (const [table, privilege] of privileges) {
      await change('REVOKE', table, privilege)
      const failed = await doEverything(pool).then(
        () => false,
        () => true,
      )
      if (!failed) unneeded.push(`${privilege} ON ${table}`)
      await change('GRANT', table, privilege)
    }
    expect(unneeded).toEqual([])
  })

  test('with the grants in docs/production.md satisfies doctor, and can register names', async () => {
    const { database, role, env } = await createRole()
    const guide = readFileSync('docs/production.md', 'utf8')
    const grants = [...guide.matchAll(/GRANT .+ TO my_server;/g)].map(([grant]) => grant)
    expect(grants.length).toBe(2)
    for (const grant of grants) await database.execute(grant.replace('my_server', role))
    expect(await examine(database, { env })).toMatchObject({ code: 0, healthy: true })

    const pool = new Pool({ connectionString: env.DATABASE_URL })
    const findTeam = (id: string) => ({ id, organizationId: '10', state: 'active' }) as const
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
    const store = createPostgresStore({ database: pool, findTeam })
    const { data } = await registerDomains(keyContext, { domains: ['www.example.net'] }, store)
    await pool.end()
    expect(data.totals).toMatchObject({ created: 1 })
  })

  test('that may have fewer connections than a pool gets a note with the number', async () => {
    const { database, role, env } = await createRole()
    await database.execute(`ALTER ROLE ${role} CONNECTION LIMIT 9;
      GRANT USAGE ON SCHEMA domain_registration TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA domain_registration TO ${role}`)
    const note = (owner: string, most: number) => ({
      state: 'note',
      check: 'connection',
      finding: `${owner} may have at most ${most} connections`,
      advice: expect.stringContaining('"max"'),
    })
    expect(await examine(database, { env })).toMatchObject({ code: 0, faults: [note(`the role "${role}"`, 9)] })
    await database.execute(`ALTER ROLE ${role} CONNECTION LIMIT 10;
      DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 7', current_database()); END $$`)
    const name = new URL(database.address).pathname.slice(1)
    expect(await examine(database, { env })).toMatchObject({ faults: [note(`the database "${name}"`, 7)] })
  })

  test('that is subject to row-level security makes doctor report that rows are hidden', async () => {
    const { database, role, env } = await createRole()
    await database.execute(`GRANT USAGE ON SCHEMA domain_registration TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA domain_registration TO ${role};
      ALTER TABLE domain_registration.names ENABLE ROW LEVEL SECURITY`)
    const finding = 'row-level security hides rows of names'
    expect(await examine(database, { env })).toMatchObject({
      code: 1,
      faults: [{ check: 'rights', state: 'wrong', finding, advice: expect.stringContaining('BYPASSRLS') }],
    })
  })
})

/** Calls each method of both stores, with new names and IDs. Fails if one of them fails. */
async function doEverything(pool: Pool): Promise<void> {
  const name = crypto.randomUUID()
  const [teamId, other] = ['3', '4']
  const store = createPostgresStore({
    database: pool,
    findTeam: id => ({ id, organizationId: '10', state: 'active', maxDomains: 1000 }),
    synchronize: changes => {
      if (changes.some(({ domain }) => domain.startsWith('refused.'))) throw new Error('refused')
    },
    onError: () => {},
  })
  await migrate({ database: pool })
  const scopes = ['domains:create']
  const domains = [`a.${name}.com`, `b.${name}.com`]
  const { data } = await registerDomains({ type: 'team', teamId, scopes }, { domains }, store)
  expect(data.totals.created).toBe(2)
  await expect(
    registerDomains({ type: 'team', teamId, scopes }, { domains: [`refused.${name}.com`] }, store),
  ).rejects.toMatchObject({ code: 'domain_registration_unavailable' })
  await findOwners(store, domains)
  const [pending] = await store.listPending()
  await store.list({ teamId, below: `${name}.com` })
  await store.count({ teamId })
  await store.get(pending?.domainId ?? '')
  await store.pendingStats()
  await store.countPending()
  await transfer(store, { from: teamId, to: other, domains: [`refused.${name}.com`, `a.${name}.com`] })
  await store.retryPending()
  await store.synchronizePending()
  await store.settlePending({ domainIds: (await store.listPending()).map(({ domainId }) => domainId) })
  const released = await store.release(other, [`a.${name}.com`, `refused.${name}.com`])
  expect(released).toHaveLength(2)
  await importDomains(store, [
    { ...(released[0] as Registration), domainId: createUuidGenerator()(), createdAt: new Date(), synchronized: false },
  ])
  await store.synchronizePending()
  // A store that does not push finds out whether another store does.
  await createPostgresStore({ database: pool, findTeam: () => null }).release(teamId, [`b.${name}.com`])
  const keys = createPostgresKeyStore({ database: pool })
  const { hash } = await generateApiKey({ type: 'team', id: teamId })
  await keys.addKey({ hash, type: 'team', ownerId: teamId, scopes })
  await keys.findKey(hash)
  await keys.updateKey(hash, { label: 'x' })
  await keys.listKeys({ type: 'team', ownerId: teamId })
  await keys.revokeKey(hash)
  const waiting = createPostgresWaitingStore({ database: pool })
  const refusal = { code: 'invalid_domain', reason: 'not_verified', message: 'Add a record.' } as const
  const waits = { domain: `c.${name}.com`, registrableDomain: `${name}.com`, refusal }
  await waiting.keep(teamId, [waits], { wait: 0, keepFor: 1000, most: 9 })
  await waiting.take({ limit: 1, lease: 1000 })
  await waiting.remove(teamId, [waits.domain])
}

/** The time when the list that this release knows is a number of days old. */
const after = (days: number) => Date.parse(knownSuffixList.published) + days * 86_400_000

test.each([
  ['a month old is in order', '', 30, 'ok', 'published 2026-11-19, 30 days ago', undefined],
  ['two years old should be updated', '', 730, 'note', 'published 2026-11-19, 730 days ago', /npm update tldts$/],
  [
    'newer than this release is young',
    '7.10.0',
    30,
    'ok',
    'published after 2026-11-19, at most 30 days ago',
    undefined,
  ],
  [
    'newer than an old release may be old',
    '8.0.0',
    730,
    'note',
    'published after 2026-11-19, at most 730 days ago',
    /npm update domain-registration tldts$/,
  ],
  [
    'older than this release should be updated',
    '7.5.4',
    1,
    'note',
    'published before 2026-11-19, at least 1 day ago',
    /npm update tldts$/,
  ],
] as const)('doctor says that a suffix list %s', (_, version, days, state, finding, advice) => {
  const installed = version || knownSuffixList.version
  const found = examineSuffixList(installed, after(days))
  const shown = finding.replace('2026-11-19', knownSuffixList.published)
  expect(found).toMatchObject({ state, finding: `tldts ${installed}, ${shown}` })
  expect(found.advice).toEqual(advice && expect.stringMatching(advice))
})
