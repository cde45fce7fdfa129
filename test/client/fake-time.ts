import { onTestFinished, vi } from 'vitest'
import { domainsHandler } from '../../src/http/fetch.ts'
import type { MemoryStore } from '../../src/index.ts'

const scopes = ['domains:create', 'domains:delete', 'domains:read']
const operations = ['create', 'preview', 'delete', 'list'] as const

/**
 * Options of a client that calls a service in this process, so the test can fake time.
 *
 * @param intercept If this function returns a response, the client gets it in place of the service's response.
 */
export function callHere(
  store: MemoryStore,
  intercept: (names: readonly string[]) => Promise<Response | undefined> | Response | undefined = () => undefined,
) {
  const authenticate = () => ({ type: 'team', teamId: '1', scopes }) as const
  const handle = domainsHandler({ store, authenticate, operations, onError: () => {} })
  const calls: number[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const names = init?.body ? (JSON.parse(init.body as string).domains as string[]) : []
    calls.push(names.length)
    return (await intercept(names)) ?? handle(new Request(url as string, init))
  }
  return { options: { url: 'http://localhost/v1/domains', apiKey: 'svc_team_1_00', fetch }, calls }
}

export const unavailable = (headers = {}) =>
  Response.json({ error: 'domain_registration_unavailable', message: 'Saved.' }, { status: 503, headers })

/** The outcome of some work, and how many milliseconds it took. */
interface End<Value> {
  readonly value?: Value
  readonly error?: unknown
  readonly milliseconds: number
}

/** Runs work in fast-forwarded time. */
export async function whileTimeFlies<Value>(work: () => PromiseLike<Value>): Promise<End<Value>> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const start = performance.now()
  let isOver = false
  const ended = Promise.resolve(work())
    .then(
      value => ({ value }),
      (error: unknown) => ({ error }),
    )
    .finally(() => {
      isOver = true
    })
  while (!isOver) await vi.advanceTimersByTimeAsync(100)
  return { ...(await ended), milliseconds: performance.now() - start }
}
