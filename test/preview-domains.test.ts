import { expect, test, vi } from 'vitest'
import { type ApiError, previewDomains, registerDomains } from '../src/index.ts'
import { createStore, organization, rejection, team1, team2 } from './fixtures.ts'

test('a preview answers what registering then answers, but for the IDs that do not exist yet', async () => {
  const synchronize = vi.fn()
  const store = createStore({ synchronize })
  await registerDomains(team1, { domains: ['held.com', '*.wild.com', 'a.below.com'] }, store)
  await registerDomains(team2, { domains: ['other.com'] }, store)
  const domains = [
    'Held.com.',
    'new.com',
    'new.com',
    'in.wild.com',
    '*.below.com',
    'other.com',
    '*.other.com',
    '*.fresh.com',
    'x.fresh.com',
    'localhost',
    '',
  ]
  const preview = await previewDomains(team1, { domains }, store)
  const { data } = await registerDomains(team1, { domains }, store)
  expect(preview.data.totals).toEqual(data.totals)
  const isNew = (domain: string) => ['new.com', '*.fresh.com', '*.other.com'].includes(domain)
  expect(preview.data.results).toEqual(
    data.results.map(result => {
      if (result.status === 'invalid' || !isNew(result.domain)) return result
      const { domainId: _, ...withoutId } = result
      return withoutId
    }),
  )
  expect(preview.data.results.map(({ status }) => status)).toEqual([
    ...['existing', 'created', 'existing', 'invalid', 'invalid', 'invalid', 'created', 'created'],
    ...['invalid', 'invalid', 'invalid'],
  ])
})

test('a preview tells of another team only that a name is taken, whatever that team holds', async () => {
  const store = createStore()
  await registerDomains(team2, { domains: ['held.com', '*.wild.com', 'a.below.com', 'b.below.com'] }, store)
  const domains = ['held.com', 'a.wild.com', '*.a.wild.com', '*.wild.com', '*.below.com']
  const { data } = await previewDomains(team1, { domains }, store)
  expect(data.results).toEqual(
    domains.map(input => ({
      status: 'invalid',
      input,
      code: 'domain_already_licensed',
      message: `"${input}" cannot be registered: it overlaps with a registration of another team.`,
    })),
  )
})

test('a preview saves, leases and pushes nothing', async () => {
  const synchronize = vi.fn(async () => {
    throw new Error('away')
  })
  const store = createStore({ synchronize, onError: () => {} })
  await rejection(registerDomains(team1, { domains: ['waits.com'] }, store))
  /** The memory store reckons the next attempt from now, which may be a millisecond later. */
  const read = async () => {
    const waiting = await store.listPending()
    return {
      nextAttempt: Number(waiting[0]?.nextAttempt),
      saved: [await store.list(), waiting.map(({ nextAttempt: _, ...change }) => change)],
    }
  }
  const before = await read()
  const { data } = await previewDomains(team1, { domains: ['new.com', 'waits.com', '*.waits.com'] }, store)
  expect(data.results.map(({ status }) => status)).toEqual(['created', 'existing', 'created'])
  const after = await read()
  expect(after.saved).toEqual(before.saved)
  // A lease would move it by a minute and more.
  expect(Math.abs(after.nextAttempt - before.nextAttempt)).toBeLessThan(10_000)
  expect(synchronize).toHaveBeenCalledTimes(1)
})

test('a preview is refused as registering is, and asks the store only once for all names', async () => {
  const store = createStore()
  const find = vi.spyOn(store, 'find')
  const refused = [
    [{ ...team1, scopes: ['domains:read'] }, { domains: ['a.com'] }, 'insufficient_scope'],
    [team1, { domains: [] }, 'invalid_request'],
    [organization, { domains: ['a.com'] }, 'invalid_request'],
    [organization, { domains: ['a.com'], team_id: '3' }, 'team_not_found'],
    [organization, { domains: ['a.com'], team_id: '9' }, 'team_suspended'],
  ] as const
  for (const [keyContext, body, code] of refused)
    expect(await rejection(previewDomains(keyContext, body, store))).toMatchObject({ code })
  expect(find).not.toHaveBeenCalled()
  await previewDomains(organization, { domains: Array(100).fill('a.com'), team_id: '1' }, store)
  expect(find).toHaveBeenCalledTimes(1)
})

test.each([
  ['fails', () => Promise.reject(new Error('down'))],
  ['answers nothing that can be judged', () => ({ registrations: [], below: [] })],
  ['does not answer in time', () => new Promise<never>(() => {})],
])('a store that %s is a 500 that says when to try again', async (_, find) => {
  const store = { ...createStore(), find }
  const error = (await rejection(previewDomains(team1, { domains: ['*.a.com'] }, store, { timeLimit: 20 }))) as ApiError
  expect(error).toMatchObject({ status: 500, code: 'internal_error', headers: { 'Retry-After': '5' } })
  expect(error.cause).toBeInstanceOf(Error)
})

test('a store without find, and an option that does not exist, are the application’s mistakes', async () => {
  const { find: _, ...store } = createStore()
  await expect(previewDomains(team1, { domains: ['a.com'] }, store)).rejects.toThrow('no method "find"')
  const misspelled = { timelimit: 5 } as never
  await expect(previewDomains(team1, { domains: ['a.com'] }, createStore(), misspelled)).rejects.toThrow(
    'The option "timelimit" does not exist',
  )
})
