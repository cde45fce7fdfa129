import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { registerDomains, transfer } from '../../src/index.ts'
import {
  createSqliteKeyStore,
  createSqliteStore,
  type SqliteStore,
  type SqliteStoreOptions,
} from '../../src/sqlite/index.ts'
import { SCHEMA_VERSION } from '../../src/sqlite/schema.ts'
import { save } from '../../src/testing/calls.ts'
import { team1 } from '../fixtures.ts'
import { createFolder } from './create-folder.ts'
import { engine, openDatabase, type TestDatabase } from './open-database.ts'

const { open, pathOf } = createFolder()
const findTeam = (id: string) => ({ id, organizationId: '10', state: 'active' }) as const
const createStore = (options: Omit<SqliteStoreOptions, 'findTeam'>) => createSqliteStore({ findTeam, ...options })
const countNames = (database: TestDatabase) => {
  const [row] = database.prepare('SELECT count(*) AS count FROM domain_registration_names').all() as { count: number }[]
  return row?.count
}

describe('createSqliteStore rejects', () => {
  test('a file that is not a database', () => {
    writeFileSync(pathOf('letter.txt'), 'Dear Sir or Madam, '.repeat(100))
    const database = open('letter.txt')
    for (const make of [createStore, createSqliteKeyStore]) {
      expect(() => make({ database })).toThrow('The file is not a SQLite database, or it is encrypted')
    }
  })

  test('an empty file that is read-only', () => {
    open('empty.db').exec('CREATE TABLE other (x)')
    expect(() => createStore({ database: open('empty.db', { readOnly: true }) })).toThrow(
      'The SQLite database is read-only',
    )
  })

  test('tables of a later version of the package', () => {
    const database = open()
    createStore({ database })
    database.exec(`INSERT INTO domain_registration_version (version) VALUES (${SCHEMA_VERSION + 1})`)
    expect(() => createStore({ database })).toThrow(
      `The tables have version ${SCHEMA_VERSION + 1}; this package supports up to version `,
    )
  })

  test('tables of an earlier build that lack columns, and names them', () => {
    const database = open()
    createStore({ database })
    database.exec('ALTER TABLE domain_registration_changes DROP COLUMN last_failure')
    for (const before of ['SELECT 1', 'DELETE FROM domain_registration_version']) {
      database.exec(before)
      for (const make of [createStore, createSqliteKeyStore]) {
        expect(() => make({ database })).toThrow(
          'The tables lack columns that this version needs: domain_registration_changes.last_failure. ' +
            'Run "domain-registration doctor"',
        )
      }
    }
  })

  test('a database from which a table has been dropped, and does not replace it with an empty one', () => {
    const database = open()
    createStore({ database })
    database.exec('DROP TABLE domain_registration_names')
    expect(() => createStore({ database })).toThrow(
      'Tables have been dropped, or were not restored: domain_registration_names. Run "domain-registration doctor"',
    )
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a file name', 'registrations.db'],
    ['a pg pool', { connect() {}, query() {} }],
    ['the storage of a Durable Object without SQLite', { transactionSync() {}, sql: undefined }],
  ])('the option `database` if it is %s', (_, database) => {
    expect(() => createStore({ database: database as never })).toThrow(
      'The option "database" must be an open DatabaseSync from node:sqlite, a Database from better-sqlite3',
    )
  })

  test('a database that uses callbacks, such as one from the package sqlite3', () => {
    const statement = { all: () => statement, run: () => statement }
    expect(() => createStore({ database: { exec() {}, prepare: () => statement } as never })).toThrow(
      new TypeError('The option "database" must be a synchronous database, without callbacks or promises'),
    )
  })

  test.each<[Record<string, unknown>, string]>([
    [{ synchronus: 'full' }, 'The option "synchronus" does not exist'],
    [{ synchronous: 'off' }, 'The option "synchronous" must be "full" or "normal"; it is "off"'],
    [{ timeLimit: 0 }, 'The option "timeLimit" must be a number of milliseconds'],
    [{ findTeam: 'x' }, 'The option "findTeam" must be a function from an ID to a team; it is "x"'],
    [{ synchronize: 1 }, 'The option "synchronize" must be a function'],
  ])('the options %j', (options, message) => {
    expect(() => createStore({ database: open(), ...options })).toThrow(message)
  })
})

test('while another connection writes, a call times out, saves nothing, and rejects with the reason', async () => {
  const database = open('locked.db')
  const store = createStore({ database, timeLimit: 50 })
  const other = open('locked.db')
  other.exec('BEGIN IMMEDIATE')
  await expect(registerDomains(team1, { domains: ['www.example.com'] }, store)).rejects.toMatchObject({
    status: 500,
    cause: {
      message: expect.stringContaining(
        'Other connections held the write lock of the SQLite database for longer than the time limit',
      ),
      cause: { message: expect.stringContaining('locked') },
    },
  })
  other.exec('COMMIT')
  expect(countNames(database)).toBe(0)
  expect((await registerDomains(team1, { domains: ['www.example.com'] }, store)).data.totals.created).toBe(1)
})

describe('a call fails as a whole, and the error gives the reason,', () => {
  test('if the disk is full; a later call succeeds once there is space', async () => {
    const database = open()
    const store = createStore({ database })
    database.prepare('PRAGMA max_page_count = 40').all()
    const batch = (index: number) => Array.from({ length: 50 }, (_, n) => `n${n}.batch-${index}.example.com`)
    let batches = 0
    async function fill(): Promise<void> {
      for (; batches < 100; batches += 1) await save(store, '1', batch(batches))
    }
    await expect(fill()).rejects.toThrow('The disk or the SQLite database is full; nothing was saved')
    expect(batches).toBeGreaterThan(0)
    expect(countNames(database)).toBe(50 * batches)

    database.prepare('PRAGMA max_page_count = 1000').all()
    await save(store, '1', batch(batches))
    expect(countNames(database)).toBe(50 * (batches + 1))
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  })

  test('if the database handle was closed', async () => {
    const database = openDatabase()
    const store = createStore({ database })
    database.close()
    await expect((async () => save(store, '1', ['example.com']))()).rejects.toThrow(
      'The SQLite database was closed while its store was in use',
    )
  })

  test('if the application has left a transaction open; the store leaves that transaction alone', async () => {
    const database = open()
    const store = createStore({ database })
    database.exec('CREATE TABLE other (x); BEGIN; INSERT INTO other VALUES (1)')
    await expect((async () => save(store, '1', ['example.com']))()).rejects.toThrow(
      'A transaction was open on the handle of the SQLite database; give the store its own connection',
    )
    database.exec('COMMIT')
    expect(database.prepare('SELECT * FROM other').all()).toEqual([{ x: 1 }])
    expect(countNames(database)).toBe(0)
  })
})

const isWasm = engine === 'node-sqlite3-wasm'
const why = isWasm ? ' (skipped in WebAssembly, where SQLite has no write-ahead log)' : ''

test.skipIf(isWasm)(`on a read-only file, keys are found, and saving rejects${why}`, async () => {
  const database = open('archive.db')
  const record = { hash: 'a'.repeat(64), type: 'team', ownerId: '1', scopes: ['domains:create'] } as const
  await createSqliteKeyStore({ database }).addKey(record)
  await save(createStore({ database }), '1', ['example.com'])

  const readOnly = open('archive.db', { readOnly: true })
  const keys = createSqliteKeyStore({ database: readOnly })
  expect(await keys.findKey(record.hash)).toMatchObject({ ownerId: '1' })
  expect(() => keys.addKey(record)).toThrow('The SQLite database is read-only')
  const store = createStore({ database: readOnly })
  await expect((async () => save(store, '1', ['example.org']))()).rejects.toThrow('The SQLite database is read-only')
})

test.each<[string, (store: SqliteStore) => unknown]>([
  ['INSERT ON domain_registration_names', store => save(store, '1', ['b.com'])],
  ['INSERT ON domain_registration_changes', store => save(store, '1', ['b.com'])],
  ['DELETE ON domain_registration_names', store => store.release('1', ['a.com'])],
  ['UPDATE ON domain_registration_names', store => transfer(store, { from: '1', to: '2' })],
])('a call fails and saves nothing if a trigger BEFORE %s ignores the row', async (event, call) => {
  const database = open()
  const store = createStore({ database, synchronize() {} })
  await save(store, '1', ['a.com'])
  const before = [await store.list(), await store.listPending()]
  database.exec(`CREATE TRIGGER ignore BEFORE ${event} BEGIN SELECT raise(IGNORE); END`)
  await expect((async () => call(store))()).rejects.toThrow('A trigger skipped a row, so nothing was changed')
  expect([await store.list(), await store.listPending()]).toEqual(before)
})
