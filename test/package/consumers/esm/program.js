import assert from 'node:assert/strict'
import { ApiError, createMemoryKeyStore, createMemoryStore, isApiError, registerDomains } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsPlugin } from 'domain-registration/fastify'
import { domainsHandler } from 'domain-registration/fetch'
import { createHandler } from 'domain-registration/http'
import { openapi } from 'domain-registration/openapi'
import { postgresSchema } from 'domain-registration/postgres'
import { sqliteSchema } from 'domain-registration/sqlite'
import { toKey } from 'domain-registration/store'
import { domainStoreSuite, managedStoreFeatures } from 'domain-registration/testing'
import express from 'express'
import fastify from 'fastify'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '1', state: 'active' }] })
const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
const { data } = await registerDomains(keyContext, { domains: ['www.example.com', 'bücher.de', '127.1'] }, store)
assert.deepEqual(data.totals, { created: 2, existing: 0, invalid: 1 })
await assert.rejects(registerDomains(keyContext, {}, store), error => error instanceof ApiError && isApiError(error))

express().use(domainsRouter({ store, keys: createMemoryKeyStore() }))
await fastify().register(domainsPlugin, { store, keys: createMemoryKeyStore() })
const request = new Request('http://localhost/v1/domains', { method: 'POST' })
assert.equal((await domainsHandler({ store, keys: createMemoryKeyStore() })(request)).status, 401)
const { status } = await createHandler({ store, keys: createMemoryKeyStore() })({
  header: () => null,
  readBody: () => ({ json: {} }),
})
assert.equal(status, 401)
assert.ok(openapi().paths['/v1/domains'])
assert.match(postgresSchema({ schema: 'registry' }), /CREATE SCHEMA IF NOT EXISTS "registry"/)
assert.equal(toKey('www.example.com').secondLevelDomain, 'example.com')
assert.match(sqliteSchema(), /CREATE TABLE IF NOT EXISTS domain_registration_names/)
for (const { run } of domainStoreSuite({ createStore: createMemoryStore, features: managedStoreFeatures })) await run()
console.log('import works')
