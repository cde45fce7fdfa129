import type { AddressInfo } from 'node:net'
import express from 'express'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { domainsRouter } from '../../src/adapters/express.ts'
import { createDeadline } from '../../src/deadline.ts'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { type DriverOptions, type PostgresDriver, toDatabase } from '../../src/postgres/driver.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresKeyStore,
  type PostgresSchemaOptions,
} from '../../src/postgres/index.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/domain-store-suite.ts'
import { sample } from '../counts.ts'
import { scopes, teams } from '../fixtures.ts'
import { describeKeyStore as describeManagedKeyStore } from '../keys/key-store-suite.ts'
import { throughFirst } from './engine.ts'

/** Gives the one pool of a file of tests. */
type OpenPool = () => PostgresDriver

type StoreOptions = PostgresSchemaOptions & Pick<DriverOptions, 'preparedStatements'>

/**
 * Cases run one after the other, in a schema whose name must be quoted.
 *
 * @param most So many of them, spread over all.
 */
export function describeStore(name: string, open: OpenPool, options: StoreOptions = {}, most = Infinity): void {
  describe(`the store on ${name}`, () => {
    const { schema = `Ä "${name}" 🌍 $1; --` } = options
    const quoted = `"${schema.replaceAll('"', '""')}"`
    let pool: PostgresDriver
    beforeAll(async () => {
      pool = open()
      await migrate({ database: throughFirst(pool), schema })
    })
    const suite = domainStoreSuite({
      async createStore({ teams, ...setup }) {
        for (const table of ['names', 'changes']) await clear(pool, `${quoted}.${table}`)
        return createPostgresStore({
          ...setup,
          preparedStatements: options.preparedStatements,
          database: pool,
          schema,
          findTeam: id => teams.find(team => team.id === id) ?? null,
        })
      },
      features: managedStoreFeatures,
    })
    for (const { name, run } of sample(suite, most)) test(name, run)
    test('is asked many cases', () => expect(suite.length).toBeGreaterThan(90))
  })
}

async function clear(pool: PostgresDriver, table: string): Promise<void> {
  const database = toDatabase({ database: pool, preparedStatements: false })
  await database.ask(createDeadline(5000), { name: 'clear', text: `DELETE FROM ${table}` })
}

export function describeKeyStore(
  name: string,
  open: OpenPool,
  options: Pick<DriverOptions, 'preparedStatements'> = {},
): void {
  describe(`with ${name},`, () => {
    let keys: PostgresKeyStore
    beforeAll(async () => {
      const pool = open()
      await migrate({ database: throughFirst(pool), schema: 'keys "of" mine' })
      keys = createPostgresKeyStore({ ...options, database: pool, schema: 'keys "of" mine' })
    })
    describeManagedKeyStore('PostgreSQL', () => keys)

    test('a key store rejects when it cannot tell', async () => {
      const absent = createPostgresKeyStore({ database: open(), schema: 'not there' })
      await expect(absent.findKey('a'.repeat(64))).rejects.toMatchObject({ code: '42P01' })
    })
  })
}

export function describeServer(name: string, open: OpenPool): void {
  describe(`over HTTP, with registrations and keys in ${name},`, () => {
    async function serve() {
      const pool = open()
      await migrate({ database: throughFirst(pool) })
      const monitor = { isOnline: true, watched: [] as string[] }
      const keys = createPostgresKeyStore({ database: pool })
      const store = createPostgresStore({
        database: pool,
        findTeam: id => teams.find(team => team.id === id) ?? null,
        synchronize(registrations) {
          if (!monitor.isOnline) throw new Error('The monitor is offline')
          monitor.watched.push(...registrations.map(({ domainId }) => domainId))
        },
      })
      const onError = vi.fn()
      const server = express().use(domainsRouter({ store, keys, onError })).listen(0, '127.0.0.1')
      await new Promise(resolve => server.once('listening', resolve))
      const { port } = server.address() as AddressInfo
      const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
      await keys.addKey({ hash, type: 'team', ownerId: '1', scopes })
      async function post(domains: readonly string[]) {
        const response = await fetch(`http://127.0.0.1:${port}/v1/domains`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ domains }),
        })
        return { status: response.status, body: await response.json() }
      }
      return { post, monitor, keys, hash, store, onError, close: () => server.close() }
    }

    test('names are registered once, pushed, and answered with the same IDs; a revoked key is refused', async () => {
      const { post, monitor, keys, hash, store, onError, close } = await serve()
      try {
        const domains = ['www.example.com', '*.example.org', 'example.net', 'localhost']
        monitor.isOnline = false
        expect(await post(domains)).toMatchObject({ status: 503, body: { error: 'domain_registration_unavailable' } })
        expect(onError).toHaveBeenCalledTimes(1)
        monitor.isOnline = true
        const retry = await post(domains)
        expect(retry).toMatchObject({
          status: 200,
          body: { data: { totals: { created: 0, existing: 3, invalid: 1 } } },
        })
        const ids = retry.body.data.results.flatMap(({ domainId = [] }) => domainId)
        expect(monitor.watched).toEqual(ids)
        expect(await store.synchronizePending()).toEqual({ synchronized: 0, failed: 0 })
        const third = await post(domains)
        expect(third).toEqual(retry)
        expect(monitor.watched).toHaveLength(3)

        expect(await keys.revokeKey(hash)).toBe(true)
        expect(await post(domains)).toMatchObject({ status: 401 })
      } finally {
        close()
      }
    })
  })
}
