/** One of our servers on MariaDB, in its own process: run by `mariadb.test.ts`. */
import type { AddressInfo } from 'node:net'
import { createMemoryKeyStore, type KeyRecord, startSynchronizing } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'
import { createPool, type PoolOptions } from 'mysql2/promise'
import { createMariadbStore } from '../../examples/mariadb-store.ts'
import { teams } from '../fixtures.ts'
import type { NodeMessage } from '../postgres/node.ts'

interface NodeTask {
  readonly config: PoolOptions
  readonly keys: readonly KeyRecord[]
  /** Its number among the nodes. */
  readonly node: number
}

/** The monitor is unavailable once in this many pushes. */
const REFUSED = 5
/** Milliseconds between two sweeps. */
const SWEEP = 50

process.once('message', ({ config, keys: records, node }: NodeTask) => {
  const database = createPool({ ...config, connectionLimit: 4 })
  const monitor = createPool({ ...config, connectionLimit: 2 })
  let pushes = 0
  const store = createMariadbStore({
    database,
    findTeam: id => teams.find(team => team.id === id) ?? null,
    async synchronize(changes) {
      pushes += 1
      if (pushes % REFUSED === 0) throw new Error('The monitor is unavailable')
      await monitor.query('INSERT INTO pushes VALUES ?', [changes.map(({ domainId }) => [domainId, node])])
    },
    onError() {},
  })
  startSynchronizing(store, { interval: SWEEP, onError() {} })

  const keys = createMemoryKeyStore()
  for (const record of records) keys.addKey(record)
  const app = express().use(domainsRouter({ store, keys, onError() {} }))
  const tell = (message: NodeMessage) => process.send?.(message)
  const server = app.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }))
})
process.once('disconnect', () => process.exit())
