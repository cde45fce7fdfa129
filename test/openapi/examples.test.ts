import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, test } from 'vitest'
import { domainsRouter } from '../../src/adapters/express.ts'
import { domainsHandler } from '../../src/adapters/fetch.ts'
import { type ErrorCode, statusByErrorCode } from '../../src/errors.ts'
import { createHandler, type HandlerOptions } from '../../src/http/handler.ts'
import { openapi } from '../../src/openapi/openapi.ts'
import { createKeys, createStore, organization, scopes, team1 } from '../fixtures.ts'
import { compileSchema } from './compile-schema.ts'

const document = openapi()
const { requestBody, responses } = document.paths['/v1/domains'].post
const requests = requestBody.content['application/json'].examples
const successes = responses[200].content['application/json'].examples

/** An answer with what the store chose taken out. */
const withoutIds = (answer: unknown) =>
  JSON.parse(JSON.stringify(answer), (key, value) => (key === 'domainId' ? 'an ID' : value))

test.each(Object.entries(responses))('the examples of a %s are as its schema says', (_, { content }) => {
  const { schema, examples } = content['application/json']
  const validate = compileSchema(document, schema)
  expect(Object.keys(examples)).not.toEqual([])
  for (const { value } of Object.values(examples)) expect([validate(value), validate.errors]).toEqual([true, null])
})

test('the examples of a request get the answers that are shown, from a real server', async () => {
  const { keys, issue } = createKeys()
  const keyByExample: Record<string, string> = {
    organizationKey: await issue('organization', '10'),
    teamKey: await issue('team', '1'),
  }
  expect(Object.keys(keyByExample)).toEqual(Object.keys(requests))
  for (const [name, key] of Object.entries(keyByExample)) {
    const server = createServer(express().use(domainsRouter({ store: createStore(), keys })))
    await new Promise<void>(resolve => server.listen(0, resolve))
    try {
      for (const expected of ['created', 'existing']) {
        const response = await fetch(`http://localhost:${(server.address() as AddressInfo).port}/v1/domains`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
          body: JSON.stringify(requests[name]?.value),
        })
        expect(response.status).toBe(200)
        expect(withoutIds(await response.json())).toEqual(withoutIds(successes[expected]?.value))
      }
    } finally {
      server.close()
      server.closeAllConnections()
    }
  }
})

describe('the example of an error is what the library says:', () => {
  const limiter = { consume: () => Promise.reject({ msBeforeNext: 42_000, remainingPoints: 0 }) }
  const unreachable = () => Promise.reject(new Error('unreachable'))
  const asTeam1 = { authenticate: () => team1 }
  const asOrganization = { authenticate: () => organization }
  const domains = ['www.example.com']

  /** How to get each code: what is set up, and what is sent. */
  const provocations: Record<
    Exclude<ErrorCode, 'method_not_allowed'>, // The handler knows no methods: see below.
    [options: Partial<HandlerOptions>, body?: unknown, contentType?: string]
  > = {
    invalid_request: [asTeam1, { domains: [] }],
    unauthorized: [{ keys: createKeys().keys }],
    insufficient_scope: [{ authenticate: () => ({ ...team1, scopes: [] }) }],
    team_suspended: [{ authenticate: () => ({ type: 'team', teamId: '9', scopes }) }],
    team_not_found: [asOrganization, { domains, team_id: '3' }],
    request_timeout: [{ ...asTeam1, bodyTimeLimit: 1 }, new Promise(() => {})],
    payload_too_large: [asTeam1, { domains, padding: 'x'.repeat(300 * 1024) }],
    unsupported_media_type: [asTeam1, { domains }, 'text/plain'],
    too_many_requests: [{ ...asTeam1, rateLimiter: limiter }],
    internal_error: [{ authenticate: unreachable }],
    domain_registration_unavailable: [{ ...asTeam1, store: createStore({ synchronize: unreachable }) }],
  }

  test.each(Object.entries(provocations))(
    '%s',
    async (code, [options, json = { domains }, contentType = 'application/json']) => {
      const fields: Record<string, string> = {
        'content-type': contentType,
        'content-length': String(JSON.stringify(json).length),
      }
      const handle = createHandler({ store: createStore(), onError: () => {}, ...options })
      const { status, body } = await handle({
        header: name => fields[name],
        readBody: () => (json instanceof Promise ? json : { json }),
      })
      expect(status).toBe(statusByErrorCode[code as ErrorCode])
      expect(JSON.parse(body)).toEqual(responses[status as 400].content['application/json'].examples[code]?.value)
    },
  )

  test('method_not_allowed', async () => {
    const handle = domainsHandler({ store: createStore(), ...asTeam1 })
    const response = await handle(new Request('https://host.test/v1/domains'))
    expect(response.status).toBe(statusByErrorCode.method_not_allowed)
    expect(await response.json()).toEqual(
      responses[405]?.content['application/json'].examples.method_not_allowed?.value,
    )
  })
})
