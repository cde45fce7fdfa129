import { createSqliteStore } from '../../src/sqlite/index.ts'
import { openDatabase } from './open-database.ts'

/** Opens a store in a file, with any team that is asked for. */
export const openStore = (file: string) =>
  createSqliteStore({
    database: openDatabase(file),
    findTeam: id => ({ id, organizationId: '1', state: 'active' }),
  })
