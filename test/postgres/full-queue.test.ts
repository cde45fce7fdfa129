import { afterEach, expect, test, vi } from 'vitest'
import { domainsHandler } from '../../src/http/fetch.ts'
import { createPostgresStore, type PostgresBridge } from '../../src/postgres/index.ts'
import { manyDomains } from '../../src/testing/calls.ts'
import { teams } from '../fixtures.ts'
import { waitFor } from '../wait-for.ts'

afterEach(() => void vi.restoreAllMocks())

test('a team with 10,000 names that wait gets 500 and Retry-After at once, logged once; others wait', async () => {
  let refuse = (_: Error) => {}
  const silence = new Promise<never>((_, reject) => {
    refuse = reject
  })
  silence.catch(() => {})
  const database: PostgresBridge = { query: () => silence, transaction: () => silence }
  const store = createPostgresStore({ database, findTeam: id => teams.find(team => team.id === id) ?? null })
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const handle = domainsHandler({
    store,
    authenticate: ({ header }) => ({ type: 'team', teamId: header('team') ?? '', scopes: ['domains:create'] }),
  })
  const call = (team: string) => {
    const body = JSON.stringify({ domains: manyDomains(100) })
    const headers = { team, 'Content-Type': 'application/json' }
    return handle(new Request('https://example.com/v1/domains', { method: 'POST', headers, body }))
  }

  const waiting = Array.from({ length: 100 }, () => call('1'))
  await waitFor(() => expect(store.queueLength()).toBe(10_000))
  for (let times = 0; times < 3; times += 1) {
    const response = await call('1')
    expect([response.status, response.headers.get('Retry-After')]).toEqual([500, '5'])
    expect(await response.json()).toMatchObject({ error: 'internal_error' })
  }
  expect(logged.mock.calls).toHaveLength(1)
  expect(logged.mock.calls[0]?.[0]).toContain('10000 names of one team wait for the database already')
  waiting.push(call('2'))
  await waitFor(() => expect(store.queueLength()).toBe(10_100))
  refuse(Object.assign(new Error('the database system is shutting down'), { code: '57P03' }))
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(500)
  expect(store.queueLength()).toBe(0)
})

test('calls that only read wait with the others, six at once, and not in the line of the pool', async () => {
  let refuse = (_: Error) => {}
  let sent = 0
  const silence = new Promise<never>((_, reject) => {
    refuse = reject
  })
  const query = () => {
    sent += 1
    return silence
  }
  const store = createPostgresStore({ database: { query, transaction: query }, findTeam: () => null })
  const reading = Array.from({ length: 10 }, () => [
    store.find({ teamId: '1', domains: ['example.com'], bases: [] }),
    store.list({ teamId: '2' }),
    store.count({ teamId: '2' }),
    store.release('1', ['0198b6a0-0000-7000-8000-000000000000']),
  ]).flat()
  const ended = Promise.allSettled(reading)
  await waitFor(() => expect(store.queueLength()).toBe(40))
  expect(sent).toBe(6)
  refuse(Object.assign(new Error('the database system is shutting down'), { code: '57P03' }))
  await ended
  expect(store.queueLength()).toBe(0)
})
