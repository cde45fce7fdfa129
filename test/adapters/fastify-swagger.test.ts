import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { domainsPlugin } from '../../src/adapters/fastify.ts'
import { openapi } from '../../src/openapi/openapi.ts'
import { createKeys, createStore } from '../fixtures.ts'

test.each([[false], [true]])(
  'with @fastify/swagger the route appears once, as openapi says, where ignoreTrailingSlash is %s',
  async ignoreTrailingSlash => {
    const { keys, issue } = createKeys()
    const { components, paths } = openapi({ rateLimited: false, bodyLimit: 1000 })
    const app = fastify({ routerOptions: { ignoreTrailingSlash } })
    await app.register(swagger, {
      openapi: { openapi: '3.1.1', components: { securitySchemes: components.securitySchemes } },
    })
    app.register(domainsPlugin, { store: createStore(), keys, bodyLimit: 1000, prefix: '/api' })
    await app.ready()

    const document = app.swagger() as unknown as typeof openapi extends () => infer Document ? Document : never
    expect(Object.keys(document.paths)).toEqual(['/api/v1/domains'])
    const shown = document.paths['/api/v1/domains']?.post
    const described = paths['/v1/domains']?.post
    expect(shown).toMatchObject({
      operationId: 'registerDomains',
      summary: described?.summary,
      description: described?.description,
      security: described?.security,
    })
    expect(Object.keys(shown?.responses ?? {})).toEqual(Object.keys(described?.responses ?? {}))
    for (const [status, response] of Object.entries(described?.responses ?? {})) {
      const { description, headers, content } = shown?.responses[status] ?? {}
      expect([status, description]).toEqual([status, response.description])
      expect(Object.keys(headers ?? {})).toEqual(Object.keys(response.headers))
      expect(Object.keys(content?.['application/json'].examples ?? {})).toEqual(
        Object.keys(response.content['application/json'].examples),
      )
    }
    expect(shown?.requestBody.content['application/json'].schema).toMatchObject({ anyOf: [{ type: 'object' }, {}] })
    expect(JSON.stringify(document)).not.toContain('"$ref"')
    expect(JSON.stringify(document)).toContain('1000 bytes')

    const key = await issue('team', '1')
    for (const url of ['/api/v1/domains', '/api/v1/domains/']) {
      for (const [payload, status] of [
        ['{"domains":["a.com"],"more":1}', 200],
        ['{"domains":"a.com"}', 400],
      ] as const) {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
        const answer = await app.inject({ method: 'POST', url, headers, payload })
        expect(answer.statusCode).toBe(status)
        expect(Object.keys(answer.json())).toEqual(status === 200 ? ['data'] : ['error', 'message'])
      }
    }
    await app.close()
  },
)
