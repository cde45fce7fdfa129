import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, test, vi } from 'vitest'
import { type Progress, registerAll } from '../../src/client/client.ts'
import { domainsRouter } from '../../src/http/express.ts'
import { createKeys, createStore, rejection } from '../fixtures.ts'

/** A real server, with what goes wrong in front of it. */
async function serve(
  use: (context: { url: string; apiKey: string; issue: ReturnType<typeof createKeys>['issue'] }) => Promise<void>,
  intercept: (call: number, response: ServerResponse) => boolean = () => false,
) {
  const { keys, issue } = createKeys()
  const app: RequestListener = express().use(domainsRouter({ store: createStore(), keys }))
  let calls = 0
  const server = createServer((request, response) => {
    calls += 1
    if (!intercept(calls, response)) app(request, response as never)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/domains`
    await use({ url, apiKey: await issue('team', '1'), issue })
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

const only = ({ url, apiKey }: { url: string; apiKey: string }) => ({ url, apiKey })
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.com`)
const answer = (response: ServerResponse, status: number, body: object, headers = {}) =>
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))

test('any number of names is registered in calls of 100, with progress, and results in order', async () => {
  await serve(async options => {
    const progress: Progress[] = []
    const all = [...names(249), 'localhost']
    const { results, totals } = await registerAll(all, {
      ...only(options),
      onProgress: step => progress.push(step),
    })
    expect(results.map(({ input }) => input)).toEqual(all)
    expect(totals).toEqual({ created: 249, existing: 0, invalid: 1 })
    expect(progress.map(({ done, total, results }) => [done, total, results.length])).toEqual([
      [100, 250, 100],
      [200, 250, 100],
      [250, 250, 50],
    ])
    expect(await registerAll([], only(options))).toEqual({
      results: [],
      totals: { created: 0, existing: 0, invalid: 0 },
    })
  })
})

test('the key of an organization names the team', async () => {
  await serve(async ({ url, issue }) => {
    const apiKey = await issue('organization', '10')
    expect((await registerAll(['a.com'], { url, apiKey, teamId: '2' })).totals.created).toBe(1)
    expect(await rejection(registerAll(['a.com'], { url, apiKey }))).toMatchObject({
      status: 400,
      code: 'invalid_request',
    })
  })
})

describe('a call is sent again', () => {
  test('after an answer that got lost: what it had registered is there with the same ID', async () => {
    let lost = 0
    await serve(
      async options => {
        const { results } = await registerAll(names(150), only(options))
        expect(lost).toBe(1)
        expect(results).toHaveLength(150)
        expect(results.slice(0, 100).every(({ status }) => status === 'created')).toBe(true)
        expect(results.slice(100).every(({ status }) => status === 'existing')).toBe(true)
      },
      (call, response) => {
        if (call !== 2) return false
        // The call goes through, and its answer is cut.
        const end = response.end
        response.end = (() => {
          lost += 1
          response.end = end
          response.destroy()
          return response
        }) as typeof end
        return false
      },
    )
  })

  test.each([
    [429, { 'Retry-After': '17' }, 17_000],
    [503, { 'Retry-After': '5' }, 5000],
    [502, { 'Retry-After': 'Thu, 01 Jan 2026 01:00:00 GMT' }, 3_600_000],
  ])('after %i, when Retry-After says', async (status, headers, wait) => {
    vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z'), toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    try {
      const fetch = vi.fn(async () => Response.json({ error: 'busy', message: 'Later.' }, { status, headers }))
      const call = registerAll(['a.com'], { url: 'https://api.test/v1/domains', apiKey: 'key', attempts: 2, fetch })
      const rejected = rejection(call)
      await vi.advanceTimersByTimeAsync(wait - 1)
      expect(fetch).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(fetch).toHaveBeenCalledTimes(2)
      expect(await rejected).toMatchObject({ status, code: 'busy' })
    } finally {
      vi.useRealTimers()
    }
  })

  test('as often as allowed, and no more', async () => {
    let asked = 0
    await serve(
      async options => {
        const error = await rejection(registerAll(names(101), { ...only(options), attempts: 3 }))
        expect(error).toMatchObject({ name: 'RegisterAllError', status: 503, code: 'domain_registration_unavailable' })
        expect(asked).toBe(3)
        expect((error as { results: unknown[] }).results).toHaveLength(100)
      },
      (call, response) => {
        if (call === 1) return false
        asked += 1
        answer(response, 503, { error: 'domain_registration_unavailable', message: 'Saved.' }, { 'Retry-After': '0' })
        return true
      },
    )
  })

  test('not after an answer that would be the same again, such as 401 or a redirect', async () => {
    await serve(async ({ url }) => {
      const error = await rejection(registerAll(names(1), { url, apiKey: 'svc_team_1_00' }))
      expect(error).toMatchObject({ status: 401, code: 'unauthorized', results: [] })
    })
    let asked = 0
    await serve(
      async options => {
        const error = await rejection(registerAll(names(1), only(options)))
        expect(error).toMatchObject({ status: 307, message: 'The answer was HTTP 307.' })
        expect(asked).toBe(1)
      },
      (_, response) => {
        asked += 1
        answer(response, 307, {}, { Location: 'https://elsewhere.test/' })
        return true
      },
    )
  })
})

test('a signal ends the work, also while it waits', async () => {
  const controller = new AbortController()
  await serve(
    async options => {
      const error = await rejection(registerAll(names(1), { ...only(options), signal: controller.signal }))
      expect(error).toBe('enough')
    },
    (_, response) => {
      answer(response, 429, { error: 'too_many_requests', message: 'Later.' }, { 'Retry-After': '100000' })
      response.once('close', () => controller.abort('enough'))
      return true
    },
  )
})

test('a key with a line break after it is refused, and not shown', async () => {
  const options = { url: 'https://api.test/v1/domains', apiKey: `svc_team_1_${'k'.repeat(43)}\n` }
  const error = await rejection(registerAll([], options))
  expect(String(error)).toBe(
    'TypeError: The option "apiKey" must be an API key, without white space around it; it is a string, not shown here',
  )
})

test.each([
  [{ url: 'v1/domains' }, /"url" must be an address/],
  [{ apiKey: undefined }, /"apiKey" must be an API key/],
  [{ teamid: '1' }, /"teamid" does not exist; "teamId" does/],
  [{ attempts: 0 }, /"attempts" must be a whole number above 0/],
])('refuses %j', async (changes, message) => {
  const options = { url: 'https://api.test/v1/domains', apiKey: 'svc_team_1_00', ...changes }
  expect(String(await rejection(registerAll([], options as never)))).toMatch(message)
})
