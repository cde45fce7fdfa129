import type { AddressInfo } from 'node:net'
import express from 'express'
import { domainsRouter } from '../../src/http/express.ts'
import type { KeyStore } from '../../src/keys/key-store.ts'
import { startSynchronizing } from '../../src/outbox/start-synchronizing.ts'
import type { Team } from '../../src/rules/registration.ts'
import type { ManagedStore } from '../../src/store/managed-store.ts'
import { createWebhook, type Webhook, type WebhookOptions } from '../../src/webhook/index.ts'
import { operatorRouter } from './operator.ts'

/**
 * The messages of a node. The first message contains the node's port, and each further message a failure that the
 * application on the node received.
 */
export type NodeMessage = { readonly port: number } | { readonly failure: string }

/** The address of a monitor that receives pushes over HTTP. */
export type MonitorAddress = Pick<WebhookOptions, 'url' | 'secret'>

/** Milliseconds between two sweeps. */
const SWEEP = 50
/**
 * The time limit of a push over HTTP, in milliseconds. When a node is killed, its leases expire after three times this
 * limit.
 */
const PUSH = 1000

/** The number of names that a team may register if its ID begins with 4. Other teams have no limit. */
export const LIMIT = 20

/** Every team exists and belongs to the same organization. */
export const findTeam = (id: string): Team => ({
  id,
  organizationId: '10',
  state: 'active',
  maxDomains: id.startsWith('4') ? LIMIT : null,
})

export const tell = (message: NodeMessage) => process.send?.(message)

/** The options of a store that pushes over HTTP. */
export function pushTo(monitor: MonitorAddress): { synchronize: Webhook; synchronizeTimeLimit: number } {
  return { synchronize: createWebhook({ ...monitor, timeLimit: PUSH / 2 }), synchronizeTimeLimit: PUSH }
}

/**
 * The part that is the same for all stores: sweeps, the HTTP API, and a route for functions that an application calls
 * itself.
 */
export function serveNode(store: ManagedStore, keys: KeyStore): void {
  const onError = (error: unknown) => tell({ failure: String(error) })
  startSynchronizing(store, { interval: SWEEP, onError })
  const app = express()
  app.use(domainsRouter({ store, keys, operations: ['create', 'delete'], onError }))
  app.use(operatorRouter(store))
  const server = app.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }))
}
