/** One of our servers in its own process, run by `nodes.ts`. Any number of these processes can share a database. */
import { Pool, type PoolConfig } from 'pg'
import type { KeyRecord } from '../../src/index.ts'
import type { Push } from '../../src/outbox/contract.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { findTeam, type MonitorAddress, pushTo, serveNode } from '../whole-system/serve-node.ts'

export interface NodeTask {
  readonly config: PoolConfig
  /** The table in which a monitor saves its changes, or the address of a monitor that gets pushes over HTTP. */
  readonly monitor: PoolConfig | MonitorAddress
  readonly schema: string
  /** Keys that the server adds when it starts. Default: none. */
  readonly keys?: readonly KeyRecord[]
  /** The number of this node. */
  readonly node: number
}

/** One in this many pushes fails because the monitor is unavailable. */
const REFUSED = 5
async function serve({ config, monitor, schema, keys: records = [], node }: NodeTask): Promise<void> {
  const pool = new Pool({ ...config, max: 4, pipeline: true })
  pool.on('error', () => {})
  await migrate({ database: pool, schema })

  const store = createPostgresStore({
    database: pool,
    schema,
    timeLimit: 10_000,
    findTeam,
    ...('url' in monitor ? pushTo(monitor) : { synchronize: pushToTable(monitor, node) }),
  })
  const keys = createPostgresKeyStore({ database: pool, schema })
  for (const record of records) await keys.addKey(record)
  serveNode(store, keys)
}

function pushToTable(monitor: PoolConfig, node: number): Push {
  const pool = new Pool({ ...monitor, max: 2 })
  pool.on('error', () => {})
  let pushes = 0
  return async changes => {
    pushes += 1
    if (pushes % REFUSED === 0) throw new Error('The monitor is unavailable')
    const ids = changes.map(({ domainId }) => domainId)
    await pool.query('INSERT INTO monitor.pushes (domain_id, node) SELECT unnest($1::uuid[]), $2', [ids, node])
  }
}

/**
 * If a server finds no database when it starts, it reports the error and exits, and a supervisor restarts the server.
 */
const end = (error: unknown) => process.send?.({ failure: String(error) }, () => process.exit(1))

process.once('message', (task: NodeTask) => void serve(task).catch(end))
process.once('disconnect', () => process.exit())
