import { expect, test, vi } from 'vitest'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { type CheckNames, previewDomains, registerDomains } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection, team1, team2 } from '../fixtures.ts'

test('a preview returns the results of the registration that follows, except for the IDs of new names', async () => {
  const synchronize = vi.fn()
  const store = createStore({ synchronize })
  await registerDomains(team1, { domains: ['held.com', '*.wild.com', 'a.below.com'] }, store)
  await registerDomains(team2, { domains: ['other.com', '*.others.com', 'a.theirs.com'] }, store)
  const domains = [
    ...['Held.com.', 'new.com', 'new.com', 'in.wild.com', '*.below.com', 'other.com', '*.other.com', '*.fresh.com'],
    ...['x.fresh.com', 'localhost', '', 'a.others.com', '*.theirs.com'],
  ]
  const preview = await previewDomains(team1, { domains }, store)
  const { data } = await registerDomains(team1, { domains }, store)
  expect(preview.data.totals).toEqual(data.totals)
  const isNew = (domain: string) => ['new.com', '*.fresh.com', '*.other.com'].includes(domain)
  expect(preview.data.results).toEqual(
    data.results.map(result => {
      if (result.status === 'invalid') return expect.objectContaining({ ...result, reason: expect.any(String) })
      if (!isNew(result.domain)) return result
      const { domainId: _, ...withoutId } = result
      return withoutId
    }),
  )
  expect(preview.data.results.map(({ status }) => status)).toEqual([
    ...['existing', 'created', 'existing', 'invalid', 'invalid', 'invalid', 'created', 'created'],
    ...Array(5).fill('invalid'),
  ])
})

test('invalid results have a reason, details and a suggestion in a preview, but not in a registration', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['*.bücher.de', 'a.example.com'] }, store)
  const urls = ['https://Bücher.example/', 'https://Bücher.de/', 'http://127.0.0.1/']
  const domains = [...urls, 'x.bücher.de', '*.example.com', 'info@example.net']
  const { data } = await previewDomains(team1, { domains }, store)
  const [input, code, message] = [expect.any(String), 'invalid_domain', expect.any(String)]
  expect(data.results).toEqual([
    { status: 'invalid', input, code, reason: 'url', rest: 'Bücher.example', message },
    { status: 'invalid', input, code, reason: 'url', suggestion: 'xn--bcher-kva.de', certain: true, message },
    { status: 'invalid', input, code, reason: 'url', rest: '127.0.0.1', message },
    {
      ...{ status: 'invalid', input, code: 'wildcard_conflict', reason: 'wildcard_conflict' },
      ...{ domain: 'x.xn--bcher-kva.de', conflicts: ['*.xn--bcher-kva.de'], count: 1 },
      message: '"x.bücher.de" is covered by "*.bücher.de", which this team has registered, or which is in this list.',
    },
    {
      ...{ status: 'invalid', input, code: 'subdomain_conflict', reason: 'subdomain_conflict', message },
      ...{ domain: '*.example.com', conflicts: ['a.example.com'], count: 1 },
    },
    { status: 'invalid', input, code, reason: 'at_sign', suggestion: 'example.net', certain: false, message },
  ])
  const registered = await registerDomains(team1, { domains }, store)
  const fields = registered.data.results.map(result => Object.keys(result))
  expect(fields).toEqual(domains.map(() => ['status', 'input', 'code', 'message']))
})

test('a preview returns "existing" for a name that only another list or Unicode version allowed', async () => {
  const store = createStore()
  const held = ['*.github.io', 'www.gone.notatld', 'www.xn--ab-g4b.com', '192.31.196.7', '3fff::7']
  const old = held.map(domain => ({ domain, registrableDomain: domain.replace(/^\*\.|^www\./, '') }))
  await save(store, '1', old)
  const find = vi.spyOn(store, 'find')
  const others = ['*.notatld', '*.com', 'github.io', 'localhost']
  const domains = ['*.GitHub.io', 'www.gone.notatld', 'www.A\u0378B.com', '192.31.196.7', '[3FFF::7]', ...others]
  for (const operation of [previewDomains, registerDomains]) {
    const [own, other] = await Promise.all([team1, team2].map(team => operation(team, { domains }, store)))
    const outcomeOf = (response: typeof own) =>
      response?.data.results.map(result => (result.status === 'invalid' ? result.code : result.domain))
    const refused = ['internal_domain', 'public_suffix_domain', 'public_suffix_domain', 'internal_domain']
    expect(outcomeOf(own)).toEqual([...held, ...refused])
    const rejected = ['public_suffix_domain', 'internal_domain', 'invalid_domain', 'reserved_ip', 'reserved_ip']
    expect(outcomeOf(other)).toEqual([...rejected, ...refused])
  }
  // The store does not look up the names below these wildcards, because there could be as many as there are
  // registrations.
  expect(find.mock.calls.flatMap(([{ bases }]) => bases)).toEqual([])
})

test('a preview saves, leases and pushes nothing', async () => {
  const synchronize = vi.fn(async () => {
    throw new Error('away')
  })
  const store = createStore({ synchronize, onError: () => {} })
  await rejection(registerDomains(team1, { domains: ['waits.com'] }, store))
  /**
   * The memory store computes `nextAttempt` from the current time, which may be a millisecond later at the second read.
   */
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
  // A lease would delay the next attempt by more than a minute.
  expect(Math.abs(after.nextAttempt - before.nextAttempt)).toBeLessThan(10_000)
  expect(synchronize).toHaveBeenCalledTimes(1)
})

test('a preview looks up all names in one call to the store', async () => {
  const store = createStore()
  const find = vi.spyOn(store, 'find')
  await previewDomains(team1, { domains: Array(100).fill('a.com') }, store)
  expect(find).toHaveBeenCalledTimes(1)
})

test('a preview fails with 500 if the store returns something malformed', async () => {
  const store = { ...createStore(), find: () => ({ registrations: [], below: [] }) }
  expect(await rejection(previewDomains(team1, { domains: ['*.a.com'] }, store))).toMatchObject({ status: 500 })
})

test('a preview rejects an unknown option with a TypeError', async () => {
  const misspelled = { timelimit: 5 } as never
  await expect(previewDomains(team1, { domains: ['a.com'] }, createStore(), misspelled)).rejects.toThrow(
    'The option "timelimit" does not exist',
  )
})

test('names and a wildcard over them in one list conflict, and the message says where to look', async () => {
  const domains = ['www.example.com', 'shop.example.com', '*.example.com', 'a.example.org', '*.example.org']
  const { data } = await previewDomains(team1, { domains }, createStore())
  expect(data.results).toMatchObject([
    { status: 'created' },
    { status: 'created' },
    {
      code: 'subdomain_conflict',
      message: expect.stringContaining('or which are in this list: delete them first, or'),
    },
    { status: 'created' },
    { code: 'subdomain_conflict' },
  ])
  const covered = await previewDomains(team1, { domains: ['*.example.com', 'www.example.com'] }, createStore())
  expect(covered.data.results[1]).toMatchObject({ message: expect.stringContaining('or which is in this list.') })
})

test('a preview shows the record to claim a name that another team has, if the application wants it', async () => {
  const store = createStore()
  await registerDomains(team2, { domains: ['taken.com', '*.wild.com', '8.8.8.8'] }, store)
  await registerDomains(team1, { domains: ['own.com', '*.own.com'] }, store)
  const domains = ['taken.com', 'a.wild.com', '8.8.8.8', 'own.com', 'a.own.com', 'new.com', 'refused.com', 'localhost']
  const { record } = createDnsVerification({ label: '_example-challenge', secret: 'a'.repeat(32) })
  const checkNames: CheckNames = names =>
    names.map(({ domain }) =>
      domain === 'refused.com' ? { code: 'domain_already_licensed', message: 'A brand.' } : null,
    )
  const show = async (options: object) => {
    const { data } = await previewDomains(team1, { domains }, store, { checkNames, ...options })
    return data.results.map(result => ('record' in result ? result.record : undefined))
  }
  expect(await show({})).toEqual(Array(8).fill(undefined))
  const claimRecord = async (teamId: string, domain: string) => ({ ttl: 60, ...(await record(teamId, domain)) })
  const shown = await show({ claimRecord })
  const records = [await record('1', 'taken.com'), await record('1', 'a.wild.com')]
  expect(shown).toEqual([...records, ...Array(6).fill(undefined)])
  expect(shown[0]?.value).not.toBe((await record('2', 'taken.com')).value)
  for (const claimRecord of [
    () => Promise.reject(new Error('no secret')),
    () => new Promise<never>(() => {}),
    () => ({ value: 'no record' }) as never,
  ]) {
    const failed = previewDomains(team1, { domains }, store, { claimRecord, timeLimit: 50 })
    expect(await rejection(failed)).toMatchObject({ status: 500 })
  }
})
