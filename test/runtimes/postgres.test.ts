import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'
import { startServer, type TestServer } from '../postgres/server.ts'
import { bun, why } from './runtimes.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

let server: TestServer
beforeAll(async () => {
  server = await startServer()
}, 60_000)
afterAll(() => server.stop())

test.skipIf(!bun.program)(
  `every case of the suite passes with Bun.sql on PostgreSQL${bun.program ? '' : why}`,
  { timeout: 120_000 },
  async () => {
    const { host, port, user, password, database } = server.config
    const url = `postgres://${user}:${password}@${host}:${port}/${database}`
    const parameters = [...bun.run, 'postgres/run-suite.js', url]
    const { stdout } = await promisify(execFile)(bun.program as string, parameters, { cwd: here, maxBuffer: 2 ** 26 })
    const { outcomes, isAdded, found } = JSON.parse(stdout)
    const features = [...managedStoreFeatures, 'import', 'transfer'] as const
    const cases = domainStoreSuite({ createStore: createMemoryStore, features })
    expect(outcomes).toEqual(cases.map(({ id }) => ({ id, failure: null })))
    expect(isAdded).toEqual([true, false])
    expect(found).toMatchObject({ ownerId: '1', scopes: ['domains:create'], expiresAt: new Date(0).toISOString() })
  },
)
