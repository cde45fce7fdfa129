import type { RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import { domainsRouter } from '../../src/adapters/express.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { listen } from '../listen.ts'

type Store = ReturnType<typeof createStore>

interface Context {
  /** For every function of the client, with the key of team 1. */
  readonly options: { readonly url: string; readonly apiKey: string }
  readonly store: Store
  readonly issue: ReturnType<typeof createKeys>['issue']
}

export const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.com`)

/**
 * A real server with all operations, and with what goes wrong in front of it.
 *
 * @param intercept Gets each call with its number, from 1, and returns whether it has answered.
 */
export async function serve(
  use: (context: Context) => Promise<void>,
  intercept: (call: number, response: ServerResponse) => boolean = () => false,
  store: Store = createStore(),
): Promise<void> {
  const { keys, issue } = createKeys()
  const operations = ['create', 'delete', 'list'] as const
  const app: RequestListener = express().use(domainsRouter({ store, keys, operations, onError: () => {} }))
  let calls = 0
  const server = await listen((request, response) => {
    calls += 1
    if (!intercept(calls, response)) app(request, response as never)
  })
  const scopes = ['domains:create', 'domains:delete', 'domains:read']
  const apiKey = await issue('team', '1', { scopes })
  try {
    await use({ options: { url: `${server.origin}/v1/domains`, apiKey }, store, issue })
  } finally {
    await server.close()
  }
}

/** Does what was asked for, and loses the answer. */
export function loseAnswer(response: ServerResponse): false {
  response.end = (() => response.destroy()) as typeof response.end
  return false
}

/** Answers in place of the server. */
export function answer(response: ServerResponse, status: number, body: object, headers = {}): true {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}
