const assert = require('node:assert/strict')
const { ApiError, createMemoryKeyStore, createMemoryStore, registerDomains } = require('domain-registration')
const { domainsRouter } = require('domain-registration/express')
const { createHandler } = require('domain-registration/http')
const { postgresSchema } = require('domain-registration/postgres')
const { domainStoreSuite } = require('domain-registration/testing')
const express = require('express')

async function main() {
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '1', state: 'active' }] })
  const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
  const { data } = await registerDomains(keyContext, { domains: ['www.example.com', 'bücher.de', '127.1'] }, store)
  assert.deepEqual(data.totals, { created: 2, existing: 0, invalid: 1 })
  await assert.rejects(registerDomains(keyContext, {}, store), ApiError)

  express().use(domainsRouter({ store, keys: createMemoryKeyStore() }))
  // An ApiError of the main entry point is known to the others: they share one class.
  const authenticate = () => {
    throw new ApiError('unauthorized', 'No session.')
  }
  const { status } = await createHandler({ store, authenticate })({
    header: () => null,
    readBody: () => ({ json: {} }),
  })
  assert.equal(status, 401)
  assert.match(postgresSchema({ schema: 'registry' }), /CREATE SCHEMA IF NOT EXISTS "registry"/)
  for (const { run } of domainStoreSuite({
    createStore: createMemoryStore,
    features: ['release', 'synchronizePending'],
  }))
    await run()
  console.log('require works')
}

main()
