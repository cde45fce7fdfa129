/** One of our servers in its own process, on a SQLite file. `nodes.ts` runs it. */
import type { SqliteHandle } from '../../src/sqlite/driver.ts'
import { createSqliteKeyStore, createSqliteStore } from '../../src/sqlite/index.ts'
import { findTeam, pushTo, serveNode } from './serve-node.ts'
import type { SystemTask } from './whole-system.ts'

interface NodeTask extends SystemTask {
  readonly config: { readonly file: string }
}

process.once('message', async ({ config: { file }, monitor, keys: records }: NodeTask) => {
  const store = createSqliteStore({ database: openDatabase(file), findTeam, timeLimit: 10_000, ...pushTo(monitor) })
  const keys = createSqliteKeyStore({ database: openDatabase(file) })
  for (const record of records) await keys.addKey(record)
  serveNode(store, keys)
})
process.once('disconnect', () => process.exit())

/** Each store has its own connection. */
function openDatabase(file: string): SqliteHandle {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    DatabaseSync: new (file: string) => SqliteHandle
  }
  return new DatabaseSync(file)
}
