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

const { message: _, ...withoutMessage } = invalid

test.each([
  ['an unknown status', answer(402, unauthorized), /status 402/],
  [
    'a result with an undocumented field',
    answer(200, withResult({ ...created, teamId: '1' })),
    /additional properties/,
  ],
  ['an invalid result that has no message', answer(200, withResult(withoutMessage)), /required property 'message'/],
  [
    'a code that belongs to another status',
    answer(404, unauthorized),
    /the code unauthorized is not documented for 404/,
  ],
  ['a response without Cache-Control', answer(200, success, { 'Cache-Control': null }), /Cache-Control is missing/],
  [
    'a WWW-Authenticate header on a success',
    answer(200, success, challenge),
    /WWW-Authenticate is not documented for 200/,
  ],
  ['a Retry-After that is not an integer', answer(429, refusal, { ...limit, 'Retry-After': '1.5' }), /Retry-After is/],
  [
    'an HTML page instead of JSON',
    answer(401, '<p>', { ...challenge, 'Content-Type': 'text/html' }),
    /content type "text\/html"/,
  ],
])('findUndocumented reports %s', async (_, response, fault) => {
  expect(await findUndocumented(response)).toEqual(expect.arrayContaining([expect.stringMatching(fault)]))
})
