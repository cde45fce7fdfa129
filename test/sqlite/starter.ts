/** A process that opens a store in each file that it is given, run by `start.test.ts`. */
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { openDatabase } from './open-database.ts'

process.on('message', (file: string) => {
  createSqliteStore({ database: openDatabase(file), findTeam: () => null })
  process.send?.('open')
})
process.send?.('ready')
