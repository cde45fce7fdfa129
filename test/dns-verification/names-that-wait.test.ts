import { fork } from 'node:child_process'
import { once } from 'node:events'
import express from 'express'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { domainsRouter } from '../../src/http/express.ts'
import { type Change, retryWaiting, type SettledName, startRetrying, startSynchronizing } from '../../src/index.ts'
import { createPostgresStore, createPostgresWaitingStore } from '../../src/postgres/index.ts'
import { compile } from '../compile.ts'
import { listen } from '../listen.ts'
import { openDatabaseWithTables, type TestServer } from '../postgres/server.ts'
import { waitFor } from '../wait-for.ts'
import type { Assignment, Step } from './retrying-process.ts'
import { serveDns } from './serve-dns.ts'

/*
 * A customer's two days: names are pasted, the page is closed, the record is published, and nobody calls again. On
 * PostgreSQL, with a name server; only the minutes that pass are not real.
 */

const MINUTE = 60_000
const secret = 'a secret of at least 32 characters'
const domains = ['shop.example.com', '*.blog.example.com', 'example.net']

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabaseWithTables()
  pool = server.createPool()
})
afterAll(() => server.stop())
beforeEach(async () => {
  await pool.query('DELETE FROM domain_registration.names; DELETE FROM domain_registration.waiting')
})

async function pass(milliseconds: number): Promise<void> {
  const set = ['since', 'until', 'last_tried', 'due'].map(time => `${time} = ${time} - $1 * interval '1 millisecond'`)
  await pool.query(`UPDATE domain_registration.waiting SET ${set}`, [milliseconds])
}

/** The DNS, the monitor, and what one process of the application creates. */
async function createWorld() {
  const published = new Map<string, string>()
  const dns = await serveDns((name, type) => {
    const value = type === 'TXT' ? published.get(name) : undefined
    return value === undefined ? { rcode: 'NXDOMAIN' } : { answers: [{ type: 'TXT', name, data: value }] }
  })
  const pushed: Change[] = []
  const store = createPostgresStore({
    database: pool,
    findTeam: id => ({ id, organizationId: '10', state: 'active' }),
    synchronize: changes => void pushed.push(...changes),
  })
  const waiting = createPostgresWaitingStore({ database: pool })
  /** A new process remembers nothing of what the DNS said before. */
  const createCheck = () =>
    createDnsVerification({ label: '_example-challenge', secret, servers: [dns.address] }).checkNames

  async function call(method: string, path: string, body?: object) {
    const authenticate = () =>
      ({ type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read', 'domains:delete'] }) as const
    const operations = ['create', 'preview', 'list', 'delete', 'waiting'] as const
    const checkNames = createCheck()
    const { origin, close } = await listen(
      express().use(domainsRouter({ store, waiting, checkNames, authenticate, operations })),
    )
    try {
      const headers = { 'Content-Type': 'application/json' }
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      return (await (await fetch(`${origin}/v1/domains${path}`, request)).json()).data
    } finally {
      await close()
    }
  }
  async function publish() {
    for (const { record } of (await call('GET', '/waiting')).domains) published.set(record.name, record.value)
  }
  return { dns, pushed, store, waiting, createCheck, call, publish }
}

test('a customer pastes names and closes the page: they are registered once the record is there', async () => {
  const { pushed, store, waiting, createCheck, call, publish } = await createWorld()
  const preview = await call('POST', '/preview', { domains })
  expect(preview.results).toMatchObject([{ waits: true, reason: 'not_verified' }, { waits: true }, { waits: true }])
  const { results } = await call('POST', '', { domains })
  for (const { message } of results)
    expect(message).toMatch(/ It is kept until \d{4}-\d\d-\d\d, and needs no other call\.$/)
  expect((await call('GET', '')).domains).toEqual([])

  const told: SettledName[] = []
  const onSettled = (names: readonly SettledName[]) => void told.push(...names)
  // A day without the record: 14 tries of each process that lives for one sweep.
  let tried = 0
  for (let minute = 0; minute < 1440; minute += 10) {
    await pass(10 * MINUTE)
    tried += (await retryWaiting({ store, waiting, checkNames: createCheck(), onSettled })).tried
  }
  expect([tried, told]).toEqual([expect.any(Number), []])
  expect(tried).toBeGreaterThan(3 * 8)
  expect(tried).toBeLessThan(3 * 16)

  await publish()
  const { domains: listed } = await call('GET', '/waiting')
  expect(listed.map(({ domain }: { domain: string }) => domain)).toEqual(domains.toSorted())
  await pass(240 * 1.1 * MINUTE)
  const retrying = [1, 2].map(() =>
    startRetrying({ store, waiting, checkNames: createCheck(), onSettled, interval: 20 }),
  )
  const synchronizing = startSynchronizing(store, { interval: 20 })
  onTestFinished(async () => {
    for (const loop of [...retrying, synchronizing]) await loop.stop()
  })
  await waitFor(() => expect(told).toHaveLength(3))
  expect(told.map(({ domain, status }) => [domain, status]).sort()).toEqual(
    domains.map(domain => [domain, 'registered']).sort(),
  )
  await waitFor(() => expect(pushed.map(({ domain }) => domain).sort()).toEqual(domains.toSorted()))
  await waitFor(async () => expect(await call('GET', '/waiting')).toEqual({ domains: [] }))
  const registered = new Set((await call('GET', '')).domains.map(({ domainId }: { domainId: string }) => domainId))
  expect(told.every(name => name.status === 'registered' && registered.has(name.domainId))).toBe(true)
})

describe.each<Step>(['asking', 'telling', 'forgetting'])('a process that is killed while %s', step => {
  test('loses no name: the next one registers each once, and tells of each', async () => {
    const { dns, store, waiting, createCheck, call, publish } = await createWorld()
    await call('POST', '', { domains })
    await publish()
    await pass(MINUTE)
    const assignment: Assignment = { config: server.config, server: dns.address, secret, step }
    const child = fork(await compile('test/dns-verification/retrying-process.ts'), [JSON.stringify(assignment)])
    const exit = once(child, 'exit')
    const [reached] = await Promise.race([once(child, 'message'), exit.then(() => ['ended'])])
    expect(reached).toBe(step)
    child.kill('SIGKILL')
    await exit

    expect((await call('GET', '/waiting')).domains).toHaveLength(3)
    // Turns that take names at once share them, and each is killed wherever it is.
    expect((await call('GET', '')).domains.length > 0).toBe(step !== 'asking')
    const told: SettledName[] = []
    const onSettled = (names: readonly SettledName[]) => void told.push(...names)
    const checkNames = createCheck()
    // Its lease has not expired yet.
    expect(await retryWaiting({ store, waiting, checkNames, onSettled })).toMatchObject({ tried: 0 })
    // Five times the time limit of a call.
    await pass(3 * MINUTE)
    await retryWaiting({ store, waiting, checkNames, onSettled })
    expect(told.map(({ domain }) => domain).sort()).toEqual(domains.toSorted())
    expect((await call('GET', '')).domains).toHaveLength(3)
    expect(await call('GET', '/waiting')).toEqual({ domains: [] })
  })
})
