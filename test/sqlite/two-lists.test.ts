import { describeTwoLists, findTeam } from '../store/two-lists.ts'
import { openDatabase } from './open-database.ts'

describeTwoLists(async () => {
  const database = openDatabase()
  return ({ createSqliteStore }) => createSqliteStore({ database, findTeam })
})
