import { describe, test } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { domainStoreSuite, managedStoreFeatures, type SuiteStore } from '../../src/testing/index.ts'
import { openDatabase, type TestDatabase } from './open-database.ts'

describe('the SQLite store', () => {
  const databases = new Map<SuiteStore, TestDatabase>()
  const cases = domainStoreSuite({
    createStore({ teams, ...options }) {
      const database = openDatabase()
      const findTeam = (id: string) => teams.find(team => team.id === id) ?? null
      const store = createSqliteStore({ ...options, database, findTeam })
      databases.set(store, database)
      return store
    },
    closeStore: store => databases.get(store)?.close(),
    features: [...managedStoreFeatures, 'import', 'transfer'],
    timeLimit: 20_000,
  })
  for (const { name, run } of cases) test(name, run)
})
