import { describe, expect, test } from 'vitest'
import { statusByErrorCode } from '../../src/errors/api-error.ts'
import type { KeyContext } from '../../src/index.ts'
import { openapi } from '../../src/openapi/index.ts'
import { readFields } from '../../src/wire/requests.ts'
import { organization, team1 } from '../fixtures.ts'
import { compileSchema } from './compile-schema.ts'

const document = openapi()
const operation = (of = document) => of.paths['/v1/domains'].post

test('the document is JSON, and each call returns a new object', () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  operation(openapi()).tags.push('changed')
  expect(openapi()).toEqual(document)
})

describe('a request', () => {
  const bodies: unknown[] = [
    { domains: ['example.com'] },
    { domains: ['example.com'], team_id: '1' },
    { domains: ['example.com'], team_id: '1', more: true },
    { domains: ['example.com'], team_id: 1 },
    { domains: ['example.com'], team_id: '' },
    { domains: ['example.com'], team_id: '1a' },
    { domains: ['example.com'], team_id: '1\n' },
    { domains: ['example.com'], team_id: '7'.repeat(64) },
    { domains: ['example.com'], team_id: '7'.repeat(65) },
    { domains: Array(100).fill('') },
    { domains: Array(101).fill(''), team_id: '1' },
    { domains: [], team_id: '1' },
    { domains: [1], team_id: '1' },
    { domains: 'example.com', team_id: '1' },
    { team_id: '1' },
    [],
    null,
    'example.com',
  ]
  const readings: [string, KeyContext][] = [
    ['an organization', organization],
    ['a team', team1],
  ]
  test.each(readings)(
    'with the key of %s is accepted by the server if and only if it fits its schema',
    (_, keyContext) => {
      const { schema } = operation().requestBody.content['application/json']
      const fits = compileSchema(document, schema)
      // The schema describes `team_id` for both kinds of callers. The server requires it from one, and ignores it from
      // the other.
      const isDocumented = (body: unknown) =>
        keyContext.type === 'team'
          ? fits(typeof body === 'object' && !Array.isArray(body) ? { ...body, team_id: '1' } : body)
          : fits(body) && Object.hasOwn(body as object, 'team_id')
      const isTaken = (body: unknown) => {
        try {
          return Boolean(readFields('body', body, keyContext))
        } catch {
          return false
        }
      }
      const taken = bodies.map(isTaken)
      expect(new Set(taken).size).toBe(2)
      expect(bodies.map(body => isDocumented(body))).toEqual(taken)
    },
  )
})

test('each body has a named schema, and each schema with alternatives names the one for each status', () => {
  const all = openapi({ operations: ['create', 'preview', 'delete', 'list', 'export'], webhooks: true })
  const text = JSON.stringify({ paths: all.paths, webhooks: all.webhooks })
  expect(text).not.toMatch(/anyOf|oneOf|allOf/)
  const bodies = [...text.matchAll(/"application\/json":\{"schema":(.*?)[,}]/g)].map(([, schema]) => schema)
  expect(bodies.length).toBeGreaterThan(20)
  expect(bodies.filter(schema => !schema?.startsWith('{"$ref":"#/components/schemas/'))).toEqual([])

  const { schemas } = all.components
  const statusesOf = (schema: string) =>
    (schemas[schema as 'DomainResult'] as { properties: { status: { enum: string[] } } }).properties.status.enum
  const unions = Object.entries(schemas).filter(([, schema]) => 'oneOf' in schema)
  expect(unions.map(([name]) => name)).toEqual(['DomainResult', 'PreviewResult', 'DeleteResult'])
  for (const [, { oneOf, discriminator }] of unions) {
    const mapping = (oneOf as { $ref: string }[]).flatMap(({ $ref }) =>
      statusesOf($ref.replace('#/components/schemas/', '')).map(status => [status, $ref]),
    )
    expect(discriminator).toEqual({ propertyName: 'status', mapping: Object.fromEntries(mapping) })
  }
})

test('every error code is documented under its status, with an example', () => {
  const codes = Object.entries(operation().responses).flatMap(([status, { content }]) =>
    status === '200' ? [] : Object.keys(content['application/json'].examples).map(code => [code, Number(status)]),
  )
  // The paths in the document exist, so none of them responds with `not_found`.
  const { not_found: _, ...answered } = statusByErrorCode
  expect(Object.fromEntries(codes)).toEqual(answered)
})

test('the description of the export warns that it is CSV, and that `after` finds no later changes', () => {
  const { description } = openapi({ operations: ['create', 'export'] }).paths['/v1/domains/export'].get
  expect(description).toContain('not to follow changes')
  expect(description).toContain('CSV unless `format=ndjson` is sent')
})

test('the document has the paths and schemas of the enabled operations, and no others', () => {
  const offered = openapi({ path: '/names', operations: ['create', 'preview', 'delete', 'list', 'export'] })
  const methods = Object.entries(offered.paths).map(([path, item]) => [path, Object.keys(item)])
  expect(methods).toEqual([
    ['/names', ['post', 'get']],
    ['/names/preview', ['post']],
    ['/names/delete', ['post']],
    ['/names/export', ['get']],
  ])
  const reading = openapi({ operations: ['list'] })
  expect(Object.keys(reading.paths)).toEqual(['/v1/domains'])
  expect(new Set(Object.keys(reading.components.schemas))).toEqual(
    new Set(['ListDomainsResponse', 'ListedDomain', 'ErrorResponse']),
  )
  // The API sends no other status in response to a GET.
  expect(Object.keys(reading.paths['/v1/domains'].get.responses).join()).toBe('200,400,401,403,404,405,429,500')
  expect(reading.paths['/v1/domains'].get.responses[405]?.description).toContain('is not GET.')
  expect(() => openapi({ operations: ['remove'] as never })).toThrow('"operations" must be an array with some of')
})

test('a call needs an organization key or a team key', () => {
  expect(operation().security).toEqual([{ organizationKey: [] }, { teamKey: [] }])
  expect(Object.keys(document.components.securitySchemes)).toEqual(['organizationKey', 'teamKey'])
})

test('the description of a key names the scope of each enabled operation', () => {
  const { securitySchemes } = openapi({ operations: ['create', 'delete', 'list', 'export'] }).components
  const scopes = '`domains:create` to create; `domains:delete` to delete; `domains:read` to list, export.'
  for (const { description } of Object.values(securitySchemes)) expect(description).toContain(`Scopes: ${scopes}`)
  expect(JSON.stringify(document.components.securitySchemes)).not.toMatch(/domains:(?:delete|read)/)
})

test('the document reflects the path, key prefix, body limit and rate limit of the handler', () => {
  const changed = openapi({ path: '/names', keyPrefix: 'acme', bodyLimit: 1000, rateLimited: false })
  expect(Object.keys(changed.paths)).toEqual(['/names'])
  const { responses, requestBody } = changed.paths['/names'].post
  expect(requestBody.description).toContain('1000 bytes')
  expect(JSON.stringify(responses[413])).toContain('1000 bytes')
  expect(responses).not.toHaveProperty('429')
  expect(JSON.stringify(changed)).not.toMatch(/RateLimit|svc_/)
  expect(changed.components.securitySchemes).toMatchObject({
    organizationKey: { bearerFormat: 'acme_org_<digits>_<secret>' },
    teamKey: { bearerFormat: 'acme_team_<digits>_<secret>' },
  })
})

test('the options `security` and `securitySchemes` replace API keys with the application’s authentication', () => {
  const security = [{ session: [] }]
  const securitySchemes = { session: { type: 'apiKey', in: 'cookie', name: 'sid' } } as const
  expect(openapi({ security, securitySchemes })).toMatchObject({
    paths: { '/v1/domains': { post: { security } } },
    components: { securitySchemes },
  })
  expect(openapi({ security: [] }).components.securitySchemes).toEqual({})
})

test('the options `info` and `servers` appear in the document', () => {
  const info = { title: 'Monitoring', version: '2.3', license: { name: 'Terms', url: 'https://example.com/terms' } }
  const servers = [{ url: 'https://api.example.com' }]
  expect(openapi({ info, servers })).toMatchObject({ info, servers })
})

test.each([
  [{ path: 'v1/domains' }, /"path" must be a path that begins with "\/"/],
  [{ keyPrefix: 'a_b' }, /"keyPrefix" must be one or more ASCII letters and digits/],
  [{ bodyLimit: 0 }, /"bodyLimit" must be an integer number of bytes/],
  [{ rateLimit: true }, /"rateLimit" does not exist; there are .*"rateLimited"/],
  [{ security: 'session' }, /"security" must be an array/],
  [{ info: [] }, /"info" must be an object/],
  [{ servers: 'https://a.test' }, /"servers" must be an array/],
])('the options %j are rejected', (options, message) => {
  expect(() => openapi(options as never)).toThrow(TypeError)
  expect(() => openapi(options as never)).toThrow(message)
})

test('an option that is undefined gets its default value', () => {
  expect(openapi({ info: undefined, path: undefined, bodyLimit: undefined, keyPrefix: undefined })).toEqual(document)
})

test('a document with the option `security` mentions no API keys, and its 401 has no WWW-Authenticate header', () => {
  const operations = ['create', 'preview', 'delete', 'list', 'export'] as const
  const own = openapi({
    operations,
    security: [{ session: [] }],
    securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sid' } },
  })
  const { securitySchemes: _, ...components } = own.components
  const said = JSON.stringify({ ...own, components }).match(
    /[^"]{0,40}\bkeys?\b[^"]{0,40}|WWW-Authenticate[^}]*Bearer"/gi,
  )
  expect(said?.filter(text => !text.includes('insufficient_scope'))).toEqual(undefined)
  expect(own.paths['/v1/domains'].post.responses[401]?.headers).not.toHaveProperty('WWW-Authenticate')
  expect(JSON.stringify(openapi({ operations }))).toContain('API key')
})
