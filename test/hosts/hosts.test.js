/** Calls the NestJS recipe of docs/frameworks.md as NestJS does. Run by `npm run test:hosts`. */
import 'reflect-metadata'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
const body = '{"domains":["www.example.com"]}'

/** In TypeScript: `@Module({}) class AppModule implements NestModule`. */
class AppModule {
  configure(consumer) {
    const [handleRequest] = domainsRouter({ store, keys })
    consumer.apply(handleRequest).forRoutes('/')
  }
}
Module({})(AppModule)

test('NestJS serves the router as middleware', async () => {
  const app = await NestFactory.create(AppModule, { logger: false })
  await app.listen(0, '127.0.0.1')
  try {
    const url = await app.getUrl()
    for (const path of ['/v1/domains', '/v1/domains/']) {
      const response = await fetch(url + path, { method: 'POST', headers, body })
      assert.equal(response.status, 200)
    }
    assert.equal((await fetch(`${url}/v1/domains`, { method: 'POST', body })).status, 401)
    assert.equal((await fetch(`${url}/other`, { method: 'POST', headers, body })).status, 404)
  } finally {
    await app.close()
  }
})
