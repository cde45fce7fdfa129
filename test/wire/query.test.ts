import { describe, expect, test } from 'vitest'
import { parseFormat, parseListQuery } from '../../src/wire/query.ts'

describe('the team of a list, with an organization key', () => {
  const organization = { type: 'organization', organizationId: '1', scopes: [] } as const

  test('is a string of at most 64 digits', () => {
    const team_id = '1'.repeat(64)
    expect(parseListQuery({ team_id }, organization).teamId).toBe(team_id)
  })

  test.each([undefined, null, '', 'x1', '1x', '1'.repeat(65)])('%j is refused', team_id => {
    const message = expect.stringMatching(/^team_id is required/)
    expect(() => parseListQuery({ team_id }, organization)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message }),
    )
  })
})

describe('the format of an export', () => {
  test.each([
    [undefined, 'csv'],
    ['', 'csv'],
    ['csv', 'csv'],
    ['ndjson', 'ndjson'],
  ])('%j is %s', (format, expected) => {
    expect(parseFormat({ format })).toBe(expected)
  })

  test.each([
    ['CSV', 'format must be "csv" or "ndjson".'],
    ['json', 'format must be "csv" or "ndjson".'],
    [['csv', 'csv'], 'format must be sent once.'],
  ])('%j is refused: %s', (format, message) => {
    expect(() => parseFormat({ format })).toThrow(expect.objectContaining({ code: 'invalid_request', message }))
  })
})
