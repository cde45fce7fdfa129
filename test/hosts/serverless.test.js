/** Calls the recipes for functions in docs/frameworks.md with events as the platforms send them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import functions from '@azure/functions'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsHandler } from 'domain-registration/fetch'
import express from 'express'
import { Hono } from 'hono'
import { handle as toLambda } from 'hono/aws-lambda'
import serverless from 'serverless-http'
import { createHandler } from '../../examples/frameworks/azure-functions.mjs'

const keys = createMemoryKeyStore()
const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
const createOptions = () => ({
  store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
  keys,
})

/** Functions that send a body to a recipe, and return the status and the text of its response. */
const recipes = {
  'AWS Lambda, with Express and serverless-http': () => {
    const app = express()
    app.use(domainsRouter(createOptions()))
    return sendEvent(serverless(app))
  },
  'AWS Lambda, with Hono': () => {
    const handle = domainsHandler(createOptions())
    const app = new Hono({ strict: false })
    app.post('/v1/domains', context => handle(context.req.raw))
    return sendEvent(toLambda(app))
  },
  'Azure Functions': () => {
    const handle = domainsHandler({ ...createOptions(), path: '/api/v1/domains' })
    const answer = createHandler(handle)
    return async (text, sent) => {
      const url = 'http://localhost:7071/api/v1/domains'
      const request = new functions.HttpRequest({ method: 'POST', url, headers: sent, body: { string: text } })
      const response = new functions.HttpResponse(await answer(request))
      return { status: response.status, text: await response.text() }
    }
  },
}

/** Sends events in the format 2.0 of function URLs and HTTP APIs; the body is in base64, as for unknown media types. */
const sendEvent = handler => async (text, sent) => {
  const http = { method: 'POST', path: '/v1/domains', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' }
  const event = {
    version: '2.0',
    rawPath: '/v1/domains',
    rawQueryString: '',
    headers: { host: 'localhost', 'content-length': String(Buffer.byteLength(text)), ...sent },
    requestContext: { domainName: 'localhost', http, requestId: '1', stage: '$default' },
    body: Buffer.from(text).toString('base64'),
    isBase64Encoded: true,
  }
  const { statusCode, body, isBase64Encoded } = await handler(event, {})
  return { status: statusCode, text: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8').toString() }
}

for (const [name, create] of Object.entries(recipes)) {
  test(`${name}: registers names, and sends 401, 400 and 413 as documented`, async () => {
    const send = create()
    const call = async (text, sent = headers) => {
      const response = await send(text, sent)
      return { ...JSON.parse(response.text), status: response.status }
    }
    const { status, data } = await call('{"domains":["www.example.com"]}')
    assert.deepEqual([status, data?.totals], [200, { created: 1, existing: 0, invalid: 0 }])
    const failures = [
      ['{}', { 'Content-Type': 'application/json' }, 401, 'unauthorized'],
      ['{', headers, 400, 'invalid_request'],
      ['x'.repeat(300_000), headers, 413, 'payload_too_large'],
    ]
    for (const [text, sent, expected, code] of failures) {
      const { status, error } = await call(text, sent)
      assert.deepEqual([status, error], [expected, code])
    }
  })
}
