import { describe, expect, test, vi } from 'vitest'
import { type DomainStore, isApiError, previewDomains, registerDomains, transfer } from '../../src/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createStore, rejection, team1 } from '../fixtures.ts'

const toTeam = (maxDomains: number) => ({ id: '1', organizationId: '10', state: 'active', maxDomains }) as const
const createLimitedStore = (maxDomains: number) => createStore({ teams: [toTeam(maxDomains)] })

const register = async (store: DomainStore, domains: readonly string[], onError?: (cause: unknown) => void) =>
  (await registerDomains(team1, { domains }, store, { onError })).data.totals
const refused = (message: string) => ({ status: 403, code: 'domain_limit_reached', message })

describe('a call', () => {
  test('that would exceed the limit is rejected as a whole, and its preview says how much room there is', async () => {
    const store = createLimitedStore(100)
    await register(store, manyDomains(60))
    const domains = manyDomains(50, 'new.')
    const expected = refused('The team may have 100 domains. It has 60, and this call would add 50.')
    expect(await rejection(register(store, domains))).toMatchObject(expected)
    expect((await previewDomains(team1, { domains }, store)).data).toMatchObject({ totals: { created: 50 }, room: 40 })
    expect(await store.count()).toBe(60)
    expect(await register(store, domains.slice(10))).toMatchObject({ created: 40 })
  })

  test('whose lost response saved a name before the team was full is not a 403, and says what it saved', async () => {
    const store = createLimitedStore(3)
    let attempts = 0
    const unreliable: DomainStore = {
      ...store,
      async register(request) {
        attempts += 1
        if (attempts === 1) throw new Error('connection lost')
        const saved = await store.register(request)
        if (attempts > 2) return saved
        await save(store, '1', ['x.com', 'y.com'])
        throw new Error('answer lost')
      },
    }
    const causes: unknown[] = []
    const options = { onError: (cause: unknown) => causes.push(cause) }
    const { data } = await registerDomains(team1, { domains: ['a.com', 'b.com', 'c.com'] }, unreliable, options)
    const codes = data.results.map(result => (result.status === 'invalid' ? result.code : result.status))
    expect(codes).toEqual(['created', 'internal_error', 'internal_error'])
    expect(causes).toContainEqual(expect.objectContaining({ code: 'domain_limit_reached' }))
    expect((await store.list()).map(({ domain }) => domain)).toEqual(['a.com', 'x.com', 'y.com'])
  })

  test('does not count existing, repeated or invalid names towards the limit', async () => {
    const store = createLimitedStore(2)
    await register(store, ['a.com'])
    const domains = ['a.com', 'b.com', 'B.com', 'localhost', '', 'com']
    const totals = { created: 1, existing: 2, invalid: 3 }
    expect((await previewDomains(team1, { domains }, store)).data.totals).toEqual(totals)
    expect(await register(store, domains)).toEqual(totals)
    expect(await register(store, domains)).toEqual({ created: 0, existing: 3, invalid: 3 })
  })

  test('of a team above its limit succeeds if the call has no new name, and fails if it has one', async () => {
    const store = createLimitedStore(3)
    await register(store, ['a.com', 'b.com', 'c.com'])
    store.addTeam(toTeam(1))
    expect(await register(store, ['a.com', 'b.com', 'localhost'])).toMatchObject({ existing: 2 })
    const one = 'The team may have 1 domain. It has 3, and this call would add 1.'
    expect(await rejection(register(store, ['a.com', 'd.com']))).toMatchObject(refused(one))
    expect((await previewDomains(team1, { domains: ['d.com'] }, store)).data.room).toBe(-2)
  })

  test.each([null, undefined])('of a team whose limit is %s does not ask the store to count', async maxDomains => {
    const store = createStore({ teams: [{ ...toTeam(0), maxDomains }] })
    const asked = vi.spyOn(store, 'register')
    expect(await register(store, ['a.com'])).toMatchObject({ created: 1 })
    expect(asked.mock.calls[0]?.[0]).not.toHaveProperty('needsCount')
    await save(store, '2', ['b.com'])
    const moved = vi.spyOn(store, 'transfer')
    expect(await transfer(store, { from: '2', to: '1' })).toHaveLength(1)
    expect(moved.mock.calls[0]?.[0]).toMatchObject({ needsCount: false })
  })

  test('of a suspended team is rejected because of the suspension, even if it also exceeds the limit', async () => {
    const store = createStore({ teams: [{ ...toTeam(0), state: 'suspended' }] })
    expect(await rejection(register(store, ['a.com']))).toMatchObject({ code: 'team_suspended' })
  })

  test.each([
    [undefined, 'undefined'],
    ['1', '"1"'],
    [0.5, '0.5'],
    [Number.NaN, 'NaN'],
  ])(
    "of a team with a limit fails if the store's count is %o, saves nothing, and the cause says why",
    async (teamCount, shown) => {
      const store = createLimitedStore(5)
      await register(store, ['held.com'])
      const miscount = <Answer extends object>(found: Answer) => ({ ...found, teamCount: teamCount as number })
      const blind: DomainStore = {
        findTeam: store.findTeam,
        find: async question => miscount(await store.find(question)),
        async register(request) {
          const decide = (found: Parameters<typeof request.decide>[0]) => request.decide(miscount(found))
          const { found, saved } = await store.register({ ...request, decide })
          return { found: miscount(found), saved }
        },
      }
      for (const domains of [['a.com'], ['held.com']]) {
        for (const call of [register(blind, domains), previewDomains(team1, { domains }, blind)]) {
          const error = await rejection(call)
          expect(error).toMatchObject({ status: 500, code: 'internal_error' })
          expect(String((error as Error).cause)).toMatch(/"maxDomains".* it is /)
          expect(String((error as Error).cause)).toContain(shown)
        }
      }
      expect(await store.count()).toBe(1)
    },
  )

  const wrong = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5', 5n, true, {}]
  test.each(wrong)('of a team with the invalid limit %o fails, and the cause says why', async maxDomains => {
    const badTeam = { ...toTeam(5), maxDomains: maxDomains as never }
    const store = createLimitedStore(5)
    expect(() => store.addTeam(badTeam)).toThrow('"maxDomains" of a team must be an integer of at least 0')
    const misled = { ...store, findTeam: () => badTeam }
    const body = { domains: ['a.com'] }
    const transferred = transfer(misled, { from: '2', to: '1', domains: ['a.com'] })
    for (const call of [register(misled, ['a.com']), previewDomains(team1, body, misled), transferred]) {
      const error = await rejection(call)
      expect(error).toMatchObject({ status: 500, code: 'internal_error' })
      expect(String((error as Error).cause)).toContain('"maxDomains" of a team must be an integer of at least 0')
    }
  })
})

test('if a later part of a transfer of all names would exceed the limit, no name is transferred', async () => {
  const store = createLimitedStore(1200)
  for (let part = 0; part < 3; part += 1) await save(store, '2', manyDomains(500, `p${part}.`))
  await save(store, '1', ['held.com'])
  const error = await rejection(transfer(store, { from: '2', to: '1' }))
  expect(error).toMatchObject(refused('The team may have 1200 domains. It has 1, and this call would add 1500.'))
  expect(await store.count({ teamId: '1' })).toBe(1)
})

describe('a call that is retried in parts because the store failed', () => {
  /** A store that cannot save poison.com, and that calls `between` after it has saved other names. */
  function createPoisonedStore(maxDomains: number, between: () => unknown = () => {}) {
    const store = createLimitedStore(maxDomains)
    const poisoned: DomainStore = {
      ...store,
      async register(request) {
        const registered = await store.register({
          ...request,
          decide(found) {
            const names = request.decide(found)
            if (names.some(({ domain }) => domain === 'poison.com')) throw new Error('poison')
            return names
          },
        })
        if (registered.saved.length > 0) await between()
        return registered
      },
    }
    return { store, poisoned }
  }

  test('saves all names except the one that fails, if the whole call is within the limit', async () => {
    const { store, poisoned } = createPoisonedStore(30)
    expect(await register(poisoned, [...manyDomains(29), 'poison.com'])).toEqual({
      created: 29,
      existing: 0,
      invalid: 1,
    })
    expect(await store.count()).toBe(29)
  })

  test('is rejected as a whole if it would exceed the limit, and nothing is saved', async () => {
    const { store, poisoned } = createPoisonedStore(29)
    const expected = refused('The team may have 29 domains. It has 0, and this call would add 30.')
    expect(await rejection(register(poisoned, [...manyDomains(29), 'poison.com']))).toMatchObject(expected)
    expect(await store.count()).toBe(0)
  })

  test('returns internal_error for the remaining names if another call uses up the limit', async () => {
    let isTaken = false
    const { store, poisoned } = createPoisonedStore(8, async () => {
      if (isTaken) return
      isTaken = true
      await register(store, ['other-1.com', 'other-2.com'])
    })
    const domains = ['poison.com', ...manyDomains(7)]
    const onError = vi.fn()
    const asked = vi.spyOn(poisoned, 'register')
    const { created, invalid } = await register(poisoned, domains, onError)
    expect(created + invalid).toBe(8)
    expect(asked).toHaveBeenCalledTimes(4)
    expect(await store.count()).toBe(created + 2)
    expect(onError.mock.calls.map(([error]) => isApiError(error) && error.code)).toContain('domain_limit_reached')
    expect(await rejection(register(poisoned, domains))).toMatchObject({ code: 'domain_limit_reached' })
  })

  test('is rejected if another call uses up the limit before any new name has been saved', async () => {
    const store = createLimitedStore(3)
    await register(store, ['a.com'])
    let calls = 0
    const failing: DomainStore = {
      ...store,
      async register(request) {
        calls += 1
        if (calls === 1) throw new Error('the store fails once, on purpose')
        const registered = await store.register(request)
        if (calls === 2) await register(store, ['other.com'])
        return registered
      },
    }
    const call = register(failing, ['a.com', 'b.com', 'c.com'])
    expect(await rejection(call)).toMatchObject({ code: 'domain_limit_reached' })
  })
})
