import { createSqliteStore } from '../../src/sqlite/index.ts'
import { describeSharedTables } from '../store/shared-tables.ts'
import { findTeam } from '../store/two-lists.ts'
import { openDatabase } from './open-database.ts'

describeSharedTables(async () => {
  const database = openDatabase()
  return options => createSqliteStore({ database, findTeam, ...options })
})
