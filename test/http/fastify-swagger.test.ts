import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { domainsPlugin } from '../../src/http/fastify.ts'
import { openapi } from '../../src/openapi/index.ts'
import { createKeys, createStore } from '../fixtures.ts'

const operations = ['create', 'preview', 'delete', 'list', 'export'] as const

test.each(['/v1/domains', '/'])(
  'the document of @fastify/swagger is that of openapi() and the application’s own routes, even at the path %s',
  async path => {
    const document = openapi({ path, operations, rateLimited: false })
    const app = fastify()
    await app.register(swagger, { openapi: structuredClone<object>(document) })
    app.get('/names', { schema: { tags: ['own'], summary: 'A route of its own' } }, async () => [])
    app.register(domainsPlugin, { store: createStore(), keys: createKeys().keys, path, operations })
    await app.ready()
    const { paths, ...others } = app.swagger() as unknown as typeof document
    const { '/names': own, ...ours } = paths as Record<string, unknown>
    expect({ ...others, paths: ours }).toEqual(document)
    expect(own).toMatchObject({ get: { summary: 'A route of its own' } })
  },
)
