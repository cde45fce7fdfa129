import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSqliteKeyStore, createSqliteStore, type SqliteStore } from '../../src/sqlite/index.ts'
import { createRequest, manyDomains, save, toTestName } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
import { createFolder } from './create-folder.ts'
import { engine, type TestDatabase } from './open-database.ts'

const { open, pathOf } = createFolder()
const findTeam = () => null

test.each([
  [undefined, 2],
  ['full', 2],
  ['normal', 1],
] as const)(
  'if the option `synchronous` is %s, PRAGMA synchronous is %i, and PRAGMA busy_timeout is 0',
  (synchronous, level) => {
    const database = open()
    createSqliteStore({ database, findTeam, synchronous })
    expect(database.prepare('PRAGMA synchronous').all()).toEqual([{ synchronous: level }])
    expect(database.prepare('PRAGMA busy_timeout').all()).toEqual([{ timeout: 0 }])
  },
)

/**
 * A database whose first `fails` attempts to switch to write-ahead logging fail, and the statements that were sent to
 * this database.
 */
function openWatched({ mode = 'delete', fails = 0, failure = 'database is locked' } = {}) {
  const database = open()
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
  createSqliteStore({ database: watched, findTeam })
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
  expect(() => createSqliteStore({ database: watched, findTeam, timeLimit: 29.5 })).toThrow(message)
  expect(settings()[0]).toBe('PRAGMA busy_timeout = 30')
})

test.each([
  ['deleted', (file: string) => rmSync(file)],
  [
    'replaced',
    (file: string) => {
      createSqliteStore({ database: open('other.db'), findTeam })
      renameSync(pathOf('other.db'), file)
    },
  ],
])('once the file of a store was %s, every call fails, even a read', async (what, change) => {
  const file = `${what}.db`
  const database = open(file)
  const store = createSqliteStore({ database, findTeam })
  const keys = createSqliteKeyStore({ database })
  await save(store, '1', ['a.com'])
  change(pathOf(file))
  const message = /was deleted or replaced while its store was in use/
  for (const call of [() => save(store, '1', ['b.com']), async () => store.list(), async () => keys.findKey('0')])
    expect(await rejection(call())).toMatchObject({ message: expect.stringMatching(message) })
})

test.each([
  ['deleted', (file: string) => rmSync(file)],
  ['replaced', (file: string) => renameSync(pathOf('another.db'), file)],
])('a call during which the file is %s fails, because what it has saved is lost', async (what, change) => {
  createSqliteStore({ database: open('another.db'), findTeam })
  const file = `during-${what}.db`
  const store = createSqliteStore({ database: open(file), findTeam })
  const names = [toTestName('a.com')]
  function decide() {
    change(pathOf(file))
    return names
  }
  expect(await rejection(Promise.resolve(store.register(createRequest('1', names, [], decide))))).toMatchObject({
    message: expect.stringMatching(/was deleted or replaced while its store was in use/),
  })
})

const hasLog = engine !== 'node-sqlite3-wasm'
const WITHOUT_LOG = hasLog ? '' : ' (skipped: this SQLite has no write-ahead log; use Node 22 or later)'

/** Opens a database in another process, reads it, and closes it, which deletes the log of a database in no use. */
const opening = `const sqlite = require(process.argv[1])
const database = new (sqlite.DatabaseSync ?? sqlite)(process.argv[2])
database.prepare('SELECT count(*) FROM domain_registration_names').all()
database.close()`

test.skipIf(!hasLog)(
  `once another SQLite library has dropped the locks of the process, a deleted log fails every call${WITHOUT_LOG}`,
  async () => {
    const database = open('two-libraries.db')
    const store = createSqliteStore({ database, findTeam })
    const keys = createSqliteKeyStore({ database })
    await save(store, '1', ['a.com'])
    const file = pathOf('two-libraries.db')
    // All locks that a process has on a file end when it closes any descriptor of the file (POSIX, fcntl).
    for (const name of [file, `${file}-shm`]) closeSync(openSync(name, 'r'))
    execFileSync(process.execPath, ['-e', opening, process.env.BETTER_SQLITE3 ?? 'node:sqlite', file])
    expect(existsSync(`${file}-wal`)).toBe(false)
    for (const call of [() => save(store, '1', ['b.com']), async () => store.list(), async () => keys.findKey('0')]) {
      expect(await rejection(call())).toMatchObject({
        message:
          'The log of the SQLite database was deleted or replaced while its store was in use; ' +
          'restart, and open the file with one SQLite library only',
      })
    }
  },
)

const turnOfEventLoop = () => new Promise(resolve => setImmediate(resolve))

/** A store, how often it has tried to get the write lock, and the first error of its database. */
function openCounted(file: string) {
  const database = open(file)
  let count = 0
  let failure: unknown
  const counted: TestDatabase = {
    prepare: sql => database.prepare(sql),
    close: () => database.close(),
    exec(sql) {
      if (sql === 'BEGIN IMMEDIATE') count += 1
      try {
        return database.exec(sql)
      } catch (error) {
        failure ??= error
        throw error
      }
    },
  }
  const store = createSqliteStore({ database: counted, findTeam, synchronous: 'normal' })
  count = 0
  return { store, counted, polls: () => count, failure: () => failure }
}

/** Two stores on one handle, and a second connection that has the write lock. */
function openHeld(file: string, ofSecond: { timeLimit?: number } = {}) {
  const opened = openCounted(file)
  const second = createSqliteStore({ database: opened.counted, findTeam, ...ofSecond })
  const other = open(file)
  other.exec('BEGIN IMMEDIATE')
  return { ...opened, second, other }
}

test('calls can queue for the write lock again after an earlier queue has emptied', async () => {
  const { store, other } = openHeld('again.db')
  for (const domain of ['a.com', 'b.com']) {
    const saving = save(store, '1', [domain])
    await turnOfEventLoop()
    other.exec('COMMIT')
    expect(await saving).toMatchObject([{ domain }])
    other.exec('BEGIN IMMEDIATE')
  }
  other.exec('COMMIT')
})

test('if 10,000 calls of a team wait, its next call fails at once, and a call of another team waits', async () => {
  const { second: store, other } = openHeld('many.db', { timeLimit: 100 })
  const waiting = Array.from({ length: 10_001 }, () => rejection(save(store, '1', ['a.com'])))
  const refused = rejection(save(store, '1', ['a.com']))
  waiting.push(rejection(save(store, '2', ['b.com'])))
  expect(await refused).toMatchObject({ message: 'Too many calls of one team wait for the SQLite database already' })
  for (const error of await Promise.all(waiting))
    expect(error).toMatchObject({ message: expect.stringContaining('for longer than the time limit') })
  other.exec('COMMIT')
})

describe('with fake timers', () => {
  const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  test('only the first queued call polls, every 5 ms on average, and all run once the lock is free', async () => {
    const { store, other, polls } = openHeld('polls.db')
    const order: string[] = []
    const calls = manyDomains(3).map(async domain => {
      await save(store, '1', [domain])
      order.push(domain)
    })
    await pass(52)
    expect(polls()).toBe(11)
    other.exec('COMMIT')
    await pass(7)
    expect(order).toEqual(manyDomains(3))
    await Promise.all(calls)
  })

  test('a queued call of another team waits for one call of a team that has many', async () => {
    const { store, other } = openHeld('teams.db')
    const order: string[] = []
    const call = async (teamId: string, domain: string) => {
      await save(store, teamId, [domain])
      order.push(domain)
    }
    const calls = manyDomains(4).map(domain => call('1', domain))
    calls.push(call('2', 'other.com'))
    other.exec('COMMIT')
    await pass(50)
    await Promise.all(calls)
    const [first, ...others] = manyDomains(4)
    expect([order[0], order.indexOf('other.com')]).toEqual([first, 2])
    expect(order.filter(domain => domain !== 'other.com')).toEqual([first, ...others])
  })

  test('each queued call ends exactly at the time limit of its store, and does not run afterwards', async () => {
    const { store, second: hasty, other } = openHeld('limits.db', { timeLimit: 100 })
    const patient = save(store, '1', ['patient.com'])
    let error: unknown
    void rejection(save(hasty, '1', ['hasty.com'])).then(reason => (error = reason))
    await pass(99)
    expect(error).toBeUndefined()
    await pass(1)
    expect(error).toMatchObject({ message: expect.stringContaining('Other connections held the write lock') })
    other.exec('COMMIT')
    await pass(1000)
    await patient
    expect(await store.list()).toMatchObject([{ domain: 'patient.com' }])
  })

  test("a call ends at its own time limit if that is shorter than the store's, and saves nothing later", async () => {
    const { store, other, failure } = openHeld('early.db')
    const names = [toTestName('a.com')]
    const request = { ...createRequest('1', names, [], () => names), timeLimit: 30 }
    let error: unknown
    void rejection(Promise.resolve(store.register(request))).then(reason => (error = reason))
    await pass(29)
    expect(error).toBeUndefined()
    await pass(1)
    expect(error).toMatchObject({ message: expect.stringContaining('for longer than the time limit') })
    expect((error as Error).cause).toBe(failure())
    other.exec('COMMIT')
    await pass(1000)
    await save(store, '1', ['b.com'])
    expect(await store.list()).toMatchObject([{ domain: 'b.com' }])
  })

  test('when the time limit of a finished call passes, a later call stays in the queue', async () => {
    const { store, second: hasty, other } = openHeld('served.db', { timeLimit: 100 })
    const first = save(hasty, '1', ['a.com'])
    other.exec('COMMIT')
    await pass(10)
    await first
    other.exec('BEGIN IMMEDIATE')
    const later = save(store, '1', ['b.com'])
    await pass(100)
    other.exec('COMMIT')
    await pass(10_000)
    expect(await later).toMatchObject([{ domain: 'b.com' }])
  })

  test('a call after those that have all reached their time limits is attempted without a pause', async () => {
    const { store, second: hasty, other } = openHeld('over.db', { timeLimit: 98 })
    const late = rejection(save(hasty, '1', ['late.com']))
    await pass(98)
    expect(await late).toMatchObject({ message: expect.stringContaining('for longer than the time limit') })
    other.exec('COMMIT')
    const saved: unknown[] = []
    void save(store, '1', ['next.com']).then(names => saved.push(...names))
    await turnOfEventLoop()
    expect(saved).toMatchObject([{ domain: 'next.com' }])
  })
})

/** SQLite in WebAssembly has no write-ahead log, so a lock blocks readers too. */
const hasReaders = engine !== 'node-sqlite3-wasm'
const why = hasReaders ? '' : ' (skipped in WebAssembly, where a writer blocks readers)'

describe('while another connection holds the write lock', () => {
  test.skipIf(!hasReaders)(
    `only the first of 100 queued calls polls, and other work runs in between${why}`,
    async () => {
      const { store, other, polls } = openHeld('held.db')
      const order: string[] = []
      const calls = manyDomains(100).map(async domain => {
        await save(store, '1', [domain])
        order.push(domain)
      })
      expect(polls()).toBe(1)
      for (let _turns = 0; polls() < 5; _turns += 1) {
        const before = polls()
        await turnOfEventLoop()
        expect(polls() - before).toBeLessThanOrEqual(1)
      }
      other.exec('COMMIT')
      const goneOn = turnOfEventLoop().then(() => order.push('other work'))
      await Promise.all([...calls, goneOn])
      // The calls end in their order, and other work runs in between.
      expect(order.filter(each => each !== 'other work')).toEqual(manyDomains(100))
      expect(order.indexOf('other work')).toBeLessThan(99)
      expect((await store.list()).map(({ domain }) => domain)).toEqual(manyDomains(100))
    },
  )
})

test('no read takes the write lock', async () => {
  const { store, counted, polls } = openCounted('unlocked.db')
  const keys = createSqliteKeyStore({ database: counted })
  const question = { teamId: '1', domains: ['a.com'], bases: ['a.com'] }
  await Promise.all([store.count(), store.list(), store.find(question), store.listPending(), store.pendingStats()])
  await Promise.all([keys.findKey('a'.repeat(64)), keys.listKeys({ type: 'team', ownerId: '1' })])
  expect(polls()).toBe(0)
})

test('a release that fails at its last name releases no name, and later calls succeed', async () => {
  const { store, counted } = openCounted('fails.db')
  await save(store, '1', manyDomains(70))
  counted.exec(`CREATE TRIGGER refuse BEFORE DELETE ON domain_registration_names WHEN old.domain = 'n69.com'
    BEGIN SELECT raise(ABORT, 'rejected, on purpose'); END`)
  await expect((async () => store.release('1', manyDomains(70)))()).rejects.toThrow('rejected, on purpose')
  expect(await store.count()).toBe(70)
  expect(await store.countPending()).toBe(0)
  expect(await store.release('1', manyDomains(5))).toHaveLength(5)
})

test('reads do not wait for a queued write, but later writes of all stores on the database handle do', async () => {
  const { store, second, other } = openHeld('reads.db')
  const order: string[] = []
  const write = (to: SqliteStore, domain: string) => save(to, '1', [domain]).then(() => order.push(domain))
  const first = write(store, 'a.com')
  other.exec('COMMIT')
  const later = write(second, 'b.com')
  const question = { teamId: '1', domains: ['a.com'], bases: [] }
  const reads = [store.count(), store.list(), store.find(question), store.listPending(), store.pendingStats()]
  expect(await Promise.all(reads)).toMatchObject([0, [], { registrations: [] }, [], { count: 0 }])
  expect(order).toEqual([])
  await Promise.all([first, later])
  expect(order).toEqual(['a.com', 'b.com'])
})
