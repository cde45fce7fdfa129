import { describe, expect, test, vi } from 'vitest'
import { exportDomains, type ListOptions, listDomains, registerDomains } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, organization, rejection, team1, team2 } from '../fixtures.ts'

const reading = { ...team1, scopes: ['domains:read'] }
const anyTeam = { ...organization, scopes: ['domains:read'] }

async function createFilledStore(count = 25) {
  const store = createStore()
  const domains = Array.from({ length: count }, (_, index) => `n${index}.example.com`)
  for (let start = 0; start < count; start += 100)
    await registerDomains(team1, { domains: domains.slice(start, start + 100) }, store)
  await registerDomains(team2, { domains: ['other.example.org'] }, store)
  return { store, domains }
}

/** Requests page after page, until `next` is null. */
async function listAll(store: Parameters<typeof listDomains>[2], query: Record<string, string>) {
  const pages: string[][] = []
  let after: string | null = null
  do {
    const { data } = await listDomains(reading, { ...query, ...(after !== null && { after }) }, store)
    pages.push(data.domains.map(({ domain }) => domain))
    after = data.next
  } while (after !== null && pages.length < 100)
  return pages
}

describe('a list', () => {
  test('contains all registrations of the team, with all fields, and no others', async () => {
    const { store } = await createFilledStore(1)
    const { data } = await listDomains(reading, {}, store)
    expect(data).toEqual({
      domains: [
        {
          domain: 'n0.example.com',
          domainId: expect.stringMatching(/^[\da-f-]{36}$/),
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
      ],
      next: null,
    })
  })

  test.each(['oldest', 'newest'])('is read page by page to its end, %s first', async order => {
    const { store, domains } = await createFilledStore()
    const expected = order === 'oldest' ? domains : domains.toReversed()
    for (const limit of ['1', '5', '7', '25', '26', '1000']) {
      const pages = await listAll(store, { order, limit })
      expect(pages.flat()).toEqual(expected)
      // The last page has no `next`, even if it is full, so no page is empty.
      expect(pages).toHaveLength(Math.ceil(25 / Number(limit)))
    }
  })

  test('of a team without registrations is empty and has no next page', async () => {
    expect((await listDomains(reading, {}, createStore())).data).toEqual({ domains: [], next: null })
  })

  test('neither repeats nor omits a name that stays registered while others change between pages', async () => {
    for (const order of ['oldest', 'newest'] as const) {
      const { store, domains } = await createFilledStore(40)
      const seen: string[] = []
      let after: string | null = null
      for (let page = 0; page === 0 || after !== null; page += 1) {
        const query: Record<string, string> = { order, limit: '7', ...(after && { after }) }
        const { data } = await listDomains(reading, query, store)
        seen.push(...data.domains.map(({ domain }) => domain))
        after = data.next
        // This also deletes the last name of the page, after which the next page begins.
        const last = data.domains.at(-1)?.domain
        await store.release('1', [...(last ? [last] : []), `n${page}.example.com`])
        await registerDomains(team1, { domains: [`new${page}.example.net`] }, store)
      }
      expect(new Set(seen).size).toBe(seen.length)
      const stayed = domains.filter((_, index) => index > 7)
      const left = new Set((await store.list()).map(({ domain }) => domain))
      expect(stayed.filter(domain => left.has(domain) && !seen.includes(domain))).toEqual([])
    }
  })

  test('can be limited to one name, or to the names below a name, in order of their labels', async () => {
    const store = createStore()
    const domains = ['*.b.example.com', 'x.a.example.com', 'example.com', 'bücher.example.net', 'a.example.com']
    await registerDomains(team1, { domains }, store)
    expect((await listAll(store, { domain: 'BÜCHER.example.net' })).flat()).toEqual(['xn--bcher-kva.example.net'])
    expect((await listAll(store, { domain: 'c.example.com' })).flat()).toEqual([])
    await save(store, '1', [{ domain: '192.31.196.7', registrableDomain: '192.31.196.7' }])
    expect((await listAll(store, { domain: '192.31.196.7' })).flat()).toEqual(['192.31.196.7'])
    for (const limit of ['1', '2', '3', '100'])
      expect((await listAll(store, { below: 'Example.com', limit })).flat()).toEqual([
        'a.example.com',
        'x.a.example.com',
        '*.b.example.com',
      ])
  })

  test('uses `team_id` with an organization key, and ignores it with a team key', async () => {
    const { store } = await createFilledStore()
    expect((await listDomains(anyTeam, { team_id: '2' }, store)).data.domains).toHaveLength(1)
    expect((await listDomains(reading, { team_id: '2', limit: '1' }, store)).data.domains[0]?.domain).toBe(
      'n0.example.com',
    )
  })

  const id = '01a1fdc4-24dc-7291-9bdf-caca67ce70da'
  test.each([
    [{ limit: '0' }, /^limit must be an integer from 1 to 1000/],
    [{ limit: '1001' }, /^limit must/],
    [{ limit: '-1' }, /^limit must/],
    [{ limit: '1e2' }, /^limit must/],
    [{ limit: ' 5' }, /^limit must/],
    [{ limit: '5.0' }, /^limit must/],
    [{ limit: 'null' }, /^limit must/],
    [{ limit: ['5', '6'] }, /^limit must be sent once/],
    [{ after: [id, id] }, /^after must be sent once/],
    [{ order: 'asc' }, /^order must be "oldest" or "newest"/],
    [{ order: 'oldest', below: 'example.com' }, /^order cannot be sent with "below"/],
    [{ domain: 'a b' }, /^domain must be a hostname\. /],
    [{ domain: 'https://example.com/' }, /^domain must be a hostname\. /],
    [{ domain: ['a.com', 'b.com'] }, /^domain must be sent once/],
    [{ below: 'localhost' }, /^below must be a hostname\. /],
    [{ below: '*.example.com' }, /^below must be a name/],
    [{ below: '192.0.43.8' }, /^below must be a name/],
    [{ below: '2a00:1450:4001:82b::200e' }, /^below must be a name/],
    [{ below: 'example.com', domain: 'a.com' }, /^domain cannot be sent with "below"/],
  ])('with the query %j fails with 400, and the message names the parameter', async (query, message) => {
    const store = createStore()
    const list = vi.spyOn(store, 'list')
    expect(await rejection(listDomains(reading, query as never, store))).toMatchObject({
      ...{ status: 400, code: 'invalid_request', message: expect.stringMatching(message) },
    })
    expect(list).not.toHaveBeenCalled()
  })

  test.each([{ after: 'n0.example.com' }, { after: `${id}'` }, { after: id, below: 'example.com' }])(
    'with a cursor that the store cannot have returned (%j) fails with 400, and the message names "after"',
    async query => {
      const expected = {
        status: 400,
        code: 'invalid_request',
        message: 'after must be the "next" of the previous page.',
      }
      expect(await rejection(listDomains(reading, query, createStore()))).toMatchObject(expected)
      const { below: _, ...exported } = query
      if (exported.after !== id)
        expect(await rejection(exportDomains(reading, exported, createStore()))).toMatchObject({
          ...expected,
          message: 'after must be the "domainId" of the last complete line that arrived.',
        })
    },
  )

  test('accepts a number as the limit, and fails with 400 if the number is out of range', async () => {
    const { store } = await createFilledStore(3)
    expect((await listDomains(reading, { limit: 2 }, store)).data.domains).toHaveLength(2)
    for (const limit of [0, 1001, 1.5, Number.NaN, -1])
      expect(await rejection(listDomains(reading, { limit }, store))).toMatchObject({
        ...{ status: 400, message: expect.stringMatching(/^limit must be an integer/) },
      })
  })

  test.each(['teamId', 'bellow', 'more'])(
    'with the unknown parameter "%s" throws a TypeError that names the parameter',
    async name => {
      for (const call of [listDomains, exportDomains]) {
        const error = await rejection(call(reading, { [name]: 'example.com' }, createStore()))
        expect(error).toBeInstanceOf(TypeError)
        expect((error as Error).message).toMatch(`The parameter "${name}" does not exist; there are "`)
      }
    },
  )

  test('treats an empty parameter as missing', async () => {
    const { store } = await createFilledStore(3)
    const empty = { limit: '', after: '', order: '', domain: '', below: '' } as const
    expect((await listDomains(reading, empty, store)).data.domains).toHaveLength(3)
  })

  test('can resume after a name that only an older suffix list allowed', async () => {
    const store = createStore()
    const registrableDomain = 'eu-west-1.amazonaws.com'
    const old = ['*.s3.amazonaws.com', 'x.amazonaws.com'].map(domain => ({ domain, registrableDomain }))
    await save(store, '1', old)
    const pages = await listAll(store, { below: 'amazonaws.com', limit: '1' })
    expect(pages).toEqual(old.map(({ domain }) => [domain]))
  })
})

describe('an export', () => {
  test.each([[undefined], [null], [{}]])('fails before it begins if `list` of the store returns %j', async found => {
    const store = { ...createStore(), list: () => found as never }
    expect(await rejection(exportDomains(reading, {}, store))).toBeInstanceOf(TypeError)
  })

  async function readExport(store: Parameters<typeof exportDomains>[2], query: Record<string, string> = {}) {
    const pages = []
    for await (const page of await exportDomains(reading, query, store)) pages.push(page)
    return pages
  }

  test('contains all registrations of the team, oldest first, and resumes after any of them', async () => {
    const { store, domains } = await createFilledStore(2300)
    const pages = await readExport(store)
    expect(pages.map(({ length }) => length)).toEqual([...Array(11).fill(200), 100])
    expect(pages.flat().map(({ domain }) => domain)).toEqual(domains)
    for (const index of [0, 999, 1000, 2298, 2299]) {
      const after = pages.flat()[index]?.domainId ?? ''
      expect((await readExport(store, { after })).flat()).toEqual(pages.flat().slice(index + 1))
    }
  })

  test('reads a page only when the caller has consumed the previous one, and stops when the caller stops', async () => {
    const { store } = await createFilledStore(3500)
    const list = vi.spyOn(store, 'list')
    for await (const page of await exportDomains(reading, {}, store)) {
      expect(page).toHaveLength(200)
      if (list.mock.calls.length === 2) break
      expect(list).toHaveBeenCalledTimes(1)
    }
    expect(list).toHaveBeenCalledTimes(2)
  })

  test('fails, instead of never ending, if the store ignores "after"', async () => {
    const { store } = await createFilledStore(500)
    const list = vi.fn(({ after: _, ...page }: ListOptions) => store.list(page))
    await expect(readExport({ ...store, list })).rejects.toThrow('The store lists the same page again')
    expect(list).toHaveBeenCalledTimes(2)
  })

  test('limits how long the store may read a page, not how long the caller may take to consume it', async () => {
    const { store } = await createFilledStore(1500)
    // This store responds so slowly that a time limit that had already passed would take effect first.
    const list = async (page: ListOptions) => {
      await new Promise(resolve => setTimeout(resolve, 20))
      return store.list(page)
    }
    const pages = await exportDomains(reading, {}, { ...store, list }, { timeLimit: 200 })
    await pages.next()
    await new Promise(resolve => setTimeout(resolve, 250))
    expect((await pages.next()).value).toHaveLength(200)
  })
})
