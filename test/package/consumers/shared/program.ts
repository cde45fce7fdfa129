import {
  classifyHostname,
  createMemoryStore,
  type DomainStore,
  type InvalidCode,
  type KeyContext,
  type RegisterDomainsResponse,
  registerDomains,
} from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsPlugin } from 'domain-registration/fastify'
import { domainsHandler } from 'domain-registration/fetch'
import { createHandler, type HandlerResponse } from 'domain-registration/http'
import { type OpenApiDocument, openapi } from 'domain-registration/openapi'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresPool,
  postgresSchema,
} from 'domain-registration/postgres'
import {
  createSqliteKeyStore,
  createSqliteStore,
  type DurableObjectStorage,
  type SqliteHandle,
  sqliteSchema,
} from 'domain-registration/sqlite'
import { domainStoreSuite, type StoreCase } from 'domain-registration/testing'
import express from 'express'
import fastify from 'fastify'

const store: DomainStore = createMemoryStore()
const keyContext: KeyContext = { type: 'organization', organizationId: '1', scopes: [] }
const response: Promise<RegisterDomainsResponse> = registerDomains(keyContext, {}, store)
void response.then(({ data }) =>
  data.results.map(result => (result.status === 'invalid' ? result.code : result.domainId)),
)

const hostname = classifyHostname('example.com')
export const outcome: InvalidCode | string = hostname.valid ? hostname.registrableDomain : hostname.code

express().use(domainsRouter({ store, authenticate: () => keyContext }))
express().use('/api', domainsRouter({ store, keys: { findKey: () => null }, path: '/' }))
fastify().register(domainsPlugin, { store, authenticate: () => keyContext })
fastify({ http2: true }).register(domainsPlugin, { store, keys: { findKey: () => null }, path: '/', prefix: '/api' })
export const POST: (request: Request) => Promise<Response> = domainsHandler({ store, keys: { findKey: () => null } })
export const answer: Promise<HandlerResponse> = createHandler({ store, authenticate: async () => keyContext })({
  header: () => undefined,
  readBody: () => ({ text: '' }),
})
export const cases: readonly StoreCase[] = domainStoreSuite({ createStore: createMemoryStore, features: ['release'] })
export const document: OpenApiDocument = openapi({
  info: { title: 'Monitoring', summary: undefined },
  servers: [{ url: 'https://api.example.com' }],
})
export const successes: object = openapi({ path: '/names' }).paths['/names'].post.responses[200].content
export const { RegisterDomainsResponse: schema }: { RegisterDomainsResponse: object } = document.components.schemas
declare const pool: PostgresPool
export const durable: DomainStore = createPostgresStore({ database: pool, findTeam: () => null })
export const migrated: Promise<void> = migrate({ database: pool, schema: 'registry' })
export const sql: string = postgresSchema()
createHandler({ store: durable, keys: createPostgresKeyStore({ database: pool }) })
declare const database: SqliteHandle
declare const storage: DurableObjectStorage
export const file: DomainStore = createSqliteStore({ database, findTeam: () => null, synchronize: undefined })
export const tables: string = sqliteSchema()
createHandler({ store: file, keys: createSqliteKeyStore({ database: storage, synchronous: 'normal' }) })
