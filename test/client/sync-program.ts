/** A process that runs `syncAll`. The test may kill it. */
import { type SyncAllOptions, syncAll } from '../../src/client/index.ts'

process.once('message', async ({ wanted, options }: { wanted: string[]; options: SyncAllOptions }) => {
  process.send?.(await syncAll(wanted, options))
  process.disconnect()
})
