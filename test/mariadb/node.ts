/** One of our servers on MariaDB in its own process, run by `nodes.ts`. */
import { createMemoryKeyStore, type KeyRecord } from 'domain-registration'
import { createPool, type PoolOptions } from 'mysql2/promise'
import { createMariadbStore } from '../../examples/mariadb-store.ts'
import { findTeam, type MonitorAddress, pushTo, serveNode } from '../whole-system/serve-node.ts'

interface NodeTask {
  readonly config: PoolOptions
  readonly monitor: MonitorAddress
  readonly keys: readonly KeyRecord[]
}

process.once('message', ({ config, monitor, keys: records }: NodeTask) => {
  const store = createMariadbStore({
    database: createPool({ ...config, connectionLimit: 4 }),
    findTeam,
    ...pushTo(monitor),
    onError() {},
  })
  const keys = createMemoryKeyStore()
  for (const record of records) keys.addKey(record)
  serveNode(store, keys)
})
process.once('disconnect', () => process.exit())
