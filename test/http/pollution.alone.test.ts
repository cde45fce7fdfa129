import { describe, expect, test } from 'vitest'
import { createHandler, type HandlerRequest } from '../../src/http/index.ts'
import { createKeys, createStore } from '../fixtures.ts'

/**
 * The properties that this package reads from objects of other code. Properties that the language itself reads, such as
 * `get` and `return`, are left out, because they would break every program.
 */
const names = [
  ...['json', 'text', 'bytes', 'stream', 'body', 'raw', 'id', 'method', 'path', 'query', 'header', 'origin'],
  ...['keys', 'store', 'scopes', 'type', 'teamId', 'organizationId', 'keyPrefix', 'expiresAt', 'revokedAt', 'hash'],
  ...['domains', 'team_id', 'limit', 'after', 'format', 'status', 'code', 'message', 'headers', 'cause', 'error'],
  ...[
    'data',
    'maxDomains',
    'state',
    'teamCount',
    'needsCount',
    'valid',
    'input',
    'refusal',
    'domain',
    'domainId',
    'lease',
  ],
  ...['done', 'value', 'signal', 'timeLimit', 'onError', 'operation'],
]
const values = ['x', 1, true, null, () => 'x']

/** Calls `work` while every object inherits a given property. */
async function whilePolluted<T>(name: string, value: unknown, work: () => Promise<T>): Promise<T> {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true, enumerable: true })
  try {
    return await work()
  } finally {
    Reflect.deleteProperty(Object.prototype, name)
  }
}

describe.each(names)('while Object.prototype is polluted with a property "%s"', name => {
  test.each([
    ['a valid call gets 200, or a 500 whose cause is reported', 200, {}],
    ['a call whose body is not JSON registers nothing', 400, { body: '{' }],
    ['a call without a key is rejected', 401, { key: '' }],
  ] as const)(
    '%s',
    async (_, status, { body = '{"domains":["www.example.com"]}', key }: { body?: string; key?: string }) => {
      const { keys, issue } = createKeys()
      const apiKey = key ?? (await issue('team', '1'))
      for (const value of values) {
        const reported: unknown[] = []
        const store = createStore()
        const handle = createHandler({ store, keys, onError: error => void reported.push(error) })
        const sent = new Map([
          ['authorization', `Bearer ${apiKey}`],
          ['content-type', 'application/json'],
        ])
        const request: HandlerRequest = {
          header: name => sent.get(name) ?? null,
          readBody: () => ({ bytes: Buffer.from(body) }),
        }
        const response = await whilePolluted(name, value, () => handle(request))
        if (response.status !== status) expect([response.status, reported.length > 0]).toEqual([500, true])
        if (response.status !== 200 && status !== 200) expect(store.count()).toBe(0)
      }
    },
  )
})
