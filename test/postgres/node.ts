/** One of our servers in its own process, run by `nodes.ts`. Any number of these processes can share a database. */
import { Pool, type PoolConfig } from 'pg'
import type { KeyRecord } from '../../src/index.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { findTeam, type MonitorAddress, pushTo, serveNode } from '../whole-system/serve-node.ts'

export interface NodeTask {
  readonly config: PoolConfig
  /** Default: nothing is pushed. */
  readonly monitor?: MonitorAddress
  readonly schema: string
  /** Keys that the server adds when it starts. Default: none. */
  readonly keys?: readonly KeyRecord[]
}

async function serve({ config, monitor, schema, keys: records = [] }: NodeTask): Promise<void> {
  const pool = new Pool({ ...config, max: 4, pipeline: true })
  pool.on('error', () => {})
  await migrate({ database: pool, schema })

  const store = createPostgresStore({
    database: pool,
    schema,
    timeLimit: 10_000,
    findTeam,
    ...(monitor && pushTo(monitor)),
  })
  const keys = createPostgresKeyStore({ database: pool, schema })
  for (const record of records) await keys.addKey(record)
  serveNode(store, keys)
}

/**
 * If a server finds no database when it starts, it reports the error and exits, and a supervisor restarts the server.
 */
const end = (error: unknown) => process.send?.({ failure: String(error) }, () => process.exit(1))

process.once('message', (task: NodeTask) => void serve(task).catch(end))
process.once('disconnect', () => process.exit())
