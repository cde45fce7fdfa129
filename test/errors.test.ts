import { expect, test } from 'vitest'
import { ApiError, isApiError } from '../src/index.ts'

test.each([
  ['invalid_request', 400],
  ['unauthorized', 401],
  ['insufficient_scope', 403],
  ['team_suspended', 403],
  ['team_not_found', 404],
  ['method_not_allowed', 405],
  ['payload_too_large', 413],
  ['unsupported_media_type', 415],
  ['too_many_requests', 429],
  ['internal_error', 500],
  ['domain_registration_unavailable', 503],
] as const)('%s is answered with %i', (code, status) => {
  expect(new ApiError(code, 'message')).toMatchObject({ code, status, message: 'message', headers: {} })
})

test('an error of another copy of the package is an ApiError too', async () => {
  const esm = await import('../dist/index.js' as string)
  const foreign = new esm.ApiError('team_not_found', 'message')
  expect(foreign).not.toBeInstanceOf(ApiError)
  expect(isApiError(foreign)).toBe(true)
})

test.each([null, undefined, 'ApiError', {}, new Error('ApiError')])('%s is no ApiError', value => {
  expect(isApiError(value)).toBe(false)
})

test('a cause is kept for the host, and is not there when none was given', () => {
  const cause = new Error('connection lost')
  expect(new ApiError('internal_error', 'message', { cause }).cause).toBe(cause)
  expect('cause' in new ApiError('internal_error', 'message')).toBe(false)
})
