import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ApiError, isApiError, MonitorUnavailableError } from '../../src/index.ts'
import { isMonitorUnavailable } from '../../src/outbox/contract.ts'
import { InvalidCursorError, isInvalidCursor } from '../../src/store/contract.ts'

test('an error with a documented code gets the status of the code, and no headers by default', () => {
  expect(new ApiError('team_not_found', 'message')).toMatchObject({ status: 404, message: 'message', headers: {} })
})

describe.each([
  ['ApiError', isApiError, ApiError],
  ['MonitorUnavailableError', isMonitorUnavailable, MonitorUnavailableError],
  ['InvalidCursorError', isInvalidCursor, InvalidCursorError],
] as const)('%s', (name, isOfClass, Class) => {
  test('is recognized if it is from another copy of the package', async () => {
    const copies = {
      ...(await import('../../dist/index.js' as string)),
      ...(await import('../../dist/store.js' as string)),
    }
    const foreign = new copies[name]('team_not_found', 'message')
    expect(foreign).not.toBeInstanceOf(Class)
    expect(isOfClass(foreign)).toBe(true)
    expect(inspect(foreign)).not.toContain('Symbol')
  })

  test('is not mistaken for another value, even for an error of the same name or a proxy that throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const others = [null, undefined, name, {}, Object.assign(new Error(name), { name }), proxy]
    expect(others.filter(isOfClass)).toEqual([])
  })
})

test('an error keeps its cause for the application, and has no cause if none was given', () => {
  const cause = new Error('connection lost')
  expect(new ApiError('internal_error', 'message', { cause }).cause).toBe(cause)
  expect('cause' in new ApiError('internal_error', 'message')).toBe(false)
})

describe('an application’s own code', () => {
  test('is accepted with a status', () => {
    const error = new ApiError('payment_required', 'Pay first.', { status: 402 })
    expect(error).toMatchObject({ code: 'payment_required', status: 402 })
  })

  // Code without types may pass any of these values. The first three are properties that every object inherits.
  test.each(['constructor', '__proto__', 'toString', 'payment_required', '', undefined, 7])(
    '"%s" without a status is rejected when the error is created',
    code => {
      expect(() => new ApiError(code as 'unauthorized', 'Pay first.')).toThrow(TypeError)
    },
  )

  const wrong = [0, 200, 302, 399, 600, 402.5, Number.NaN, '402'].map(status => [inspect(status), status] as const)
  test.each(wrong)('with the status %s is rejected', (_, status) => {
    expect(() => new ApiError('payment_required', 'Pay first.', { status: status as number })).toThrow(
      /status of an ApiError must be an integer from 400 to 599/,
    )
  })
})

test.each([
  ['a line break', { 'WWW-Authenticate': 'Bearer\r\nSet-Cookie: a=b' }],
  ['a character that no header may contain', { 'X-Name': 'ŵ' }],
  ['a space in its name', { 'X Name': 'a' }],
  ['a number instead of a string as its value', { 'Retry-After': 5 as unknown as string }],
])('a header with %s is rejected when the error is created', (_, headers) => {
  expect(() => new ApiError('unauthorized', 'Log in.', { headers })).toThrow(/cannot be sent/)
})

test.each(['Content-Length', 'content-encoding', 'Transfer-Encoding', 'Trailer'])(
  'the header %s is rejected when the error is created, because the server sets it',
  name => {
    expect(() => new ApiError('unauthorized', 'Log in.', { headers: { [name]: '5' } })).toThrow(
      `An ApiError must not have the header ${name}: the server sets it`,
    )
  },
)

test.each([null, 402])('the constructor of ApiError rejects %j where options are required', options => {
  expect(() => new ApiError('unauthorized', 'Log in.', options as never)).toThrow(/options .* must be an object/)
})
