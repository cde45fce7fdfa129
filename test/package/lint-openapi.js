/**
 * Lints the OpenAPI document of the built package with the strictest rules of Redocly: every warning is an error. The
 * linter reads nothing but the text that it is given.
 */
import assert from 'node:assert/strict'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { openapi } from '../../dist/openapi.js'

/** Facts that only the host knows. Without them the document is complete but for the licence. */
const host = {
  info: {
    contact: { name: 'Support', url: 'https://monitoring.test/support' },
    license: { name: 'Terms of use', url: 'https://monitoring.test/terms' },
  },
  servers: [{ url: 'https://api.monitoring.test' }],
}

async function lint(document, rules = {}) {
  const config = await createConfig({ extends: ['recommended-strict'], rules })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location: [{ pointer = '' } = {}] }) => `${ruleId} at ${pointer}: ${message}`)
}

const documents = {
  'with all that a host says of itself': [openapi(host)],
  'without a rate limit, at another path': [
    openapi({ ...host, path: '/names', keyPrefix: 'acme', rateLimited: false }),
  ],
  // Whose terms hold is for the host to say, so the default cannot name a licence.
  'by default': [openapi(), { 'info-license': 'off' }],
}
for (const [name, [document, rules]] of Object.entries(documents)) {
  assert.deepEqual(await lint(document, rules), [], `the document ${name}`)
}

// A linter that finds nothing anywhere would prove nothing.
const broken = openapi(host)
delete broken.paths['/v1/domains'].post.operationId
broken.paths['/v1/domains'].post.responses[200].content['application/json'].examples.created.value = {}
assert.deepEqual((await lint(broken)).map(problem => problem.split(' ')[0]).toSorted(), [
  'no-invalid-media-type-examples',
  'operation-operationId',
])
console.log(`OpenAPI: ${Object.keys(documents).length} documents without a problem`)
