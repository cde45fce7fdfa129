import { expect } from 'vitest'
import { statusByErrorCode } from '../../src/errors.ts'
import type { RawResponse } from './raw-http.ts'

/** What the server itself answers before anybody sees the request; Node says nothing more, Fastify a few words. */
const ownStatuses = [400, 408, 417, 431]

/** What no answer may hold: stacks, paths and source, whatever was asked. */
const innards = /\n\s+at |node_modules|file:\/\/|\.[jt]s:[0-9]+|\/(?:src|dist|home|tmp|usr|work)\//

/**
 * Expects one of the answers that the documentation promises, with its shape and header fields, and nothing in it that is
 * not the caller's to know.
 *
 * @param secrets Keys, their hashes, and what belongs to another team.
 */
export function expectDocumented({ status, headers, body }: RawResponse, secrets: readonly string[]): void {
  const whole = `${[...headers].map(field => field.join(': ')).join('\n')}\n\n${body}`
  expect(whole).not.toMatch(innards)
  for (const secret of [process.cwd(), ...secrets]) expect(whole).not.toContain(secret)

  if (!headers.has('cache-control')) {
    expect(ownStatuses).toContain(status)
    expect(body.length).toBeLessThan(100)
    return
  }
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  if (status === 200) {
    const { data, ...others } = JSON.parse(body)
    expect(others).toEqual({})
    const { created, existing, invalid } = data.totals
    expect(created + existing + invalid).toBe(data.results.length)
    return
  }
  const { error, message, ...others } = JSON.parse(body)
  expect(others).toEqual({})
  expect({ error, status }).toEqual({ error, status: statusByErrorCode[error as keyof typeof statusByErrorCode] })
  expect(message).toMatch(/^.{1,300}\.$/)
  expect(headers.get('www-authenticate') ?? '').toMatch(challenges[status] ?? /^$/)
  expect(headers.has('retry-after')).toBe(status === 429 || status === 503)
}

const challenges: Record<number, RegExp> = {
  401: /^Bearer(?: error="invalid_token")?$/,
  403: /^(?:Bearer error="insufficient_scope", scope="domains:create")?$/,
}
