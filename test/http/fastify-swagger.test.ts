import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { type DomainsPluginOptions, domainsPlugin } from '../../src/http/fastify.ts'
import { type OpenApiDocument, openapi } from '../../src/openapi/index.ts'
import { createKeys, createStore, team1 } from '../fixtures.ts'

async function documentOf(
  options: Partial<DomainsPluginOptions> & { prefix?: string },
  swaggerOptions: object = {},
): Promise<OpenApiDocument<string>> {
  const app = fastify()
  await app.register(swagger, { openapi: { openapi: '3.1.0', ...swaggerOptions } })
  app.get('/v1/domains', { schema: { tags: ['own'], summary: 'A list of its own' } }, async () => [])
  app.register(domainsPlugin, { store: createStore(), ...options } as DomainsPluginOptions)
  await app.ready()
  return app.swagger() as unknown as OpenApiDocument<string>
}

const { keys } = createKeys()

describe('the document of @fastify/swagger', () => {
  test('describes each operation as openapi() does, but without status 405, even at the root path', async () => {
    const operations = ['create', 'preview', 'delete', 'list', 'export'] as const
    for (const [path, prefix, options] of [
      ['/v1/domains', '/api', { bodyLimit: 1000, keyPrefix: 'acme' }],
      ['/names', '', { operations }],
      ['/names', '/api', { operations }],
      ['/', '', { operations }],
    ] as const) {
      const document = await documentOf({ keys, path, prefix, ...options })
      const ours = openapi({ path: (prefix + path) as string, rateLimited: false, ...options })
      for (const item of Object.values(ours.paths) as unknown as { responses: Record<number, unknown> }[][])
        for (const operation of Object.values(item)) delete operation.responses[405]
      expect(document.paths).toMatchObject(ours.paths)
      expect(JSON.stringify(document.paths)).not.toContain('"405"')
      expect(new Set(Object.keys(document.paths))).toEqual(new Set(['/v1/domains', ...Object.keys(ours.paths)]))
      expect(document.components).toEqual(ours.components)
    }
  })

  test('keeps the application’s paths, schemas and security schemes, even if names clash', async () => {
    const own = {
      components: {
        schemas: { ErrorResponse: { type: 'string' } },
        securitySchemes: { teamKey: { type: 'http', scheme: 'basic' } },
      },
    }
    const document = await documentOf({ keys, rateLimiter: { consume: async () => ({}) as never } }, own)
    expect(document.paths['/v1/domains']).toMatchObject({ get: { summary: 'A list of its own' }, post: {} })
    expect(document.components).toMatchObject(own.components)
    expect(document.paths['/v1/domains']?.post.responses[429]?.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/DomainsErrorResponse',
    })
    expect(document.components.schemas).toHaveProperty('DomainsErrorResponse.properties.message')
  })

  test('describes the application’s own authentication only if the option "security" describes it', async () => {
    const authenticate = () => team1
    const silent = await documentOf({ authenticate })
    expect(silent.paths['/v1/domains']?.post.security).toEqual([])
    expect(silent.components.securitySchemes).toEqual({})
    const security = [{ session: [] }]
    const securitySchemes = { session: { type: 'apiKey', in: 'cookie', name: 'sid' } } as const
    const told = await documentOf({ authenticate, security, securitySchemes })
    expect(told.paths['/v1/domains']?.post.security).toEqual(security)
    expect(told.components.securitySchemes).toEqual(securitySchemes)
  })
})

test('a Swagger 2 document does not contain the package’s operations', async () => {
  const app = fastify()
  await app.register(swagger, {})
  app.register(domainsPlugin, { store: createStore(), keys })
  await app.ready()
  expect(app.swagger()).toMatchObject({ swagger: '2.0', paths: {} })
})
