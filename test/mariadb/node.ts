/** One of our servers on MariaDB in its own process, run by `nodes.ts`. */
import { createMemoryKeyStore, type KeyRecord } from 'domain-registration'
import { createPool, type PoolOptions } from 'mysql2/promise'
import { createMariadbStore } from '../../examples/mariadb-store.ts'
import type { Push } from '../../src/outbox/contract.ts'
import { findTeam, type MonitorAddress, pushTo, serveNode } from '../whole-system/serve-node.ts'

interface NodeTask {
  readonly config: PoolOptions
  /**
   * The address of a monitor that gets pushes over HTTP. Default: a monitor that saves its changes in the table
   * `pushes`.
   */
  readonly monitor?: MonitorAddress
  readonly keys: readonly KeyRecord[]
  /** The number of this node. */
  readonly node: number
}

/** One in this many pushes fails because the monitor is unavailable. */
const REFUSED = 5

process.once('message', ({ config, monitor, keys: records, node }: NodeTask) => {
  const store = createMariadbStore({
    database: createPool({ ...config, connectionLimit: 4 }),
    findTeam,
    ...(monitor ? pushTo(monitor) : { synchronize: pushToTable(config, node) }),
    onError() {},
  })
  const keys = createMemoryKeyStore()
  for (const record of records) keys.addKey(record)
  serveNode(store, keys)
})
process.once('disconnect', () => process.exit())

function pushToTable(config: PoolOptions, node: number): Push {
  const pool = createPool({ ...config, connectionLimit: 2 })
  let pushes = 0
  return async changes => {
    pushes += 1
    if (pushes % REFUSED === 0) throw new Error('The monitor is unavailable')
    await pool.query('INSERT INTO pushes VALUES ?', [changes.map(({ domainId }) => [domainId, node])])
  }
}
