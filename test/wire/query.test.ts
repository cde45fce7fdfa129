import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parseExportQuery, parseFormat, parseListQuery } from '../../src/wire/query.ts'

const organization = { type: 'organization', organizationId: '1', scopes: [] } as const

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
