import { describe, expect, test } from 'vitest'
import { parseFormat } from '../../src/wire/query.ts'

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
