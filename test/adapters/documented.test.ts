import { expect, test } from 'vitest'
import { findUndocumented } from './documented.ts'

const created = { status: 'created', input: 'example.com', domain: 'example.com', domainId: '1' }
const totals = { created: 1, existing: 0, invalid: 0 }
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }
const success = { data: { results: [created], totals } }
const invalid = { status: 'invalid', input: 'x', code: 'internal_domain', message: 'No.' }
const withResult = (result: object) => ({ data: { results: [result], totals } })

const answer = (status: number, body: unknown, changes: Record<string, string | null> = {}) => {
  const fields = Object.entries({ ...headers, ...changes }).filter(
    (field): field is [string, string] => field[1] !== null,
  )
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers: fields })
}
const challenge = { 'WWW-Authenticate': 'Bearer' }
const unauthorized = { error: 'unauthorized', message: 'No.' }
const refusal = { error: 'too_many_requests', message: 'No.' }
const limit = { 'Retry-After': '42', RateLimit: '"default";r=0;t=42' }

test.each([
  ['a result', answer(200, success)],
  ['a result with the rate limit', answer(200, success, { RateLimit: '"default";r=1;t=42' })],
  ['an invalid result', answer(200, withResult(invalid))],
  ['a refusal with its challenge', answer(401, unauthorized, challenge)],
  ['a refusal with its limit', answer(429, refusal, limit)],
])('%s is documented', async (_, response) => {
  expect(await findUndocumented(response)).toEqual([])
})

const { domainId: _, ...withoutId } = created
const { message: __, ...withoutMessage } = invalid

test.each([
  ['an unknown status', answer(402, unauthorized), /status 402/],
  ['a status of success with an error', answer(200, unauthorized), /must have required property 'data'/],
  ['a field too many at the top', answer(200, { ...success, took: 3 }), /must NOT have additional properties/],
  ['a field too many in a result', answer(200, withResult({ ...created, teamId: '1' })), /additional properties/],
  ['a code on a created result', answer(200, withResult({ ...created, code: 'internal_domain' })), /additional/],
  ['a result without its domainId', answer(200, withResult(withoutId)), /required property 'domainId'/],
  ['an invalid result without its message', answer(200, withResult(withoutMessage)), /required property 'message'/],
  ['a result with an unknown status', answer(200, withResult({ ...created, status: 'ok' })), /allowed values/],
  ['a result with an unknown code', answer(200, withResult({ ...invalid, code: 'odd' })), /allowed values/],
  ['an empty list of results', answer(200, { data: { results: [], totals } }), /fewer than 1/],
  ['totals without one of them', answer(200, { data: { results: [created], totals: { created: 1 } } }), /required/],
  [
    'a code that belongs to another status',
    answer(404, unauthorized),
    /the code unauthorized is not documented for 404/,
  ],
  ['an error without a message', answer(401, { error: 'unauthorized' }, challenge), /required property 'message'/],
  ['an error that tells too much', answer(401, { ...unauthorized, stack: '…' }, challenge), /additional properties/],
  ['no Cache-Control', answer(200, success, { 'Cache-Control': null }), /Cache-Control is missing/],
  ['a Cache-Control of another kind', answer(200, success, { 'Cache-Control': 'public' }), /Cache-Control is "public"/],
  ['a 401 without a challenge', answer(401, unauthorized), /WWW-Authenticate is missing/],
  ['a challenge on a success', answer(200, success, challenge), /WWW-Authenticate is not documented for 200/],
  ['a 429 without Retry-After', answer(429, refusal, { ...limit, 'Retry-After': null }), /Retry-After is missing/],
  ['a Retry-After that is no whole number', answer(429, refusal, { ...limit, 'Retry-After': '1.5' }), /Retry-After is/],
  ['a page of HTML', answer(401, '<p>', { ...challenge, 'Content-Type': 'text/html' }), /content type "text\/html"/],
])('%s is found out', async (_, response, fault) => {
  expect(await findUndocumented(response)).toEqual(expect.arrayContaining([expect.stringMatching(fault)]))
})
