import { describe, test } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { domainStoreSuite, type SuiteStore } from '../../src/testing/domain-store-suite.ts'
import { openDatabase, type TestDatabase } from './open-database.ts'

describe('the SQLite store', () => {
  const databases = new Map<SuiteStore, TestDatabase>()
  const cases = domainStoreSuite({
    createStore({ teams, synchronize }) {
      const database = openDatabase()
      // Its sweeps are not yet those of the contract.
      const { synchronizePending, ...store } = createSqliteStore({
        database,
        findTeam: id => teams.find(team => team.id === id) ?? null,
        synchronize,
      })
      databases.set(store, database)
      return store
    },
    closeStore: store => databases.get(store)?.close() as undefined,
    features: ['synchronize', 'release'],
  })
  test.each(cases)('$name', ({ run }) => run())
})
