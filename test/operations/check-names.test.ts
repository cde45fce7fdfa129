import { describe, expect, test } from 'vitest'
import { createHandler } from '../../src/http/index.ts'
import {
  type CheckNames,
  createMemoryStore,
  type DomainStore,
  type NameRefusal,
  type ProposedName,
  previewDomains,
  registerDomains,
} from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection, team1, teams } from '../fixtures.ts'

const denied = { code: 'invalid_domain', message: 'This name belongs to us.' } as const

/** Answers as `answer` says, and remembers what it was asked. */
function createCheck(answer: (name: ProposedName) => Awaited<ReturnType<CheckNames>>[number] = () => null) {
  const asked: ProposedName[][] = []
  const checkNames: CheckNames = names => {
    asked.push([...names])
    return names.map(answer)
  }
  return { asked, checkNames }
}

const statuses = (results: readonly { status: string; code?: string }[]) =>
  results.map(result => result.code ?? result.status)

describe('checkNames', () => {
  test('is asked once about the names that are new, and create and preview agree', async () => {
    const store = createStore()
    await save(store, '1', ['held.com', '*.covering.com'])
    await save(store, '2', ['taken.com'])
    const { asked, checkNames } = createCheck(({ kind }) =>
      kind === 'wildcard' ? { ...denied, reason: 'plan' } : null,
    )
    const domains = ['New.com', 'held.com', 'a.covering.com', 'taken.com', 'localhost', '*.b.com', '8.8.8.8', 'new.com']
    const preview = await previewDomains(team1, { domains }, store, { checkNames })
    const created = await registerDomains(team1, { domains }, store, { checkNames })
    const names = [
      { input: 'New.com', domain: 'new.com', kind: 'name', registrableDomain: 'new.com' },
      { input: '*.b.com', domain: '*.b.com', kind: 'wildcard', registrableDomain: 'b.com' },
      { input: '8.8.8.8', domain: '8.8.8.8', kind: 'ip', registrableDomain: '8.8.8.8' },
    ]
    expect(asked).toEqual([names, names])
    const expected = ['created', 'existing', 'wildcard_conflict', 'domain_already_licensed', 'internal_domain']
    for (const { data } of [preview, created])
      expect(statuses(data.results)).toEqual([...expected, 'invalid_domain', 'created', 'existing'])
    expect(preview.data.results[5]).toEqual({ status: 'invalid', input: '*.b.com', ...denied, reason: 'plan' })
    expect(created.data.results[5]).toEqual({ status: 'invalid', input: '*.b.com', ...denied })
    expect(await store.count({ teamId: '1' })).toBe(4)
  })

  test.each<[string, () => NameRefusal]>([
    ['the status created', () => ({ ...denied, status: 'created' })],
    ['the status 403', () => ({ ...denied, status: 403 })],
    ['the place of an error', () => Object.assign(new Error(denied.message), { code: denied.code })],
    ['conflicts and an input', () => ({ ...denied, conflicts: ['b.com'], count: 1, input: 'b.com', domainId: '7' })],
  ])('reads only code, message and reason of a refusal with %s', async (_, answer) => {
    const store = createStore()
    const { checkNames } = createCheck(answer)
    const result = { status: 'invalid', input: 'a.com', ...denied, reason: 'not_allowed' }
    for (const operation of [previewDomains, registerDomains]) {
      const { data } = await operation(team1, { domains: ['a.com'] }, store, { checkNames })
      expect(data.results).toEqual([operation === previewDomains ? result : { ...result, reason: undefined }])
    }
    expect(await store.count({ teamId: '1' })).toBe(0)
  })

  test('may name the DNS record that would do, which only a preview returns, without other properties', async () => {
    const record = { type: 'CNAME', name: '_x.a.com', host: '_x', zone: 'a.com', value: 'proof.example.net' }
    const { checkNames } = createCheck(() => ({ ...denied, record: Object.assign({ ttl: 60 }, record) }))
    const preview = await previewDomains(team1, { domains: ['a.com'] }, createStore(), { checkNames })
    const { data } = await registerDomains(team1, { domains: ['a.com'] }, createStore(), { checkNames })
    const result = { status: 'invalid', input: 'a.com', ...denied }
    expect(preview.data.results).toStrictEqual([{ ...result, reason: 'not_allowed', record }])
    expect(data.results).toStrictEqual([result])
  })

  test('is not asked again about names that the team has, so every call can be sent again', async () => {
    const store = createStore()
    const body = { domains: ['a.com', '*.b.com'] }
    await registerDomains(team1, body, store)
    const { asked, checkNames } = createCheck(() => denied)
    const { data } = await registerDomains(team1, body, store, { checkNames })
    expect([statuses(data.results), asked]).toEqual([['existing', 'existing'], []])
  })

  test('is asked about all new names that conflict with each other, because it decides', async () => {
    const store = createStore()
    const { asked, checkNames } = createCheck(({ kind }) => (kind === 'wildcard' ? denied : null))
    const body = { domains: ['*.a.com', 'x.a.com'] }
    const preview = await previewDomains(team1, body, store, { checkNames })
    const { data } = await registerDomains(team1, body, store, { checkNames })
    expect(asked.map(names => names.map(({ domain }) => domain))).toEqual([body.domains, body.domains])
    expect([statuses(preview.data.results), statuses(data.results)]).toEqual([
      ['invalid_domain', 'created'],
      ['invalid_domain', 'created'],
    ])
  })

  test('comes after team_suspended and before domain_limit_reached', async () => {
    const store = createMemoryStore({
      teams: [
        { id: '1', organizationId: '10', state: 'active', maxDomains: 1 },
        { id: '2', organizationId: '10', state: 'suspended' },
      ],
    })
    const { asked, checkNames } = createCheck(({ domain }) => (domain === 'a.com' ? denied : null))
    const suspended = registerDomains({ ...team1, teamId: '2' }, { domains: ['a.com'] }, store, { checkNames })
    expect([await rejection(suspended), asked]).toMatchObject([{ code: 'team_suspended' }, []])
    const tooMany = [team1, { domains: ['a.com', 'b.com', 'c.com'] }, store, { checkNames }] as const
    expect(await rejection(registerDomains(...tooMany))).toMatchObject({ code: 'domain_limit_reached' })
    expect((await previewDomains(...tooMany)).data).toMatchObject({ totals: { created: 2, invalid: 1 }, room: 1 })
    for (const operation of [previewDomains, registerDomains]) {
      const { data } = await operation(team1, { domains: ['a.com', 'b.com'] }, store, { checkNames })
      expect(data.totals).toEqual({ created: 1, existing: 0, invalid: 1 })
    }
  })

  test('is given the team, the caller and a signal', async () => {
    const contexts: unknown[] = []
    const checkNames: CheckNames = (names, context) => {
      contexts.push(context)
      return names.map(() => null)
    }
    await registerDomains(team1, { domains: ['a.com'] }, createStore(), { checkNames })
    expect(contexts).toEqual([{ team: teams[0], keyContext: team1, signal: expect.any(AbortSignal) }])
  })

  test.each<[string, (...question: Parameters<CheckNames>) => unknown]>([
    ['throws', () => raise()],
    ['rejects', () => Promise.reject(new Error('The brands cannot be looked up'))],
    ['hangs', () => new Promise(() => {})],
    ['answers too few names', () => [null]],
    ['answers too many names', () => [null, null, null]],
    ['answers nothing', () => undefined],
    ['answers undefined for a name', () => [undefined, null]],
    ['answers true for a name', () => [true, null]],
    ['answers with an array that has a hole', () => Array(2)],
    ['writes to the team', (names, { team }) => write(team, 'maxDomains', null) ?? names.map(() => null)],
    ['writes to the caller', (names, { keyContext }) => write(keyContext, 'teamId', '2') ?? names.map(() => null)],
    ['writes to the scopes', (names, { keyContext }) => write(keyContext.scopes, 0, 'x') ?? names.map(() => null)],
    ['writes to a name', ([name]) => write(name, 'domain', 'c.com') ?? [null, null]],
    ['sorts the names in place', names => (names as ProposedName[]).reverse().map(() => null)],
    ['answers with a code that does not exist', () => [null, { code: 'no_such_code', message: 'No' }]],
    ['answers with internal_error', () => [null, { code: 'internal_error', message: 'No' }]],
    ['answers without a message', () => [null, { code: 'invalid_domain' }]],
    ['answers with a reason that is no string', () => [null, { ...denied, reason: 7 }]],
    ['answers with a record that is no object', () => [null, { ...denied, record: '_x.a.com TXT 7' }]],
    ['answers with waits that is not true or false', () => [null, { ...denied, waits: 'yes' }]],
    ['answers with null as a record', () => [null, { ...denied, record: null }]],
    ['answers with half a record', () => [null, { ...denied, record: { type: 'TXT', name: '_x.a.com', value: '7' } }]],
  ])('that %s makes the call a 500 that saves nothing, and onError gets the step', async (_, answer) => {
    const store = createStore()
    const heard: unknown[] = []
    const handle = createHandler({
      store,
      authenticate: () => team1,
      operations: ['create', 'preview'],
      checkNames: answer as CheckNames,
      timeLimit: 200,
      onError: (error, { step }) => void heard.push([step, error instanceof Error]),
    })
    for (const operation of ['create', 'preview'] as const) {
      const response = await handle({
        operation,
        header: name => (name === 'content-type' ? 'application/json' : null),
        readBody: () => ({ json: { domains: ['a.com', 'b.com'] } }),
      })
      expect(response).toMatchObject({ status: 500, headers: { 'Retry-After': '5' } })
    }
    expect(heard).toEqual([
      ['checkNames', true],
      ['checkNames', true],
    ])
    expect(await store.count()).toBe(0)
  })

  test('is aborted when the call stops waiting', async () => {
    const signals: AbortSignal[] = []
    const checkNames: CheckNames = (_, { signal }) => new Promise(() => signals.push(signal))
    const call = registerDomains(team1, { domains: ['a.com'] }, createStore(), { checkNames, timeLimit: 50 })
    expect(await rejection(call)).toMatchObject({ status: 500 })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  describe('while it is asked', () => {
    async function registerWhile(change: (store: ReturnType<typeof createStore>) => unknown, domains: string[]) {
      const store = createStore()
      await save(store, '1', ['own.com'])
      await save(store, '2', ['others.com', '*.wide.com'])
      const causes: unknown[] = []
      const checkNames: CheckNames = async names => {
        await change(store)
        return names.map(() => null)
      }
      const options = { checkNames, onError: (cause: unknown) => causes.push(cause) }
      const call = registerDomains(team1, { domains }, store, options)
      return {
        store,
        causes,
        results: await call.then(
          ({ data }) => statuses(data.results),
          error => error,
        ),
      }
    }

    test('another team may take a name: the save decides', async () => {
      const { results } = await registerWhile(store => save(store, '2', ['a.com']), ['a.com', 'b.com'])
      expect(results).toEqual(['domain_already_licensed', 'created'])
    })

    test.each(['others.com', 'own.com', 'x.wide.com'])(
      '%s may become available: it is not registered, because it was not asked about, and the caller sends it again',
      async domain => {
        const release = async (store: ReturnType<typeof createStore>) => {
          await store.release('1', ['own.com'])
          await store.release('2', ['others.com', '*.wide.com'])
        }
        const { store, results, causes } = await registerWhile(release, [domain, 'a.com'])
        expect(results).toEqual(['internal_error', 'created'])
        expect(causes).toMatchObject([{ message: expect.stringContaining('checkNames') }])
        expect((await store.list()).map(each => each.domain)).toEqual(['a.com'])
      },
    )

    test('a name may become available: the next call registers it', async () => {
      const { store, results } = await registerWhile(
        async store => {
          await store.release('2', ['others.com'])
          await save(store, '2', ['a.com'])
        },
        ['others.com', 'a.com'],
      )
      expect(results).toEqual(['internal_error', 'domain_already_licensed'])
      const again = await registerDomains(team1, { domains: ['others.com'] }, store, {
        checkNames: createCheck().checkNames,
      })
      expect(statuses(again.data.results)).toEqual(['created'])
    })
  })

  test('costs a lookup where it is set, and none where it is not', async () => {
    const finds: unknown[] = []
    const store = createStore()
    const counting: DomainStore = {
      ...store,
      find(question) {
        finds.push(question)
        return store.find(question)
      },
    }
    await registerDomains(team1, { domains: ['a.com'] }, counting)
    expect(finds).toHaveLength(0)
    await registerDomains(team1, { domains: ['b.com'] }, counting, { checkNames: createCheck().checkNames })
    expect(finds).toHaveLength(1)
  })

  test('needs a store with find, which is said before anything is done', async () => {
    const { findTeam, register } = createStore()
    const { checkNames } = createCheck()
    const store = { findTeam, register }
    const needed = /method "find"/
    expect(() => createHandler({ store, authenticate: () => team1, checkNames })).toThrow(needed)
    await expect(registerDomains(team1, {}, store, { checkNames })).rejects.toThrow(needed)
    await expect(registerDomains(team1, {}, createStore(), { checkNames: {} as never })).rejects.toThrow(TypeError)
  })
})

function raise(): never {
  throw new Error('The brands cannot be looked up')
}

function write(object: unknown, property: string | number, value: unknown): void {
  ;(object as Record<string | number, unknown>)[property] = value
}
