import { expect, test, vi } from 'vitest'
import { deleteDomains, registerDomains } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, team1, team2 } from '../fixtures.ts'

const deleting = { ...team1, scopes: ['domains:delete'] }

async function createFilledStore(domains = ['www.example.com', '*.example.org', 'bücher.de']) {
  const store = createStore()
  const { data } = await registerDomains(team1, { domains }, store)
  const ids = data.results.map(result => (result.status === 'invalid' ? '' : result.domainId))
  return { store, ids }
}

test('each name gets a result, in the submitted order, and a deleted name can be registered again', async () => {
  const { store, ids } = await createFilledStore()
  const domains = ['WWW.Example.com.', 'example.org', '*.example.org', 'Bücher.de', 'localhost', 'a b']
  const { data } = await deleteDomains(deleting, { domains }, store)
  expect(data).toEqual({
    results: [
      { status: 'deleted', input: 'WWW.Example.com.', domain: 'www.example.com', domainId: ids[0] },
      { status: 'missing', input: 'example.org' },
      { status: 'deleted', input: '*.example.org', domain: '*.example.org', domainId: ids[1] },
      { status: 'deleted', input: 'Bücher.de', domain: 'xn--bcher-kva.de', domainId: ids[2] },
      { status: 'invalid', input: 'localhost', code: 'internal_domain', message: expect.any(String) },
      { status: 'invalid', input: 'a b', code: 'invalid_domain', message: expect.any(String) },
    ],
    totals: { deleted: 3, missing: 1, invalid: 2 },
  })
  const again = await registerDomains(team2, { domains: ['www.example.com', 'x.example.org'] }, store)
  expect(again.data.totals.created).toBe(2)
})

test('the result is "missing" for a name that the same call or an earlier one has already deleted', async () => {
  const { store } = await createFilledStore()
  const statusOf = async (...domains: string[]) =>
    (await deleteDomains(deleting, { domains }, store)).data.results.map(({ status }) => status)
  expect(await statusOf('www.example.com', 'WWW.example.com')).toEqual(['deleted', 'missing'])
  expect(await statusOf('www.example.com', 'WWW.example.com')).toEqual(['missing', 'missing'])
})

test('if the store deletes names and then fails, the error says to retry, and a retry reports "missing"', async () => {
  const { store } = await createFilledStore(['www.example.com'])
  const release: typeof store.release = async (...names) => {
    await store.release(...names)
    throw new Error('The response was lost')
  }
  const domains = ['www.example.com']
  await expect(deleteDomains(deleting, { domains }, { ...store, release })).rejects.toMatchObject({
    status: 500,
    message: expect.stringContaining('The domains may or may not have been deleted. Send the same'),
  })
  const { data } = await deleteDomains(deleting, { domains }, store)
  expect(data.totals).toEqual({ deleted: 0, missing: 1, invalid: 0 })
})

test('another team’s name gets the same result as an unregistered one, and stays registered', async () => {
  const { store } = await createFilledStore(['theirs.com', '*.wild.com'])
  const release = vi.spyOn(store, 'release')
  const before = await store.list()
  const ask = async (domain: string) => {
    const { data } = await deleteDomains({ ...team2, scopes: deleting.scopes }, { domains: [domain] }, store)
    return JSON.stringify(data).replaceAll(domain, '')
  }
  const answers = [await ask('theirs.com'), await ask('free.com'), await ask('*.wild.com'), await ask('x.wild.com')]
  expect(new Set(answers).size).toBe(1)
  // The query is the same for each of these names, so even the duration of a response reveals nothing.
  expect(release).toHaveBeenCalledTimes(4)
  expect(await store.list()).toEqual(before)
})

test('an ID that is sent instead of a hostname gets an "invalid" result, and nothing is deleted', async () => {
  const { store, ids } = await createFilledStore(['www.example.com'])
  const { data } = await deleteDomains(deleting, { domains: ids }, store)
  expect(data.totals).toEqual({ deleted: 0, missing: 0, invalid: 1 })
  expect(await store.count()).toBe(1)
})

test('a name can be deleted even if only an older list or another version of Unicode allowed it', async () => {
  const deleted: readonly [input: string, domain: string][] = [
    ['*.GitHub.io', '*.github.io'],
    ['www.gone.notatld', 'www.gone.notatld'],
    ['www.Bücher.notatld', 'www.xn--bcher-kva.notatld'],
    ['公司.cn', 'xn--55qx5d.cn'],
    ['www.a\u0378b.com', 'www.xn--ab-g4b.com'],
    ['192.31.196.7', '192.31.196.7'],
    ['[3fff::7]', '3fff::7'],
  ]
  const store = createStore()
  const old = deleted.map(([, domain]) => ({ domain, registrableDomain: domain.replace(/^\*\.|^www\./, '') }))
  await save(store, '1', old)
  const domains = [...deleted.map(([input]) => input), '*.co.uk', '*.a\u0378b.com']
  const { data } = await deleteDomains(deleting, { domains }, store)
  expect(data.results).toMatchObject([
    ...deleted.map(([input, domain]) => ({ status: 'deleted', input, domain })),
    { status: 'invalid' },
    { status: 'invalid' },
  ])
})
