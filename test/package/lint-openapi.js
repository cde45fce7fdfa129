/**
 * Lints the OpenAPI documents of the built package, from `openapi()` and from `@fastify/swagger`, with all rules of
 * Redocly and Spectral. Every warning is an error. The linters load no other files.
 */
import assert from 'node:assert/strict'
import swagger from '@fastify/swagger'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import fastify from 'fastify'
import { domainsPlugin } from '../../dist/fastify.js'
import { createMemoryKeyStore, createMemoryStore } from '../../dist/index.js'
import { openapi } from '../../dist/openapi.js'

/** Facts that only the application knows. The package's own document lacks only these facts. */
const application = {
  info: {
    title: 'Monitoring',
    version: '2.3',
    description: 'Watches hostnames.',
    contact: { name: 'Support', url: 'https://monitoring.test/support', email: 'support@monitoring.test' },
    license: { name: 'Terms of use', url: 'https://monitoring.test/terms' },
  },
  servers: [{ url: 'https://api.monitoring.test' }],
}
const factsOfTheApplication = { redocly: ['info-license'], spectral: ['info-contact', 'info-license', 'license-url'] }

async function byRedocly(source) {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location: [{ pointer = '' } = {}] }) => [ruleId, `${pointer}: ${message}`])
}

async function bySpectral(source) {
  const linter = new spectral.Spectral()
  linter.setRuleset({ extends: [[rulesets.oas, 'all']] })
  const problems = await linter.run(source)
  return problems.map(({ code, message, path }) => [String(code), `${path.join('/')}: ${message}`])
}

async function lint(document, allowed = { redocly: [], spectral: [] }) {
  const source = JSON.stringify(document)
  return {
    redocly: (await byRedocly(source)).filter(([rule]) => !allowed.redocly.includes(rule)),
    spectral: (await bySpectral(source)).filter(([rule]) => !allowed.spectral.includes(rule)),
  }
}

async function documentOfFastify() {
  const app = fastify()
  await app.register(swagger, { openapi: openapi({ ...application, operations }) })
  app.register(domainsPlugin, { store: createMemoryStore(), keys: createMemoryKeyStore(), operations })
  await app.ready()
  return app.swagger()
}

const session = {
  security: [{ session: [] }],
  securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sid' } },
}
const operations = ['create', 'preview', 'delete', 'list', 'export']
const documents = {
  'of openapi(), with all that an application says of itself': [openapi(application)],
  'without a rate limit, at another path': [
    openapi({ ...application, path: '/names', keyPrefix: 'acme', rateLimited: false }),
  ],
  'with sessions': [openapi({ ...application, ...session })],
  'of all operations': [openapi({ ...application, operations })],
  'with webhooks': [openapi({ ...application, webhooks: true })],
  'of reading alone': [openapi({ ...application, operations: ['list', 'export'] })],
  'of all operations, from @fastify/swagger': [await documentOfFastify()],
  'by default': [openapi(), factsOfTheApplication],
}
for (const [name, [document, allowed]] of Object.entries(documents)) {
  assert.deepEqual(await lint(document, allowed), { redocly: [], spectral: [] }, `the document ${name}`)
}

// A linter that never reports anything would prove nothing.
const broken = openapi(application)
delete broken.paths['/v1/domains'].post.operationId
broken.paths['/v1/domains'].post.responses[200].content['application/json'].examples.created.value = {}
const found = Object.entries(await lint(broken)).map(([linter, problems]) => [linter, problems.map(([rule]) => rule)])
assert.deepEqual(Object.fromEntries(found), {
  redocly: ['operation-operationId', 'no-invalid-media-type-examples'],
  spectral: ['operation-operationId', 'oas3-valid-media-example'],
})
console.log(`OpenAPI: ${Object.keys(documents).length} documents without a problem`)
