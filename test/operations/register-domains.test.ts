import { describe, expect, test, vi } from 'vitest'
import { type Change, type DomainStore, type InvalidCode, type KeyContext, registerDomains } from '../../src/index.ts'
import { createStore, organization, rejection, team1, team2 } from '../fixtures.ts'

const domains = ['www.example.com']

/** A store that cannot save poison.com. */
const createPoisonedStore = (cause = new Error('poison'), store = createStore()): DomainStore => ({
  ...store,
  register: request =>
    request.registrableDomains.includes('poison.com') ? Promise.reject(cause) : store.register(request),
})

describe('a call', () => {
  test('returns results in the order of the submitted hostnames, with only the documented fields', async () => {
    const submitted = ['b.example.com', ' ', 'A.Example.com.', 'localhost', 'a.example.com', 'bücher.de']
    const response = await registerDomains(team1, { domains: submitted }, createStore())
    const domainId = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const message = expect.stringMatching(/\.$/)
    expect(response).toStrictEqual({
      data: {
        results: [
          { status: 'created', input: 'b.example.com', domain: 'b.example.com', domainId },
          { status: 'invalid', input: ' ', code: 'empty_domain', message },
          { status: 'created', input: 'A.Example.com.', domain: 'a.example.com', domainId },
          { status: 'invalid', input: 'localhost', code: 'internal_domain', message },
          { status: 'existing', input: 'a.example.com', domain: 'a.example.com', domainId },
          { status: 'created', input: 'bücher.de', domain: 'xn--bcher-kva.de', domainId },
        ],
        totals: { created: 3, existing: 1, invalid: 2 },
      },
    })
    const [, , created, , existing] = response.data.results as { domainId?: string }[]
    expect(existing?.domainId).toBe(created?.domainId)
  })

  test('succeeds without calling the store if all hostnames are invalid', async () => {
    const store = createStore()
    const register = vi.spyOn(store, 'register')
    const { data } = await registerDomains(team1, { domains: ['', 'com', '127.1'] }, store)
    expect(data.totals).toEqual({ created: 0, existing: 0, invalid: 3 })
    expect(register).not.toHaveBeenCalled()
  })

  test('can return every documented code of an invalid result', async () => {
    const store = createStore()
    await registerDomains(team2, { domains: ['taken.com'] }, store)
    const inputs: Record<InvalidCode, string> = {
      empty_domain: '',
      invalid_domain: '-',
      public_suffix_domain: 'com',
      internal_domain: 'localhost',
      reserved_ip: '127.1',
      wildcard_conflict: 'x.a.com',
      subdomain_conflict: '*.b.com',
      domain_already_licensed: 'taken.com',
      internal_error: 'poison.com',
    }
    const domains = ['*.a.com', 'x.b.com', ...Object.values(inputs)]
    const { data } = await registerDomains(team1, { domains }, createPoisonedStore(undefined, store))
    const found = data.results.map(result => (result.status === 'invalid' ? result.code : result.status))
    expect(found).toEqual(['created', 'created', ...Object.keys(inputs)])
  })

  test('hides the cause of internal_error results from the caller, and passes it to onError', async () => {
    const cause = new Error('password=secret')
    const onError = vi.fn()
    const submitted = { domains: [...domains, 'poison.com'] }
    const response = await registerDomains(team1, submitted, createPoisonedStore(cause), { onError })
    expect(response.data.results.at(-1)).toMatchObject({ status: 'invalid', code: 'internal_error' })
    expect(JSON.stringify(response)).not.toContain('secret')
    expect(onError.mock.calls).toEqual([[cause]])
  })

  test('fails with a 500 that says to send the call again, if nothing could be saved', async () => {
    const cause = new Error('password=secret')
    const store: DomainStore = { ...createStore(), register: () => Promise.reject(cause) }
    const error = await rejection(registerDomains(team1, { domains }, store))
    expect(error).toMatchObject({ status: 500, code: 'internal_error', headers: { 'Retry-After': '5' }, cause })
    expect((error as Error).message).toBe(
      'The domains may or may not have been saved. Send the same call again: that is safe.',
    )
  })

  test('fails with a 500 whose cause lists every reason, if nothing could be saved for several reasons', async () => {
    const failures = ['away', 'full'].map(message => new Error(message))
    let calls = 0
    const store: DomainStore = {
      ...createStore(),
      register: () => Promise.reject(failures[calls++ % failures.length]),
    }
    const submitted = ['a.com', 'b.com', 'c.com', 'd.com']
    const { cause } = (await rejection(registerDomains(team1, { domains: submitted }, store))) as Error
    expect(cause).toMatchObject({ name: 'AggregateError', message: 'The store failed in several ways' })
    expect((cause as AggregateError).errors).toEqual(expect.arrayContaining(failures))
  })

  test('succeeds even if all results are conflicts', async () => {
    const store = createStore()
    await registerDomains(team2, { domains: ['a.com', 'b.com'] }, store)
    const { data } = await registerDomains(team1, { domains: ['b.com', 'a.com'] }, store)
    expect(data.totals).toEqual({ created: 0, existing: 0, invalid: 2 })
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the log is full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the log is away'))],
  ])('returns its results even if onError %s, and leaves no unhandled rejection', async (_, onError) => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const submitted = { domains: ['poison.com', 'fine.com'] }
    const { data } = await registerDomains(team1, submitted, createPoisonedStore(), { onError })
    expect(data.totals).toEqual({ created: 1, existing: 0, invalid: 1 })
    // Node reports unhandled rejections before it runs the next immediate, so this wait is long enough.
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe('a call for a team', () => {
  test.each([
    [
      { organizationId: '' },
      'The "organizationId" of a team must be a non-empty string or a safe integer; findTeam returned ""',
    ],
    [{ id: 1.5 as never }, 'The "id" of a team must be a non-empty string or a safe integer; findTeam returned 1.5'],
    [
      { organizationId: (2 ** 53) as never },
      'The "organizationId" of a team must be a non-empty string or a safe integer; findTeam returned 9007199254740992',
    ],
    [{ state: 'ACTIVE' as never }, 'The "state" of a team must be "active" or "suspended"; findTeam returned "ACTIVE"'],
  ])('fails with 500 if findTeam returns a team with %j, and the cause says what is wrong', async (wrong, message) => {
    const found = { id: '1', organizationId: '10', state: 'active', ...wrong } as const
    const store: DomainStore = { ...createStore(), findTeam: () => found }
    expect(await rejection(registerDomains(organization, { domains, team_id: '1' }, store))).toMatchObject({
      status: 500,
      cause: new TypeError(message),
    })
  })

  test('accepts IDs that findTeam returns as numbers, from an integer column', async () => {
    const store = createStore()
    const numbered: DomainStore = {
      ...store,
      findTeam: id => ({ id: Number(id), organizationId: 10, state: 'active' }),
    }
    expect((await registerDomains(organization, { domains, team_id: '1' }, numbered)).data.totals.created).toBe(1)
    expect((await registerDomains(team1, { domains }, store)).data.totals.existing).toBe(1)
    store.addTeam({ id: 77, organizationId: 10, state: 'active' })
    expect((await registerDomains(organization, { domains, team_id: '77' }, store)).data.totals.invalid).toBe(1)
  })

  test.each(['', 0, false])('fails with 500 if findTeam returns %j instead of null', async found => {
    const store: DomainStore = { ...createStore(), findTeam: () => found as never }
    expect(await rejection(registerDomains(organization, { domains, team_id: '1' }, store))).toMatchObject({
      status: 500,
      cause: new TypeError(
        'The "id" of a team must be a non-empty string or a safe integer; findTeam returned undefined',
      ),
    })
  })

  test('in a transaction fails with 500 if findTeam rejects, and the cause is the error of findTeam', async () => {
    const cause = new Error('down')
    const store: DomainStore = { ...createStore(), isInTransaction: true, findTeam: () => Promise.reject(cause) }
    expect(await rejection(registerDomains(team1, { domains }, store))).toMatchObject({ status: 500, cause })
  })
})

test.each([
  ['null', null],
  ['undefined', undefined],
  ['an unknown type', { ...organization, type: 'partner' }],
  ['an unknown type with a team', { ...team1, type: 'partner' }],
  ['an empty ID', { ...team1, teamId: '' }],
  ['an organization without an ID', { type: 'organization', scopes: ['domains:create'] }],
  ['a team without an ID', { type: 'team', scopes: ['domains:create'] }],
  ['scopes in a string', { ...team1, scopes: 'domains:create' }],
])('an invalid key context (%s) is rejected, and nothing is registered', async (_, keyContext) => {
  const withoutOrganization = { id: '5', state: 'active' } as never
  const store = { ...createStore(), findTeam: (id: string) => (id === '5' ? withoutOrganization : null) }
  const register = vi.spyOn(store, 'register')
  for (const team_id of ['1', '5']) {
    await expect(registerDomains(keyContext as never, { domains, team_id }, store)).rejects.toThrow(
      new TypeError(
        'A key context is { type: "organization", organizationId, scopes } or { type: "team", teamId, scopes }, ' +
          'with an array of scopes',
      ),
    )
  }
  expect(register).not.toHaveBeenCalled()
})

describe('the order of checks', () => {
  const noScope = { scopes: ['domains:read', 'domains:create:all'] }

  test.each<[string, string, number, KeyContext, unknown]>([
    ['insufficient_scope', 'the body is null', 403, { ...organization, ...noScope }, null],
    ['insufficient_scope', 'the team does not exist', 403, { ...team1, ...noScope, teamId: '77' }, { domains }],
    ['insufficient_scope', 'the team is suspended', 403, { ...team1, scopes: [], teamId: '9' }, { domains }],
    ['invalid_request', 'the team does not exist', 400, organization, { domains: [], team_id: '77' }],
    ['invalid_request', 'the team is suspended', 400, { ...team1, teamId: '9' }, { domains: [] }],
    ['team_not_found', 'all hostnames are invalid', 404, organization, { domains: [''], team_id: '3' }],
    ['team_suspended', 'all hostnames are invalid', 403, organization, { domains: [''], team_id: '9' }],
  ])('%s is reported even if %s', async (code, _, status, keyContext, body) => {
    expect(await rejection(registerDomains(keyContext, body, createStore()))).toMatchObject({ status, code })
  })
})

describe('synchronization', () => {
  /** A store whose monitor can be switched off, and the pushes that the monitor got. */
  function createMonitoredStore() {
    const monitor = { isOnline: true, received: [] as string[][] }
    const store = createStore({
      synchronize(changes: readonly Change[]) {
        if (!monitor.isOnline) throw new Error('offline')
        monitor.received.push(changes.map(({ domain }) => domain))
      },
    })
    return { monitor, store }
  }

  test('that fails gives 503, and the same call succeeds once the monitor is available', async () => {
    const { monitor, store } = createMonitoredStore()
    monitor.isOnline = false
    expect(await rejection(registerDomains(team1, { domains }, store))).toMatchObject({
      status: 503,
      code: 'domain_registration_unavailable',
      message: 'The domains were saved but are not yet synchronized. Send the same call again.',
      headers: { 'Retry-After': expect.stringMatching(/^[1-9][0-9]*$/) },
      cause: { message: 'offline' },
    })
    expect(await rejection(registerDomains(team1, { domains }, store))).toMatchObject({ status: 503 })

    monitor.isOnline = true
    const { data } = await registerDomains(team1, { domains }, store)
    expect(data.results).toMatchObject([{ status: 'existing', domain: 'www.example.com' }])
    expect(monitor.received).toEqual([domains])
  })

  test('pushes each unsynchronized registration of the call once, new or existing, and nothing else', async () => {
    const { monitor, store } = createMonitoredStore()
    await registerDomains(team1, { domains: ['done.com'] }, store)
    monitor.isOnline = false
    await rejection(registerDomains(team1, { domains: ['old.com', 'other.com'] }, store))
    monitor.isOnline = true
    await registerDomains(team1, { domains: ['done.com', 'new.com', 'old.com', 'NEW.com', 'localhost'] }, store)
    expect(monitor.received.flat()).toEqual(['done.com', 'new.com', 'old.com'])
  })

  test('is skipped if no registration of the call is pending', async () => {
    const { monitor, store } = createMonitoredStore()
    await registerDomains(team1, { domains }, store)
    monitor.isOnline = false
    expect((await registerDomains(team1, { domains }, store)).data.totals.existing).toBe(1)
    expect((await registerDomains(team1, { domains: ['localhost'] }, store)).data.totals.invalid).toBe(1)
  })

  test('that hangs gives 503 within the time limit', async () => {
    const store = createStore({ synchronize: () => new Promise(() => {}) })
    expect(await rejection(registerDomains(team1, { domains }, store, { timeLimit: 20 }))).toMatchObject({
      status: 503,
      cause: { name: 'TimeLimitError' },
    })
  })

  test('gives 503 if registrations are unsynchronized, but the store has no method `synchronize`', async () => {
    const { synchronize, ...store } = createStore({ synchronize: () => {} })
    expect(await rejection(registerDomains(team1, { domains }, store))).toMatchObject({
      status: 503,
      cause: { message: 'The store saved unsynchronized registrations, but has no "synchronize"' },
    })
    expect(await rejection(registerDomains(team1, { domains }, store))).toMatchObject({
      status: 503,
      cause: { message: expect.stringContaining('end the pending changes of these names with settlePending') },
    })
    await synchronize?.(await store.list())
    expect((await registerDomains(team1, { domains }, store)).data.totals.existing).toBe(1)
  })
})

test('registerDomains does not change its arguments', async () => {
  const body = Object.freeze({ domains: Object.freeze(['B.example.com', 'a.example.com']), team_id: '1' })
  await registerDomains(Object.freeze(organization), body, createStore())
  expect(body.domains).toEqual(['B.example.com', 'a.example.com'])
})
