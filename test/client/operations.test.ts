import { describe, expect, test, vi } from 'vitest'
import {
  CallError,
  deleteAll,
  type ListAllOptions,
  listAll,
  listAllWaiting,
  PreviewAllError,
  previewAll,
  registerAll,
  syncAll,
} from '../../src/client/index.ts'
import { createMemoryWaitingStore } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection } from '../fixtures.ts'
import { answer, loseAnswer, names, serve } from './service.ts'

async function collect(options: ListAllOptions): Promise<string[]> {
  const found: string[] = []
  for await (const { domain } of listAll(options)) found.push(domain)
  return found
}

describe('registerAll with the option `fix`', () => {
  test('sends a suggestion of a preview in place of the name, and its result has both names', async () => {
    const { options, store, countCalls } = await serve()
    const pasted = ['https://Bücher.de/', 'example.com', 'localhost', '"www.example.com",', 'www.example.com']
    const { results, totals } = await registerAll(pasted, { ...options, fix: true })
    expect(results.map(result => [result.input, result.status, result.sent])).toEqual([
      ['https://Bücher.de/', 'created', 'xn--bcher-kva.de'],
      ['example.com', 'created', undefined],
      ['localhost', 'invalid', undefined],
      ['"www.example.com",', 'created', 'www.example.com'],
      ['www.example.com', 'existing', undefined],
    ])
    expect(totals).toEqual({ created: 3, existing: 1, invalid: 1 })
    expect(await store.count()).toBe(3)
    expect(countCalls()).toBe(2)
    const unfixed = await registerAll(pasted, options)
    expect(unfixed.results.map(({ status }) => status)).toEqual([
      ...['invalid', 'existing', 'invalid', 'invalid', 'existing'],
    ])
    expect(countCalls()).toBe(3)
  })

  test('leaves a guess to a person, and the result has it', async () => {
    const { options, store } = await serve()
    const pasted = ['info@example.com', 'www.example.con', '"info@example.com"']
    const { results } = await registerAll(pasted, { ...options, fix: true })
    expect(results.map(({ status }) => status)).toEqual(['invalid', 'invalid', 'invalid'])
    expect(results.filter(result => 'sent' in result)).toEqual([])
    expect(results.map(({ suggestion }) => suggestion)).toEqual(['example.com', 'www.example.com', 'example.com'])
    expect(await store.count()).toBe(0)
  })

  test('retries a call whose response was lost, and each name gets its result', async () => {
    const { options } = await serve((call, response) => (call === 1 || call === 4 ? loseAnswer(response) : false))
    const typed = names(250).map((name, index) => (index % 2 === 0 ? `https://${name}/` : name))
    const { results } = await registerAll(typed, { ...options, fix: true, concurrency: 1 })
    expect(results.map(({ input }) => input)).toEqual(typed)
    expect(results.map(result => (result.status === 'invalid' ? result.code : result.domain))).toEqual(names(250))
    expect(results.filter(({ sent }) => sent !== undefined)).toHaveLength(125)
  })

  test('registers nothing and fails if the service offers no previews', async () => {
    const { options, store } = await serve((_, response) => answer(response, 404, { error: 'not_found' }))
    const error = await rejection(registerAll(['a.com'], { ...options, fix: true }))
    expect(error).toMatchObject({ status: 404, resumeAt: 0 })
    expect(await store.count()).toBe(0)
  })
})

describe('previewAll', () => {
  test('previews any number of names in calls of 100, with progress and results in order, and saves none', async () => {
    const { options, store } = await serve()
    const all = [...names(249), 'https://Bücher.de/']
    const progress: unknown[] = []
    const onProgress = ({ done, total, resumeAt }: { done: number; total: number | undefined; resumeAt: number }) =>
      progress.push([done, total, resumeAt])
    const { results, totals } = await previewAll(all, { ...options, onProgress })
    expect(results.map(({ input }) => input)).toEqual(all)
    expect(totals).toEqual({ created: 249, existing: 0, invalid: 1 })
    expect(results.at(-1)).toMatchObject({ reason: 'url', suggestion: 'xn--bcher-kva.de', certain: true })
    expect(progress.at(-1)).toEqual([250, 250, 250])
    expect(await store.count({ teamId: '1' })).toBe(0)
    const streamed = []
    for await (const { status } of previewAll(['a.com', 'localhost'], options)) streamed.push(status)
    expect(streamed).toEqual(['created', 'invalid'])
  })

  test('of no names returns no `room`: null would mean that the team has no limit', async () => {
    const { options } = await serve()
    expect(await previewAll([], options)).toEqual({ results: [], totals: expect.anything(), room: undefined })
  })

  test('rejects with the results so far and the place to resume from', async () => {
    const { options } = await serve((call, response) => call === 2 && answer(response, 403, { error: 'no' }))
    const error = await rejection(previewAll(names(250), { ...options, concurrency: 1 }))
    expect(error).toBeInstanceOf(PreviewAllError)
    expect(error).toMatchObject({ status: 403, code: 'no', resumeAt: 100 })
    expect((error as PreviewAllError).results).toHaveLength(100)
  })
})

describe('deleteAll', () => {
  test('deletes any number of names in calls of 100, with progress and results in order', async () => {
    const { options, store } = await serve()
    await save(store, '1', names(150))
    await save(store, '2', ['other.com'])
    const progress: number[] = []
    const all = [...names(150), 'other.com', 'no name', 'never.com']
    const { results, totals } = await deleteAll(all, { ...options, onProgress: ({ done }) => progress.push(done) })
    expect(results.map(({ input }) => input)).toEqual(all)
    expect(results.slice(150).map(({ status }) => status)).toEqual(['missing', 'invalid', 'missing'])
    expect(totals).toEqual({ deleted: 150, missing: 2, invalid: 1 })
    expect(progress).toEqual([100, 153])
    expect(await store.list()).toMatchObject([{ domain: 'other.com' }])
    expect(await deleteAll(['n1.com'], { ...options, url: `${options.url}/` })).toMatchObject({
      results: [{ status: 'missing' }],
    })
  })

  test('retries a call whose response was lost, and reports the already deleted names as missing', async () => {
    const { options, store } = await serve((call, response) => call === 1 && loseAnswer(response))
    await save(store, '1', ['a.com'])
    expect((await deleteAll(['a.com', 'b.com'], options)).totals).toEqual({ deleted: 0, missing: 2, invalid: 0 })
  })

  test('rejects with the results so far after a permanent error', async () => {
    const { options, store } = await serve(
      (call, response) =>
        call === 2 && answer(response, 403, { error: 'team_suspended', message: 'The team is suspended.' }),
    )
    await save(store, '1', names(101))
    const error = await rejection(deleteAll(names(101), options))
    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ name: 'DeleteAllError', status: 403, code: 'team_suspended' })
    expect((error as { results: unknown[] }).results).toHaveLength(100)
  })
})

describe('listAllWaiting', () => {
  test('lists what waits, retries, and rejects a body without the fields', async () => {
    const waiting = createMemoryWaitingStore()
    const checkNames = (names: readonly unknown[]) =>
      names.map(
        () => ({ code: 'invalid_domain', reason: 'not_verified', message: 'Add a record.', waits: true }) as const,
      )
    let answered: object | undefined
    const { options, countCalls } = await serve(
      (call, response) =>
        call === 2 ? answer(response, 503, {}) : answered !== undefined && answer(response, 200, answered),
      createStore(),
      { checkNames, waiting, operations: ['create', 'delete', 'waiting'] },
    )
    const { results } = await registerAll(['a.com', 'b.com'], options)
    expect(results).toMatchObject([{ status: 'invalid', message: expect.stringContaining('is kept until') }, {}])
    const listed = await listAllWaiting(options)
    expect(listed).toMatchObject([{ domain: 'a.com', message: 'Add a record.', reason: 'not_verified' }, {}])
    expect(countCalls()).toBe(3)
    expect((await deleteAll(['a.com'], options)).results).toEqual([{ status: 'missing', input: 'a.com', waited: true }])
    answered = { data: { domains: [{ domain: 'b.com' }] } }
    await expect(listAllWaiting({ ...options, patience: 0 })).rejects.toThrow('domains[0].since is not a string')
    await expect(listAllWaiting({ ...options, limit: 5 } as never)).rejects.toThrow(/"limit" does not exist/)
  })
})

describe('listAll', () => {
  test('yields every registration, and requests the next page only once the previous page has been read', async () => {
    const { options, store, countCalls } = await serve()
    const all = names(1500)
    for (let start = 0; start < all.length; start += 500) await save(store, '1', all.slice(start, start + 500))
    await save(store, '2', ['other.com'])
    const iterator = listAll(options)
    const first = await iterator.next()
    expect(first.value).toEqual({
      domain: 'n0.com',
      domainId: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
    expect(countCalls()).toBe(1)
    await iterator.return()
    const progress: number[] = []
    expect(await collect({ ...options, onProgress: ({ done }) => progress.push(done) })).toEqual(all)
    expect(progress).toEqual([1000, 1500])
    expect(await collect({ ...options, order: 'newest' })).toEqual(all.toReversed())
    expect(await collect({ ...options, domain: 'n7.com' })).toEqual(['n7.com'])
  })

  test('resumes after an earlier page, and can list the names below a name', async () => {
    const { options, store } = await serve()
    await save(store, '1', ['b.a.com', 'c.a.com', 'd.com'])
    const [first] = await store.list()
    expect(await collect({ ...options, after: first?.domainId })).toEqual(['c.a.com', 'd.com'])
    expect(await collect({ ...options, below: 'a.com' })).toEqual(['b.a.com', 'c.a.com'])
  })

  test('retries a page whose response was lost, and fails after a permanent error', async () => {
    const { options, store } = await serve((call, response) => call === 1 && loseAnswer(response))
    await save(store, '1', ['a.com'])
    expect(await collect(options)).toEqual(['a.com'])
    const error = await rejection(collect({ ...options, after: 'nonsense' }))
    expect(error).toMatchObject({ name: 'CallError', status: 400, code: 'invalid_request' })
  })

  const listed = { domain: 'a.com', domainId: '1', createdAt: '2026-01-01T00:00:00.000Z' }
  test.each<[what: string, body: unknown, message: RegExp]>([
    ['a null response', null, /it has no data\.domains/],
    [
      'a response with entries that are not objects',
      { data: { domains: [null], next: null } },
      /domains\[0\]\.domain is not a string/,
    ],
    [
      'an empty page with a cursor, because more names may follow',
      { data: { domains: [], next: 'there' } },
      /data\.domains is empty, but data\.next is not null/,
    ],
    ['a response without a cursor', { data: { domains: [listed] } }, /data\.next is neither a string nor null/],
    [
      'a response whose cursor does not change',
      { data: { domains: [listed], next: 'here' } },
      /data\.next is the same as for an earlier page/,
    ],
  ])('rejects %s', async (_, body, message) => {
    const fetch = vi.fn(async () => Response.json(body))
    const options = { url: 'https://api.test/v1/domains', apiKey: 'svc_team_1_00', after: 'here', fetch }
    expect(String(await rejection(collect(options)))).toMatch(message)
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['with each page', 1],
    ['after 2 pages', 2],
    ['after 7 pages', 7],
  ])('rejects cursors that repeat %s, instead of requesting pages endlessly', async (_, length) => {
    const fetch = vi.fn(async () => {
      if (fetch.mock.calls.length > 50) throw new TypeError('It requests pages endlessly')
      return Response.json({ data: { domains: [listed], next: `${fetch.mock.calls.length % length}` } })
    })
    const options = { url: 'https://api.test/v1/domains', apiKey: 'svc_team_1_00', patience: 0, fetch }
    expect(String(await rejection(collect(options)))).toMatch(/data\.next is the same as for an earlier page/)
    expect(String(await rejection(syncAll(['a.com'], options)))).toMatch(
      /data\.next is the same as for an earlier page/,
    )
  })

  test('rejects invalid options at once', () => {
    const options = { url: 'https://api.test/v1/domains', apiKey: 'svc_team_1_00' }
    expect(() => listAll({ ...options, order: 'name' } as never)).toThrow(/"order" must be "newest" or "oldest"/)
    expect(() => listAll({ ...options, limit: 5 } as never)).toThrow(/"limit" does not exist/)
  })
})
