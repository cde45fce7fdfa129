import { once } from 'node:events'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { PATIENCE } from '../patience.ts'
import { openDatabase } from './open-database.ts'

/**
 * A process that opens a store on each file that it is sent, and then says "open". When it is sent "sweep", it sweeps
 * the last file until nothing is due, and then reports the pushed changes. It also reports when its first push begins,
 * and completes this push only when it is sent another message.
 */
const pushed: string[] = []
let store: ReturnType<typeof open>
const open = (file: string) =>
  createSqliteStore({
    database: openDatabase(file),
    findTeam: () => null,
    timeLimit: PATIENCE,
    async synchronize(changes) {
      if (pushed.length === 0) {
        process.send?.('pushing')
        await once(process, 'message')
      }
      pushed.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
    },
  })

async function sweep(): Promise<void> {
  while ((await store.synchronizePending({ limit: 25 })).synchronized > 0);
  process.send?.(pushed)
}

process.on('message', (message: { open: string } | 'sweep' | 'go on') => {
  if (message === 'sweep') void sweep()
  else if (message !== 'go on') {
    store = open(message.open)
    process.send?.('open')
  }
})
process.send?.('ready')
