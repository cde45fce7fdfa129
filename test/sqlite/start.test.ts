import { expect, test } from 'vitest'
import { createSqliteStore, sqliteSchema } from '../../src/sqlite/index.ts'
import { save } from '../../src/testing/calls.ts'
import { startProgram } from '../start-program.ts'
import { createFolder } from './create-folder.ts'
import { openDatabase, type TestDatabase } from './open-database.ts'

const { pathOf } = createFolder()

const PROCESSES = 3
const FILES = 20

test('several processes that start simultaneously on a new file all find their tables', {
  timeout: 120_000,
}, async () => {
  const starters = Array.from({ length: PROCESSES }, () => startProgram(new URL('starter.ts', import.meta.url)))
  try {
    await Promise.all(starters.map(starter => starter.receive()))
    for (let file = 0; file < FILES; file += 1) {
      const answers = starters.map(starter => starter.ask(pathOf(`${file}.db`)))
      expect(await Promise.all(answers)).toEqual(starters.map(() => 'open'))
    }
  } finally {
    await Promise.all(starters.map(starter => starter.kill()))
  }
})

test.each([
  [undefined, 2],
  ['full', 2],
  ['normal', 1],
] as const)(
  'if the option `synchronous` is %s, PRAGMA synchronous is %i, and PRAGMA busy_timeout is 0',
  (synchronous, level) => {
    const database = openDatabase()
    createSqliteStore({ database, findTeam: () => null, synchronous })
    expect(database.prepare('PRAGMA synchronous').all()).toEqual([{ synchronous: level }])
    expect(database.prepare('PRAGMA busy_timeout').all()).toEqual([{ timeout: 0 }])
  },
)

/**
 * A database whose first `fails` attempts to switch to write-ahead logging fail, and the statements that were sent to
 * this database.
 */
function openWatched({ mode = 'delete', fails = 0, failure = 'database is locked' } = {}) {
  const database = openDatabase()
  const sent: string[] = []
  const answers: Readonly<Record<string, () => unknown[]>> = {
    'PRAGMA journal_mode': () => [{ journal_mode: mode }],
    'PRAGMA journal_mode = WAL': () => {
      if (fails > 0) {
        fails -= 1
        throw new Error(failure)
      }
      return []
    },
  }
  const watched: TestDatabase = {
    close: () => database.close(),
    exec(sql) {
      sent.push(sql)
      return database.exec(sql)
    },
    prepare(sql) {
      if (!sql.startsWith('PRAGMA journal')) return database.prepare(sql)
      sent.push(sql)
      const all = () => answers[sql]?.() ?? database.prepare(sql).all()
      return { all, run: all }
    },
  }
  return { database, watched, settings: () => sent.filter(sql => !sql.includes('CREATE TABLE')) }
}

const TRY = ['PRAGMA journal_mode', 'PRAGMA journal_mode = WAL']
const WAIT = ['BEGIN IMMEDIATE', 'COMMIT']

test.each([
  ['switches to write-ahead logging', {}, TRY],
  ['that already uses write-ahead logging does not wait for a lock', { mode: 'wal' }, ['PRAGMA journal_mode']],
  ['switches to write-ahead logging once a lock is free', { fails: 2 }, [...TRY, ...WAIT, ...TRY, ...WAIT, ...TRY]],
])('a store that opens a file %s', (_, options, switching) => {
  const { database, watched, settings } = openWatched(options)
  createSqliteStore({ database: watched, findTeam: () => null })
  expect(settings()).toEqual([
    'PRAGMA busy_timeout = 5000',
    ...switching,
    'PRAGMA synchronous = full',
    'PRAGMA journal_size_limit = 67108864',
    ...WAIT,
    'PRAGMA busy_timeout = 0',
  ])
  expect(database.prepare('PRAGMA journal_size_limit').all()).toEqual([{ journal_size_limit: 67108864 }])
})

test.each([
  ['another connection holds the lock for too long', 'database is locked', 'Other connections held the write lock'],
  ['the disk fails', 'disk I/O error', 'could not be read or written'],
])('createSqliteStore throws if it cannot switch to write-ahead logging because %s', (_, failure, message) => {
  const { watched, settings } = openWatched({ fails: Number.POSITIVE_INFINITY, failure })
  expect(() => createSqliteStore({ database: watched, findTeam: () => null, timeLimit: 29.5 })).toThrow(message)
  expect(settings()[0]).toBe('PRAGMA busy_timeout = 30')
})

test('a database contains only one monitor record, even if several stores sweep it repeatedly', async () => {
  const database = openDatabase()
  for (let start = 0; start < 2; start += 1) {
    const store = createSqliteStore({ database, findTeam: () => null, synchronize() {} })
    for (let sweep = 0; sweep < 2; sweep += 1) await store.synchronizePending()
  }
  expect(database.prepare('SELECT count(*) AS count FROM domain_registration_monitor').all()).toEqual([{ count: 1 }])
})

test('a store creates missing tables if a migration tool has stopped before recording the version', async () => {
  const database = openDatabase()
  const [unfinished = ''] = sqliteSchema().split('-- Older tables')
  database.exec(`${unfinished}; DROP TABLE domain_registration_names`)
  const store = createSqliteStore({ database, findTeam: () => null })
  expect(await save(store, '1', ['example.com'])).toHaveLength(1)
})
