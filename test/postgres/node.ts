/** A server of ours, one of any number on one database, as a process of its own: run by `nodes.ts`. */
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Pool, type PoolConfig } from 'pg'
import { domainsRouter } from '../../src/adapters/express.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { startSynchronizing } from '../../src/start-synchronizing.ts'
import { teams } from '../fixtures.ts'

export interface NodeTask {
  readonly config: PoolConfig
  /** Where the monitor keeps what it is told. */
  readonly monitor: PoolConfig
  readonly schema: string
  /** Its number among the nodes. */
  readonly node: number
}

/** What a node tells: first where it listens, then each failure that its host learns of. */
export type NodeMessage = { readonly port: number } | { readonly failure: string }

/** Every so many pushes the monitor is away. */
const REFUSED = 5
/** Milliseconds between two sweeps of what is not synchronized. */
const SWEEP = 50

const tell = (message: NodeMessage) => process.send?.(message)

async function serve({ config, monitor, schema, node }: NodeTask): Promise<void> {
  const pool = new Pool({ ...config, max: 4, pipeline: true })
  pool.on('error', () => {})
  await migrate({ database: pool, schema })

  const monitorPool = new Pool({ ...monitor, max: 2 })
  monitorPool.on('error', () => {})
  let pushes = 0
  const store = createPostgresStore({
    database: pool,
    schema,
    timeLimit: 10_000,
    findTeam: id => teams.find(team => team.id === id) ?? null,
    async synchronize(registrations) {
      pushes += 1
      if (pushes % REFUSED === 0) throw new Error('The monitor is away')
      const ids = registrations.map(({ domainId }) => domainId)
      await monitorPool.query('INSERT INTO monitor.pushes (domain_id, node) SELECT unnest($1::uuid[]), $2', [ids, node])
    },
  })
  const keys = createPostgresKeyStore({ database: pool, schema })

  startSynchronizing(store, { interval: SWEEP, onError: error => tell({ failure: String(error) }) })

  const app = express()
  app.use(domainsRouter({ store, keys, onError: error => tell({ failure: String(error) }) }))
  const server = app.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }))
}

process.once('message', (task: NodeTask) => void serve(task))
process.once('disconnect', () => process.exit())
