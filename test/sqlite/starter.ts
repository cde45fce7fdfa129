/** A process that opens a store on each of the given files; `start.test.ts` runs it. */
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { openDatabase } from './open-database.ts'

process.on('message', (file: string) => {
  createSqliteStore({ database: openDatabase(file), findTeam: () => null })
  process.send?.('open')
})
process.send?.('ready')
