import { expect } from 'vitest'
import { expectDocumented } from './documented.ts'
import { type RawResponse, toResponse } from './raw-http.ts'

/**
 * Statuses that the server itself sends before any handler runs. Node sends these responses without a body, Fastify
 * with a JSON body.
 */
const ownStatuses = [400, 408, 417, 431]

/** Stack traces, paths and source files, which no response may contain. */
const innards = /\n\s+at |node_modules|file:\/\/|\.[jt]s:[0-9]+|\/(?:src|dist|home|tmp|usr|work)\//

/**
 * Expects one of the documented responses, without anything that the caller must not see.
 *
 * @param secrets Keys, their hashes, and the data of another team.
 * @param claim A description of the request, to find it among many.
 */
export async function expectHarmless(answer: RawResponse, secrets: readonly string[], claim?: string): Promise<void> {
  const { status, headers, body } = answer
  const whole = `${[...headers].map(field => field.join(': ')).join('\n')}\n\n${body}`
  expect(whole, claim).not.toMatch(innards)
  for (const secret of [process.cwd(), ...secrets]) expect(whole, claim).not.toContain(secret)

  if (!headers.has('cache-control')) {
    expect(ownStatuses, claim).toContain(status)
    expect(body.length, claim).toBeLessThan(200)
    return
  }
  await expectDocumented(toResponse(answer))
  const { data, message } = JSON.parse(body)
  if (status === 200) {
    const { created, existing, invalid } = data.totals
    expect(created + existing + invalid, claim).toBe(data.results.length)
  } else {
    expect(message, claim).toMatch(/^.{1,300}\.$/)
  }
}
