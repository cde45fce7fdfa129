import { describe, expect, test } from 'vitest'
import { type ErrorCode, statusByErrorCode } from '../../src/errors/api-error.ts'
import { domainsHandler } from '../../src/http/fetch.ts'
import { createHandler, type HandlerOptions } from '../../src/http/index.ts'
import { operations as table } from '../../src/http/routes.ts'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { type Operation, openapi } from '../../src/openapi/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createKeys, createStore, organization, scopes, team1 } from '../fixtures.ts'

const document = openapi()
const { requestBody, responses } = document.paths['/v1/domains'].post
const requests = requestBody.content['application/json'].examples
const successes = responses[200].content['application/json'].examples

/** A response without its IDs, which differ from store to store. */
const withoutIds = (answer: unknown) =>
  JSON.parse(JSON.stringify(answer), (key, value) => (key === 'domainId' ? 'an ID' : value))

const everything = openapi({ operations: ['create', 'preview', 'delete', 'list', 'export'] })

test('the examples of preview, delete, list and export equal real responses', async () => {
  const store = createStore()
  const scopes = ['domains:create', 'domains:delete', 'domains:read']
  const operations = ['create', 'preview', 'delete', 'list', 'export'] as const
  const handle = domainsHandler({ store, operations, authenticate: () => ({ ...team1, scopes }) })
  const url = 'https://host.test/v1/domains'
  const post = async (suffix: string, body: unknown = requests.team?.value) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
    return (await handle(new Request(url + suffix, init))).json()
  }
  const get = async (suffix: string) => (await handle(new Request(url + suffix))).text()
  const { paths } = everything
  const examplesOf = (path: keyof typeof paths) =>
    Object.values((Object.values(paths[path]) as Operation[])[0]?.responses[200].content ?? {}).map(
      each => each.examples,
    )
  const [preview] = examplesOf('/v1/domains/preview')
  const [deletion] = examplesOf('/v1/domains/delete')
  const [csv, ndjson] = examplesOf('/v1/domains/export')
  const { page, last } = paths['/v1/domains'].get.responses[200].content['application/json'].examples
  /** Replaces IDs and times, which differ from server to server. */
  const normalize = (text: unknown) =>
    String(text)
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')

  expect(await post('/preview')).toEqual(preview?.created?.value)
  await post('', requests.team?.value)
  expect(withoutIds(await post('/preview'))).toEqual(withoutIds(preview?.existing?.value))
  expect(normalize(await get('/export'))).toBe(normalize(csv?.lines?.value))
  expect(normalize(await get('/export?format=ndjson'))).toBe(normalize(ndjson?.lines?.value))
  await post('', { domains: ['another.example.net'] })
  expect(normalize(await get('?limit=2'))).toEqual(normalize(JSON.stringify(page?.value)))
  await post('/delete', { domains: ['another.example.net'] })
  expect(withoutIds(await post('/delete'))).toEqual(withoutIds(deletion?.deleted?.value))
  expect(await post('/delete')).toEqual(deletion?.missing?.value)
  expect(JSON.parse(await get(''))).toEqual(last?.value)
})

test.each([
  ['preview', 'domains:create'],
  ['delete', 'domains:delete'],
  ['list', 'domains:read'],
  ['export', 'domains:read'],
] as const)('the error examples of %s, which requires the scope %s, equal real responses', async (operation, scope) => {
  const { method, suffix } = table[operation]
  const paths = everything.paths as unknown as Record<string, Record<string, Operation>>
  const documented = paths[`/v1/domains${suffix}`]?.[method.toLowerCase()]?.responses
  const answer = async (scopes: string[], input: { json: unknown; query: Record<string, unknown> }) => {
    const handle = createHandler({
      store: createStore(),
      operations: [operation],
      authenticate: () => ({ ...team1, scopes }),
    })
    const header = (name: string) => (name === 'content-type' ? 'application/json' : null)
    const { status, headers, body } = await handle({ operation, header, readBody: () => input, query: input.query })
    const examples = documented?.[status as 400].content['application/json'].examples
    expect(JSON.parse(body)).toEqual(examples?.[JSON.parse(body).error]?.value)
    return [status, headers['WWW-Authenticate']]
  }
  const others = ['domains:create', 'domains:delete', 'domains:read'].filter(other => other !== scope)
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
  expect(await answer(others, { json: null, query: {} })).toEqual([403, challenge])
  expect(await answer([scope], { json: { domains: [] }, query: { after: 'x' } })).toEqual([400, undefined])
})

test('the example requests to register get the example responses', async () => {
  const callers = { organization, team: team1 }
  expect(Object.keys(callers)).toEqual(Object.keys(requests))
  for (const [name, caller] of Object.entries(callers)) {
    const handle = domainsHandler({ store: createStore(), authenticate: () => caller })
    for (const expected of ['created', 'existing']) {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
      const body = JSON.stringify(requests[name]?.value)
      const response = await handle(new Request('https://host.test/v1/domains', { ...init, body }))
      expect(response.status).toBe(200)
      expect(withoutIds(await response.json())).toEqual(withoutIds(successes[expected]?.value))
    }
  }
})

describe('the example of an error equals a real response:', () => {
  const limiter = { consume: () => Promise.reject({ msBeforeNext: 42_000, remainingPoints: 0 }) }
  const unreachable = () => Promise.reject(new Error('unreachable'))
  const asTeam1 = { authenticate: () => team1 }
  const asOrganization = { authenticate: () => organization }
  const domains = ['www.example.com']

  function createFullStore() {
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active', maxDomains: 1 }] })
    void save(store, '1', ['held.com'])
    return store
  }

  /** How to provoke each code: the options of the handler, and the request. */
  const provocations: Record<
    Exclude<ErrorCode, 'not_found' | 'method_not_allowed'>, // tested in test/http/fetch.test.ts
    [options: Partial<HandlerOptions>, body?: unknown, contentType?: string]
  > = {
    invalid_request: [asTeam1, { domains: [] }],
    unauthorized: [{ keys: createKeys().keys }],
    insufficient_scope: [{ authenticate: () => ({ ...team1, scopes: [] }) }],
    team_suspended: [{ authenticate: () => ({ type: 'team', teamId: '9', scopes }) }],
    domain_limit_reached: [{ ...asTeam1, store: createFullStore() }],
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
})
