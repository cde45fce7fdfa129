import { once } from 'node:events'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { openDatabase } from './open-database.ts'

/**
 * A process that sweeps a file until nothing is due, and then reports the pushed changes. The process also reports when
 * its first push begins, and completes this push only when it gets a message.
 */
const [, , file = ''] = process.argv
const database = openDatabase(file)
const pushed: string[] = []
const store = createSqliteStore({
  database,
  findTeam: () => null,
  async synchronize(changes) {
    if (pushed.length === 0) {
      const goOn = once(process, 'message')
      process.send?.('pushing')
      await goOn
    }
    pushed.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
  },
})

while ((await store.synchronizePending({ limit: 25 })).synchronized > 0);
database.close()
process.send?.(pushed, () => process.disconnect())
