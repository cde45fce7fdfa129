import { readFileSync, writeFileSync } from 'node:fs'
import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { registerDomains } from '../../src/index.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { createPostgres, createSqlite, databases, type TestDatabase } from './databases.ts'
import type { RunOptions } from './program.ts'

interface Fault {
  /** Plants the fault in a database with tables and one waiting change; returns how the doctor is to be run. */
  plant(database: TestDatabase): Promise<RunOptions | undefined>
  readonly check: string
  readonly state?: 'note'
  /** What the doctor says. */
  readonly finding: RegExp
  readonly advice: RegExp
}

const sql =
  (statement: string) =>
  async ({ execute }: TestDatabase) => {
    await execute(statement)
    return undefined
  }

/** Settings of the database that new sessions begin with. */
const alter = (setting: string) =>
  sql(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting}', current_database()); END $$`)

/** A role that may log in and read the catalogs; removed with the rights that it was given. */
async function withRole(database: TestDatabase, grants: readonly string[], work: (url: string) => Promise<void>) {
  const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
  await database.execute(`CREATE ROLE ${role} LOGIN PASSWORD 'role-password'`)
  try {
    for (const grant of grants) await database.execute(`GRANT ${grant} TO ${role}`)
    await work(database.address.replace(/\/\/.*@/, `//${role}:role-password@`))
  } finally {
    await database.execute(`DROP OWNED BY ${role}`)
    await database.execute(`DROP ROLE ${role}`)
  }
}

const ahead = (milliseconds: number) =>
  `data:text/javascript,const now=Date.now;Date.now=()=>now()+${encodeURIComponent(String(milliseconds))}`

/** Of the tables of either database. */
const faultsOfTables = (version: string, aging: string): Record<string, Fault> => ({
  'that the tables are older than the package': {
    plant: sql(`DELETE FROM ${version}`),
    check: 'tables',
    finding: /of version 0, and this package needs \d/,
    advice: /domain-registration migrate/,
  },
  'that the tables are newer than the package': {
    plant: sql(`INSERT INTO ${version} VALUES (99)`),
    check: 'tables',
    finding: /of version 99/,
    advice: /Install the newer version/,
  },
  'that a change has waited for hours': {
    plant: sql(aging),
    check: 'pending',
    finding: /1 change waits, 1 refused, the oldest for 120 minutes/,
    advice: /domain-registration pending/,
  },
})

const faultsOfPostgres: Record<string, Fault> = {
  ...faultsOfTables(
    'domain_registration.version',
    `UPDATE domain_registration.changes SET since = since - interval '2 hours'`,
  ),
  'that there are no tables': {
    plant: sql('DROP SCHEMA domain_registration CASCADE'),
    check: 'tables',
    finding: /^not there: the schema "domain_registration" has none/,
    advice: /domain-registration migrate/,
  },
  'that one table is missing': {
    plant: sql('DROP TABLE domain_registration.locks'),
    check: 'tables',
    finding: /^not all there: locks missing/,
    advice: /domain-registration migrate/,
  },
  'that transactions can only read': {
    plant: alter('default_transaction_read_only = on'),
    check: 'writing',
    finding: /only read/,
    advice: /primary/,
  },
  'another default isolation level, as a note': {
    plant: alter("default_transaction_isolation = ''repeatable read''"),
    check: 'isolation',
    state: 'note',
    finding: /repeatable read/,
    advice: /READ COMMITTED/,
  },
  'that this machine is a minute ahead of the database': {
    plant: async () => ({ preload: ahead(60_000) }),
    check: 'clock',
    finding: /that of the database is (?:59|60) seconds behind/,
    advice: /NTP/,
  },
  'that this machine is a minute behind the database': {
    plant: async () => ({ preload: ahead(-60_000) }),
    check: 'clock',
    finding: /that of the database is (?:60|61) seconds ahead/,
    advice: /NTP/,
  },
  'that nobody listens': {
    plant: async () => ({ env: { DATABASE_URL: 'postgres://me:secret-word@127.0.0.1:1/none' } }),
    check: 'connection',
    finding: /ECONNREFUSED/,
    advice: /Mend this first/,
  },
  'that the password is wrong': {
    plant: async ({ address }) => ({ env: { DATABASE_URL: address.replace(/:[^:@/]*@/, ':secret-word@') } }),
    check: 'connection',
    finding: /./,
    advice: /Mend this first/,
  },
  'that there is no such database': {
    plant: async ({ address }) => ({ env: { DATABASE_URL: `${address}_gone` } }),
    check: 'connection',
    finding: /does not exist/,
    advice: /Mend this first/,
  },
}

const faultsOfSqlite: Record<string, Fault> = {
  ...faultsOfTables('domain_registration_version', 'UPDATE domain_registration_changes SET since = since - 7200000'),
  'that there is no file': {
    plant: async () => ({ env: { DATABASE_URL: 'typo.db' } }),
    check: 'connection',
    finding: /there is no file "typo\.db"/,
    advice: /domain-registration migrate/,
  },
  'that there are no tables': {
    plant: sql('DROP TABLE domain_registration_version'),
    check: 'tables',
    finding: /not there/,
    advice: /domain-registration migrate/,
  },
  'that the file is no database': {
    plant: async ({ folder }) => {
      writeFileSync(`${folder}/registrations.db`, 'no database '.repeat(1000))
      return undefined
    },
    check: 'connection',
    finding: /is no SQLite database/,
    advice: /Mend this first/,
  },
}

interface Report {
  readonly healthy: boolean
  readonly findings: readonly { check: string; state: string; finding: string; advice?: string }[]
}

async function examine(database: TestDatabase, options?: RunOptions) {
  const { code, stdout, stderr } = await database.run(['doctor', '--json'], options)
  expect(stderr).toBe('')
  expect(stdout).not.toContain('secret-word')
  return { code, ...(JSON.parse(stdout) as Report) }
}

/** Registers one name, which the monitor refuses. */
async function withChange(create: () => Promise<TestDatabase>, work: (database: TestDatabase) => Promise<void>) {
  const database = await create()
  try {
    await database.withStore(async store => {
      const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
      await registerDomains(keyContext, { domains: ['www.example.com'] }, store).catch(() => {})
    })
    await work(database)
  } finally {
    await database.close()
  }
}

describe.each(databases)('on %s', (name, create) => {
  const faults = name === 'PostgreSQL' ? faultsOfPostgres : faultsOfSqlite

  test('doctor finds nothing where nothing is wrong', () =>
    withChange(create, async database => {
      const { code, healthy, findings } = await examine(database)
      expect(findings.filter(({ state }) => state !== 'ok')).toEqual([])
      expect([code, healthy]).toEqual([0, true])
    }))

  test.each(Object.entries(faults))('doctor finds %s', (_, { plant, check, state = 'wrong', finding, advice }) =>
    withChange(create, async database => {
      const { code, healthy, findings } = await examine(database, await plant(database))
      expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
        { check, state, finding: expect.stringMatching(finding), advice: expect.stringMatching(advice) },
      ])
      expect([code, healthy]).toEqual(state === 'wrong' ? [1, false] : [0, true])
    }),
  )
})

test('doctor finds that another process holds a SQLite file', () =>
  withChange(createSqlite, async database => {
    const handle = openDatabase(database.address)
    handle.exec('BEGIN IMMEDIATE')
    const { code, findings } = await examine(database)
    handle.exec('ROLLBACK')
    handle.close()
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
      expect.objectContaining({ state: 'wrong', finding: expect.stringMatching(/held the write lock/) }),
    ])
    expect(code).toBe(1)
  }))

describe('a role of PostgreSQL', () => {
  const all = ['names', 'changes', 'locks', 'keys', 'version'].map(table => `domain_registration.${table}`).join(', ')

  test('without any right is told of each that it needs; with these, all is well', () =>
    withChange(createPostgres, database =>
      withRole(database, [], async DATABASE_URL => {
        const { code, findings } = await examine(database, { env: { DATABASE_URL } })
        const [fault, ...others] = findings.filter(({ state }) => state === 'wrong')
        expect([code, fault?.check, others]).toEqual([1, 'rights', []])
        const grants = fault?.advice?.replace('As the owner of the tables: ', '').split('; ') ?? []
        expect(grants.length).toBe(6)
        const [, role] = /\/\/(\w+):/.exec(DATABASE_URL) ?? []
        for (const grant of grants) await database.execute(grant.replace('…', role as string))
        expect(await examine(database, { env: { DATABASE_URL } })).toMatchObject({ code: 0, healthy: true })
        // Rights that the doctor calls enough are enough for the commands that read and write.
        for (const command of [
          ['count'],
          ['keys', 'create', '--team', '1'],
          ['release', '--team', '1', 'www.example.com'],
        ])
          expect(await database.run(command, { env: { DATABASE_URL } })).toMatchObject({ code: 0, stderr: '' })
      }),
    ))

  test('with the grants of docs/operations.md is told that all is well, and may register', () =>
    withChange(createPostgres, database =>
      withRole(database, [], async DATABASE_URL => {
        const guide = readFileSync('docs/operations.md', 'utf8')
        const [, role = ''] = /\/\/(\w+):/.exec(DATABASE_URL) ?? []
        const grants = [...guide.matchAll(/GRANT .+ TO my_server;/g)].map(([grant]) => grant)
        expect(grants.length).toBe(2)
        for (const grant of grants) await database.execute(grant.replace('my_server', role))
        expect(await examine(database, { env: { DATABASE_URL } })).toMatchObject({ code: 0, healthy: true })

        const pool = new Pool({ connectionString: DATABASE_URL })
        const findTeam = (id: string) => ({ id, organizationId: '10', state: 'active' }) as const
        const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
        const store = createPostgresStore({ database: pool, findTeam })
        const { data } = await registerDomains(keyContext, { domains: ['www.example.org'] }, store)
        await pool.end()
        expect(data.totals).toMatchObject({ created: 1 })
      }),
    ))

  test('from which row-level security hides rows is told so', () =>
    withChange(createPostgres, database =>
      withRole(database, ['USAGE ON SCHEMA domain_registration', `ALL ON ${all}`], async DATABASE_URL => {
        await database.execute('ALTER TABLE domain_registration.names ENABLE ROW LEVEL SECURITY')
        const { code, findings } = await examine(database, { env: { DATABASE_URL } })
        const finding = 'row-level security hides rows of names'
        expect(findings.filter(({ state }) => state === 'wrong')).toEqual([
          { check: 'rights', state: 'wrong', finding, advice: expect.stringContaining('BYPASSRLS') },
        ])
        expect(code).toBe(1)
      }),
    ))
})
