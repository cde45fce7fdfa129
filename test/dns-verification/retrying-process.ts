/**
 * A process that retries names that wait, and stops at a step, where `names-that-wait.test.ts` kills it.
 */
import { Pool, type PoolConfig } from 'pg'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { retryWaiting, type Tried } from '../../src/index.ts'
import { createPostgresStore, createPostgresWaitingStore } from '../../src/postgres/index.ts'

export type Step = 'asking' | 'telling' | 'forgetting'

export interface Assignment {
  readonly config: PoolConfig
  readonly server: string
  readonly secret: string
  readonly step: Step
}

const { config, server, secret, step } = JSON.parse(process.argv[2] ?? '') as Assignment
const database = new Pool(config)
const store = createPostgresStore({ database, findTeam: id => ({ id, organizationId: '10', state: 'active' }) })
const waiting = createPostgresWaitingStore({ database })
const { checkNames } = createDnsVerification({ label: '_example-challenge', secret, servers: [server] })

/** Tells the parent, and waits until it kills this process. */
function stopAt(reached: Step): Promise<void> {
  if (reached !== step) return Promise.resolve()
  process.send?.(reached)
  return new Promise(() => setInterval(() => {}, 1000))
}

await retryWaiting({
  store,
  waiting: {
    ...waiting,
    async settle(teamId: string, tried: readonly Tried[], hasten) {
      if (tried.some(({ isOver }) => isOver)) await stopAt('forgetting')
      return waiting.settle(teamId, tried, hasten)
    },
  },
  async checkNames(...question) {
    await stopAt('asking')
    return checkNames(...question)
  },
  onSettled: () => stopAt('telling'),
})
