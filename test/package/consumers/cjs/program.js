const assert = require('node:assert/strict')
const { ApiError, createMemoryKeyStore, createMemoryStore, registerDomains } = require('domain-registration')
const { domainsRouter } = require('domain-registration/express')
const { domainsPlugin } = require('domain-registration/fastify')
const { domainsHandler } = require('domain-registration/fetch')
const { createHandler } = require('domain-registration/http')
const express = require('express')
const fastify = require('fastify')

async function main() {
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '1', state: 'active' }] })
  const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
  const { data } = await registerDomains(keyContext, { domains: ['www.example.com', 'bücher.de', '127.1'] }, store)
  assert.deepEqual(data.totals, { created: 2, existing: 0, invalid: 1 })
  await assert.rejects(registerDomains(keyContext, {}, store), ApiError)

  express().use(domainsRouter({ store, keys: createMemoryKeyStore() }))
  await fastify().register(domainsPlugin, { store, keys: createMemoryKeyStore() })
  const request = new Request('http://localhost/v1/domains', { method: 'POST' })
  assert.equal((await domainsHandler({ store, keys: createMemoryKeyStore() })(request)).status, 401)
  // All entry points use the same `ApiError` class.
  const authenticate = () => {
    throw new ApiError('unauthorized', 'No session.')
  }
  const { status } = await createHandler({ store, authenticate })({
    header: () => null,
    readBody: () => ({ json: {} }),
  })
  assert.equal(status, 401)
  // The rest is the same as in the program with `import`.
  const { exports } = require('domain-registration/package.json')
  for (const entry of Object.keys(exports))
    assert.ok(Object.keys(require(entry.replace('.', 'domain-registration'))).length > 0)
  console.log('require works')
}

main()
