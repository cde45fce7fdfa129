import { describe, test } from 'vitest'
import { createSqliteStore, type SqliteStore } from '../../src/sqlite/index.ts'
import { domainStoreSuite } from '../../src/testing/domain-store-suite.ts'
import { openDatabase, type TestDatabase } from './open-database.ts'

describe('the SQLite store', () => {
  const databases = new Map<SqliteStore, TestDatabase>()
  const cases = domainStoreSuite({
    createStore({ teams, synchronize }) {
      const database = openDatabase()
      const store = createSqliteStore({
        database,
        findTeam: id => teams.find(team => team.id === id) ?? null,
        synchronize,
      })
      databases.set(store, database)
      return store
    },
    closeStore: store => databases.get(store)?.close() as undefined,
    features: ['synchronize', 'synchronizePending', 'release'],
  })
  test.each(cases)('$name', ({ run }) => run())
})
