import { inspect } from 'node:util'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { isApiError, type KeyContext } from '../../src/index.ts'
import {
  type ExportDomainsQuery,
  type ListDomainsQuery,
  parseExportQuery,
  parseFormat,
  parseListQuery,
  type RegisterDomainsRequest,
  readFields,
  requests,
  teamRequests,
} from '../../src/wire/requests.ts'
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

test('the compiler finds the same fields in each public type and its schema', () => {
  type FieldsOf<Name extends 'body' | 'list' | 'export'> = keyof (typeof requests)[Name]['shape']
  expectTypeOf<keyof RegisterDomainsRequest>().toEqualTypeOf<FieldsOf<'body'>>()
  expectTypeOf<keyof ListDomainsQuery>().toEqualTypeOf<FieldsOf<'list'>>()
  expectTypeOf<keyof ExportDomainsQuery>().toEqualTypeOf<FieldsOf<'export'>>()
})

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

describe('with an organization key, the query parameter team_id', () => {
  test('may be a string of up to 64 digits', () => {
    const team_id = '1'.repeat(64)
    expect(parseListQuery({ team_id }, organization).teamId).toBe(team_id)
  })

  test.each([
    ...[undefined, null, '', 'x1', '1x', ['1', '1']].map(value => [inspect(value), value] as const),
    ['a string of 65 digits', '1'.repeat(65)] as const,
  ])('is rejected if it is %s', (_, team_id) => {
    const message = 'team_id must be the ID of a team, a string of 1 to 64 digits; an organization key requires it.'
    expect(() => parseListQuery({ team_id }, organization)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message }),
    )
  })
})

test('a page has 100 registrations by default', () => {
  expect(parseListQuery({ team_id: '1' }, organization).limit).toBe(100)
})

test('if several parameters are invalid, the error names the first in the documented order', () => {
  const wrong = { below: '-', domain: '-', order: 'x', after: ['a'], team_id: 'x', limit: '0' }
  const query: Record<string, unknown> = { ...wrong }
  for (const name of Object.keys(wrong)) {
    expect(() => parseListQuery(query, organization)).toThrow(new RegExp(`^${name} must be`))
    query[name] = name === 'team_id' ? '1' : undefined
  }
  expect(() => parseExportQuery({ after: ['a'], team_id: 'x' }, organization)).toThrow(/^after must be/)
})

describe('the format of an export', () => {
  test.each([
    ['csv', undefined],
    ['csv', ''],
    ['csv', 'csv'],
    ['ndjson', 'ndjson'],
  ])('is %s if the parameter is %j', (expected, format) => {
    expect(parseFormat({ format })).toBe(expected)
  })

  test.each([
    ['CSV', 'format must be "csv" or "ndjson".'],
    ['json', 'format must be "csv" or "ndjson".'],
    [['csv', 'csv'], 'format must be sent once.'],
  ])('is rejected if the parameter is %j (%s)', (format, message) => {
    expect(() => parseFormat({ format })).toThrow(expect.objectContaining({ code: 'invalid_request', message }))
  })
})

describe('a cursor', () => {
  test('of at most 512 characters is passed to the store', () => {
    const after = 'ü'.repeat(512)
    expect(parseListQuery({ team_id: '1', after }, organization).after).toBe(after)
    expect(parseExportQuery({ team_id: '1', after }, organization).after).toBe(after)
  })

  test.each(['', null])('is treated as not sent if it is %j', after => {
    expect(parseListQuery({ team_id: '1', after }, organization).after).toBeUndefined()
    expect(parseExportQuery({ team_id: '1', after }, organization).after).toBeUndefined()
  })

  test.each([
    ['of 513 characters', 'x'.repeat(513), 'after must be the "next" of the previous page.'],
    ['that is sent twice in one query', ['a', 'b'], 'after must be sent once.'],
    ['that is a number', 7, 'after must be sent once.'],
  ])('%s is rejected', (_, after, message) => {
    expect(() => parseListQuery({ team_id: '1', after }, organization)).toThrow(message)
  })

  test('that is too long for an export is explained in the words of an export', () => {
    const message = 'after must be the "domainId" of the last complete line that arrived.'
    expect(() => parseExportQuery({ team_id: '1', after: 'x'.repeat(513) }, organization)).toThrow(message)
  })
})
