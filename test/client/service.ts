import type { RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import { onTestFinished, vi } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { type DomainsHandlerOptions, domainsHandler } from '../../src/http/fetch.ts'
import type { MemoryStore } from '../../src/index.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { listen } from '../listen.ts'

const operations = ['create', 'preview', 'delete', 'list'] as const
const scopes = ['domains:create', 'domains:delete', 'domains:read']

export const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.com`)

/**
 * A real server with all operations, for one test. `intercept` is called before each operation, so a test can make
 * calls fail.
 *
 * @param intercept Called with the number of each call, starting at 1. Returns whether this function has sent the
 *   response.
 */
export async function serve(
  intercept: (call: number, response: ServerResponse) => boolean = () => false,
  store: MemoryStore = createStore(),
  more: Pick<DomainsHandlerOptions, 'checkNames' | 'waiting' | 'operations'> = {},
) {
  const { keys, issue } = createKeys()
  const app: RequestListener = express().use(domainsRouter({ store, keys, operations, onError: () => {}, ...more }))
  let calls = 0
  const { origin, close } = await listen((request, response) => {
    calls += 1
    if (!intercept(calls, response)) app(request, response as never)
  })
  onTestFinished(close)
  const apiKey = await issue('team', '1', { scopes })
  return { options: { url: `${origin}/v1/domains`, apiKey }, store, issue, countCalls: () => calls }
}

/** Carries out the call, and loses the response. */
export function loseAnswer(response: ServerResponse): false {
  response.end = (() => response.destroy()) as typeof response.end
  return false
}

/** Responds in place of the server. */
export function answer(response: ServerResponse, status: number, body: object, headers = {}): true {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}

/**
 * Options of a client that calls a service in this process, so the test can fake time.
 *
 * @param intercept If this function returns a response, the client gets it in place of the service's response.
 * @param more Options of the service.
 */
export function callHere(
  store: MemoryStore = createStore(),
  intercept: (names: readonly string[]) => Promise<Response | undefined> | Response | undefined = () => undefined,
  more: Pick<DomainsHandlerOptions, 'checkNames'> = {},
) {
  const authenticate = () => ({ type: 'team', teamId: '1', scopes }) as const
  const handle = domainsHandler({ store, authenticate, operations, onError: () => {}, ...more })
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
