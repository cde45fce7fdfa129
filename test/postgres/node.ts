/** One of our servers in its own process, run by `nodes.ts`. Any number of them share a database. */
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Pool, type PoolConfig } from 'pg'
import { domainsRouter } from '../../src/adapters/express.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import type { Push } from '../../src/registry/outbox.ts'
import { startSynchronizing } from '../../src/registry/start-synchronizing.ts'
import { createWebhook, type WebhookOptions } from '../../src/webhook/index.ts'
import { teams } from '../fixtures.ts'

export interface NodeTask {
  readonly config: PoolConfig
  /** The table in which a monitor saves its changes, or a monitor that gets pushes over HTTP. */
  readonly monitor: PoolConfig | Pick<WebhookOptions, 'url' | 'secret'>
  readonly schema: string
  /** Its number among the nodes. */
  readonly node: number
}

/** The messages of a node: first its port, then each failure that its application receives. */
export type NodeMessage = { readonly port: number } | { readonly failure: string }

/** The monitor is unavailable once in this many pushes. */
const REFUSED = 5
/** Milliseconds between two sweeps. */
const SWEEP = 50

/** Time limit of a push over HTTP, in milliseconds. The leases of a killed node expire after three times that. */
const PUSH = 1000

const tell = (message: NodeMessage) => process.send?.(message)

async function serve({ config, monitor, schema, node }: NodeTask): Promise<void> {
  const pool = new Pool({ ...config, max: 4, pipeline: true })
  pool.on('error', () => {})
  await migrate({ database: pool, schema })

  const store = createPostgresStore({
    database: pool,
    schema,
    timeLimit: 10_000,
    findTeam: id => teams.find(team => team.id === id) ?? null,
    ...('url' in monitor
      ? { synchronize: createWebhook({ ...monitor, timeLimit: PUSH / 2 }), synchronizeTimeLimit: PUSH }
      : { synchronize: pushToTable(monitor, node) }),
  })
  const keys = createPostgresKeyStore({ database: pool, schema })

  startSynchronizing(store, { interval: SWEEP, onError: error => tell({ failure: String(error) }) })

  const app = express()
  const operations = ['create', 'delete'] as const
  app.use(domainsRouter({ store, keys, operations, onError: error => tell({ failure: String(error) }) }))
  const server = app.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }))
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

/** A server that finds no database when it starts says so and exits; a supervisor restarts it. */
const end = (error: unknown) => process.send?.({ failure: String(error) } satisfies NodeMessage, () => process.exit(1))

process.once('message', (task: NodeTask) => void serve(task).catch(end))
process.once('disconnect', () => process.exit())
