// Programs of applications, some of which once failed to compile. This file is only compiled, never run.
import {
  ApiError,
  classifyHostname,
  createMemoryKeyStore,
  createMemoryStore,
  type DomainStore,
  generateApiKey,
  type InvalidCode,
  isApiError,
  type KeyContext,
  type KeyRecord,
  type RegisterDomainsResponse,
  registerDomains,
} from 'domain-registration'
import { type Progress, RegisterAllError, registerAll } from 'domain-registration/client'
import { type DomainsRouterOptions, domainsRouter } from 'domain-registration/express'
import { type DomainsPluginOptions, domainsPlugin } from 'domain-registration/fastify'
import { type DomainsHandlerOptions, domainsHandler } from 'domain-registration/fetch'
import { type AdapterRequest, createHandler, type FailureContext, type HandlerResponse } from 'domain-registration/http'
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
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import fastify from 'fastify'
import type { components, paths } from './api.js'

// The core.
const store: DomainStore = createMemoryStore()
const keys = createMemoryKeyStore()
const keyContext: KeyContext = { type: 'organization', organizationId: '1', scopes: [] }
const response: Promise<RegisterDomainsResponse> = registerDomains(keyContext, {}, store)
void response.then(({ data }) =>
  data.results.map(result => (result.status === 'invalid' ? result.code : result.domainId)),
)
const hostname = classifyHostname('example.com')
export const outcome: InvalidCode | string = hostname.valid ? hostname.registrableDomain : hostname.code
// @ts-expect-error: the application's own code needs a status
new ApiError('blocked', 'Not from here.')

// Settings that may be missing.
declare const maybeNumber: number | undefined
declare const maybeText: string | undefined
const settings = { bodyLimit: maybeNumber, bodyTimeLimit: maybeNumber, timeLimit: maybeNumber, keyPrefix: maybeText }
domainsRouter({ store, keys, path: maybeText, rateLimiter: undefined, onError: undefined, ...settings })
domainsHandler({ store, keys, authenticate: undefined, ...settings })
createHandler({ store, keys, ...settings })
fastify().register(domainsPlugin, { store, keys, path: maybeText, ...settings })
openapi({ path: maybeText, keyPrefix: maybeText, bodyLimit: maybeNumber, info: undefined })
void generateApiKey({ type: 'team', id: '1', prefix: maybeText })
const record: KeyRecord = {
  hash: '',
  type: 'team',
  ownerId: '1',
  scopes: [],
  revokedAt: undefined,
  expiresAt: undefined,
}
keys.addKey(record)
keys.revokeKey(record.hash)
keys.listKeys({ type: 'team', ownerId: '1' }).map(({ scopes }) => scopes.join(' '))

// A module of the application that adds the store.
type WithoutStore<Options> = Options extends unknown ? Omit<Options, 'store'> : never
const withStore = (options: WithoutStore<DomainsRouterOptions>) => domainsRouter({ ...options, store })
withStore({ keys })
withStore({ authenticate: () => ({ type: 'team', teamId: '1', scopes: [] }) })

// Express takes both handlers; a framework that takes a single function gets the first handler.
const [handler]: [RequestHandler, ErrorRequestHandler] = domainsRouter({ store, keys })
express().use(
  '/api',
  express.json(),
  (request, _response, next) => next(request.path === '/' ? 'route' : undefined),
  handler,
)
express.Router().use(express.json(), domainsRouter({ store, keys: { findKey: () => null }, path: '/' }))
fastify({ http2: true }).register(domainsPlugin, { store, keys, path: '/', prefix: '/api' })
export const answered: Promise<HandlerResponse> = createHandler({ store, authenticate: async () => keyContext })({
  header: () => undefined,
  readBody: () => ({ text: '' }),
})

// `raw` has the type of the framework's own request.
const ofExpress: DomainsRouterOptions = {
  store,
  authenticate({ raw }): KeyContext {
    if (raw.ip === undefined) throw new ApiError('blocked', 'Not from here.', { status: 403 })
    return { type: 'team', teamId: '1', scopes: ['domains:create'] }
  },
  onError: (error, { request, keyContext, step }) => console.log(error, request.raw.path, keyContext?.type, step),
}
const ofFastify: DomainsPluginOptions = {
  store,
  authenticate: async ({ raw }) => ({ type: 'team', teamId: raw.routeOptions.url ?? '', scopes: [] }),
  onError: (error, { request }) => request.raw.log.warn(error),
}
const ofFetch: DomainsHandlerOptions = {
  store,
  authenticate: ({ raw }) => ({ type: 'team', teamId: new URL(raw.url).host, scopes: [] }),
  onError: (_error, context: FailureContext<AdapterRequest<Request>>) => void context.request.raw.headers,
}
domainsRouter(ofExpress)
fastify().register(domainsPlugin, ofFastify)
domainsHandler(ofFetch)

// The context that the framework passes along is typed.
export const POST: (request: Request, context: { params: Promise<object> }) => Promise<Response> = domainsHandler({
  store,
  keys,
})
const withContext = domainsHandler<{ env: { TEAM: string } }>({
  store,
  authenticate: ({ context }) => ({ type: 'team', teamId: context.env.TEAM, scopes: [] }),
})
withContext(new Request('https://api.test/v1/domains'), { env: { TEAM: '1' } })
// @ts-expect-error: the context is missing
withContext(new Request('https://api.test/v1/domains'))
// @ts-expect-error: no option identifies the caller
domainsRouter({ store })
// @ts-expect-error: a misspelled option
domainsRouter({ store, keys, bodylimit: 1 })

// Durable stores, and the suite for an application's own.
declare const pool: PostgresPool
createHandler({
  store: createPostgresStore({ database: pool, findTeam: () => null }),
  keys: createPostgresKeyStore({ database: pool }),
})
export const migrated: Promise<void> = migrate({ database: pool, schema: 'registry' })
declare const database: SqliteHandle
declare const storage: DurableObjectStorage
createHandler({
  store: createSqliteStore({ database, findTeam: () => null, synchronize: undefined }),
  keys: createSqliteKeyStore({ database: storage, synchronous: 'normal' }),
})
export const sql: readonly string[] = [postgresSchema(), sqliteSchema()]
export const cases: readonly StoreCase[] = domainStoreSuite({ createStore: createMemoryStore, features: ['release'] })

// The OpenAPI document.
export const document: OpenApiDocument = openapi({
  info: { title: 'Monitoring', summary: undefined },
  servers: [{ url: 'https://api.example.com' }],
})
export const successes: object = openapi({ path: '/names' }).paths['/names'].post.responses[200].content
export const { RegisterDomainsResponse: schema }: { RegisterDomainsResponse: object } = document.components.schemas

// Programs that call the API.
const onProgress = ({ done, total }: Progress) => console.log(done, total ?? 'of some')
registerAll(['a.com'], { url: 'https://api.test/v1/domains', apiKey: 'key', teamId: maybeText, onProgress })
  .then(({ results }) =>
    results.filter(result => result.status === 'invalid').map(({ code, message }) => [code, message]),
  )
  .catch(error => (error instanceof RegisterAllError ? error.results.length : isApiError(error) && error.status))
type Answer = paths['/v1/domains']['post']['responses'][200]['content']['application/json']
declare const answer: Answer
export const results: components['schemas']['DomainResult'][] = answer.data.results
