import { createSqliteStore } from '../../src/sqlite/index.ts'
import { testAgainstMemory } from '../store/model.ts'
import { openDatabase } from './open-database.ts'

testAgainstMemory('SQLite', () => {
  const database = openDatabase()
  return {
    create: async options => createSqliteStore({ ...options, database }),
    hasten: async milliseconds =>
      database.prepare('UPDATE domain_registration_changes SET due = due - ?').run(milliseconds),
  }
})
