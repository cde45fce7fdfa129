import type { RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import { onTestFinished } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { listen } from '../listen.ts'

type Store = ReturnType<typeof createStore>

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
  store: Store = createStore(),
) {
  const { keys, issue } = createKeys()
  const operations = ['create', 'preview', 'delete', 'list'] as const
  const app: RequestListener = express().use(domainsRouter({ store, keys, operations, onError: () => {} }))
  let calls = 0
  const { origin, close } = await listen((request, response) => {
    calls += 1
    if (!intercept(calls, response)) app(request, response as never)
  })
  onTestFinished(close)
  const apiKey = await issue('team', '1', { scopes: ['domains:create', 'domains:delete', 'domains:read'] })
  return { options: { url: `${origin}/v1/domains`, apiKey }, store, issue }
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
