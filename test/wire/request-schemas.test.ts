import { describe, expect, test } from 'vitest'
import { isApiError, type KeyContext } from '../../src/index.ts'
import { readFields, requests, teamRequests } from '../../src/wire/request-schemas.ts'
import { organization, team1 } from '../fixtures.ts'

const domains = ['example.com']

function refusal(body: unknown, keyContext: KeyContext): string {
  try {
    readFields('body', body, keyContext)
  } catch (error) {
    if (isApiError(error) && error.code === 'invalid_request' && error.status === 400) return error.message
    throw error
  }
  throw new Error('The body was accepted')
}

describe('a request body sent with either kind of key', () => {
  test.each([
    [null, 'The request body must be a JSON object'],
    [undefined, 'The request body must be a JSON object'],
    [[], 'The request body must be a JSON object'],
    ['example.com', 'The request body must be a JSON object'],
    [42, 'The request body must be a JSON object'],
    [{}, 'domains must be an array'],
    [{ domains: null }, 'domains must be an array'],
    [{ domains: 'example.com' }, 'domains must be an array'],
    [{ domains: { 0: 'example.com', length: 1 } }, 'domains must be an array'],
    [{ domains: [] }, 'domains must contain at least one'],
    [{ domains: ['a.com', 'b.com', 'c.com', 4] }, 'domains[3] must be a string'],
    [{ domains: ['a.com', null] }, 'domains[1] must be a string'],
    [{ domains: [['a.com']] }, 'domains[0] must be a string'],
  ])('is rejected if it is %j, and the message names the invalid part', (body, message) => {
    for (const keyContext of [team1, organization]) {
      const completed = body && typeof body === 'object' && !Array.isArray(body) ? { team_id: '1', ...body } : body
      expect(refusal(completed, keyContext)).toContain(message)
    }
  })

  test('may contain 1 to 100 hostnames, but not 101', () => {
    const withHostnames = (length: number) => ({ domains: Array(length).fill('example.com'), team_id: '1' })
    for (const keyContext of [team1, organization]) {
      for (const length of [1, 100]) {
        expect(readFields('body', withHostnames(length), keyContext).domains).toHaveLength(length)
      }
      expect(refusal(withHostnames(101), keyContext)).toContain('domains must contain at most 100')
    }
  })

  test('with 131,001 wrong elements is rejected because of their number, without a look at each', () => {
    for (const { body } of [requests, teamRequests]) {
      const { error } = body.safeParse({ domains: Array(131_001).fill(1), team_id: '1' })
      expect(error?.issues.map(({ path, code }) => [path, code])).toEqual([[['domains'], 'too_big']])
    }
  })

  test('may contain unknown fields, which are ignored', () => {
    expect(readFields('body', { domains, note: 'x', __proto__: null }, team1)).toEqual({ domains, teamId: '1' })
  })

  test('is never quoted in the message that rejects it', () => {
    expect(refusal({ domains, team_id: 'svc_org_10_secret' }, organization)).not.toContain('secret')
    expect(refusal({ domains: [{ password: 'secret' }] }, team1)).not.toContain('secret')
  })

  test('is rejected if one of its getters throws, with the getter’s error as the cause', () => {
    const cause = new Error('no')
    const body = {
      get domains() {
        throw cause
      },
    }
    expect(() => readFields('body', body, team1)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: 'The request could not be read.', cause }),
    )
  })
})

describe('a request body sent with an organization key', () => {
  test('names the team in team_id', () => {
    expect(readFields('body', { domains, team_id: '2' }, organization)).toEqual({ domains, teamId: '2' })
  })

  test('is rejected because of `domains` if both `domains` and `team_id` are invalid', () => {
    expect(refusal({ domains: [], team_id: 'x' }, organization)).toContain('domains must contain')
  })

  const wrong = [undefined, null, 2, ['2'], {}, '', ' 2', '2 ', '-2', '2.0', '0x2', '２', 'abc', '2\n']
  test.each(wrong.map(team_id => [team_id]))('is rejected if team_id is %j', team_id => {
    expect(refusal({ domains, team_id }, organization)).toBe(
      'team_id must be the ID of a team, a string of 1 to 64 digits; an organization key requires it.',
    )
  })
})

describe('a request body sent with a team key', () => {
  test.each([undefined, null, '2', 2, 'abc', {}, []].map(team_id => [team_id]))(
    'is accepted, and its team_id %j is ignored',
    team_id => {
      expect(readFields('body', { domains, team_id }, team1)).toEqual({ domains, teamId: '1' })
    },
  )
})
