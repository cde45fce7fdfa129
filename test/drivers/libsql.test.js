/** Tests the store on libsql, which has the interface of better-sqlite3. Run by `npm run test:drivers`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import Database from 'libsql'

describe('libsql', () => {
  const folder = mkdtempSync(join(tmpdir(), 'libsql-'))
  const opened = []
  let count = 0
  const open = file => {
    const database = new Database(file)
    opened.push(database)
    return database
  }
  after(() => {
    for (const database of opened) database.close()
    rmSync(folder, { recursive: true })
  })

  const cases = domainStoreSuite({
    createStore({ teams, ...options }) {
      count += 1
      const database = open(join(folder, `${count}.db`))
      return createSqliteStore({ ...options, database, findTeam: id => teams.find(team => team.id === id) ?? null })
    },
    features: managedStoreFeatures,
    timeLimit: 20_000,
  })
  for (const { name, run } of cases) test(name, run)
  test('runs more than a hundred cases', () => assert.ok(cases.length > 100))

  test('stores keys that another connection finds', async () => {
    const file = join(folder, 'again.db')
    const hash = 'a'.repeat(64)
    createSqliteKeyStore({ database: open(file) }).addKey({ hash, type: 'team', ownerId: '1', scopes: [] })
    const found = await createSqliteKeyStore({ database: open(file) }).findKey(hash)
    assert.equal(found?.ownerId, '1')
  })
})
