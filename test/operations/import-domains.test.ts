import { describe, expect, test, vi } from 'vitest'
import {
  classifyHostname,
  createMemoryStore,
  eachRegistration,
  importDomains,
  type RegistrationToImport,
} from '../../src/index.ts'
import { createUuidGenerator } from '../../src/store/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createStore } from '../fixtures.ts'

const createId = createUuidGenerator()
const createdAt = '2026-01-02T03:04:05.006Z'
const toImport = (domain: string, more: Partial<RegistrationToImport> = {}): RegistrationToImport => ({
  domainId: createId(),
  domain,
  teamId: '1',
  createdAt,
  synchronized: true,
  ...more,
})

async function collect<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of walk) all.push(each)
  return all
}

test.each([0, 1, 999, 1000, 1001, 2500])(
  'an import copies each registration with all fields, and a second import adds nothing (names of the team: %i)',
  async count => {
    const [old, store] = [createStore(), createStore()]
    await save(old, '1', manyDomains(count))
    await save(old, '2', ['*.example.org'])
    const all = await collect(eachRegistration(old))
    const saved = vi.spyOn(store, 'import')
    expect(await importDomains(store, eachRegistration(old))).toEqual({
      imported: count + 1,
      existing: 0,
      rejected: [],
    })
    expect(saved).toHaveBeenCalledTimes(Math.ceil((count + 1) / 1000))
    expect(await collect(eachRegistration(store))).toEqual(all)
    expect(await importDomains(store, all)).toEqual({ imported: 0, existing: count + 1, rejected: [] })
    expect(await collect(eachRegistration(store))).toEqual(all)
  },
)

test('a registration from JSON is imported with all fields, its name and its ID in lower case', async () => {
  const store = createStore()
  const pending = toImport('WWW.Example.com', { synchronized: false })
  const line = JSON.stringify({ ...pending, domainId: createId().toUpperCase() })
  const given = JSON.parse(line) as RegistrationToImport
  await importDomains(store, [given])
  expect(await store.list()).toEqual([
    {
      domainId: given.domainId.toLowerCase(),
      domain: 'www.example.com',
      registrableDomain: 'example.com',
      teamId: '1',
      createdAt: new Date(createdAt),
      synchronized: false,
    },
  ])
})

/** The message for each code that does not depend on the hostname alone. */
const words: Readonly<Record<string, string>> = {
  invalid_id: 'The ID is not a UUID of version 7, or is from the future.',
  invalid_date: 'The time must be a date from 1970 until now, as toISOString writes it.',
  domain_has_another_id: 'The team has registered the name already, with another ID.',
  id_is_taken: 'Another name has this ID, or a release with this ID is pending.',
  wildcard_conflict: 'A wildcard that the team has registered covers the name.',
  subdomain_conflict: 'The wildcard would cover registered names.',
  domain_already_licensed: 'The name overlaps with a registration of another team.',
}

describe('a registration is rejected if', () => {
  const held = toImport('held.example.com')
  test.each<[string, string, Partial<RegistrationToImport>]>([
    ['its name is not a hostname', 'invalid_domain', { domain: 'a b.com' }],
    ['its name is empty', 'empty_domain', { domain: ' ' }],
    ['its name is an incomplete IP address', 'invalid_domain', { domain: '8.8.8' }],
    ['its name is a reserved IP address in an unusual spelling', 'reserved_ip', { domain: '127.1' }],
    ['its name is a wildcard over a top-level domain', 'public_suffix_domain', { domain: '*.com' }],
    ['its name is not at or below its registrable domain', 'invalid_domain', { registrableDomain: 'example.org' }],
    [
      'its registrable domain begins in the middle of a label of the name',
      'invalid_domain',
      { registrableDomain: 'ample.net' },
    ],
    [
      'its registrable domain is a wildcard',
      'invalid_domain',
      { domain: '*.new.example.net', registrableDomain: '*.new.example.net' },
    ],
    ['its ID is not a UUID', 'invalid_id', { domainId: '7' }],
    ['its ID is a UUID of version 4', 'invalid_id', { domainId: '018ad4b2-7f3c-4a5b-9c1d-2e3f4a5b6c7d' }],
    ['its ID is a UUID of another variant', 'invalid_id', { domainId: '018ad4b2-7f3c-7a5b-cc1d-2e3f4a5b6c7d' }],
    ['its ID is from the future', 'invalid_id', { domainId: createUuidGenerator()(Date.now() + 2 * 86_400_000) }],
    ['its time is not a date', 'invalid_date', { createdAt: 'yesterday' }],
    ['its time is on a day that does not exist', 'invalid_date', { createdAt: '2020-02-31T00:00:00.000Z' }],
    ['its time has no zone', 'invalid_date', { createdAt: '2020-02-03T04:05:06.007' }],
    ['its time is before 1970', 'invalid_date', { createdAt: new Date(-1) }],
    ['its time is in the future', 'invalid_date', { createdAt: new Date(Date.now() + 2 * 86_400_000) }],
    ['its team has registered the name with another ID', 'domain_has_another_id', { domain: 'held.example.com' }],
    ['its ID belongs to another name', 'id_is_taken', { domainId: held.domainId }],
    ['another team has registered the name', 'domain_already_licensed', { domain: 'held.example.com', teamId: '2' }],
    ['a wildcard of its team covers it', 'wildcard_conflict', { domain: 'a.example.org' }],
    ['a wildcard of another team covers it', 'domain_already_licensed', { domain: 'a.example.org', teamId: '2' }],
    ['it would cover a name of its team', 'subdomain_conflict', { domain: '*.example.com' }],
    ['it would cover a name of another team', 'subdomain_conflict', { domain: '*.example.com', teamId: '2' }],
  ])('%s', async (_, code, wrong) => {
    const beside = [held, toImport('*.example.org')]
    const row = toImport('new.example.net', wrong)
    const good = toImport('good.example.net')
    const isAbove = 'The "registrableDomain" is neither the name nor above it.'
    const classified = { message: isAbove, ...classifyHostname(row.domain) }
    const message = words[code] ?? classified.message
    const rejected = [{ domainId: row.domainId, domain: row.domain, teamId: row.teamId, code, message }]

    const later = createStore()
    await importDomains(later, beside)
    expect(await importDomains(later, [row, good])).toMatchObject({ imported: 1, existing: 0, rejected })
    expect((await later.list()).map(({ domain }) => domain)).toEqual([...beside, good].map(({ domain }) => domain))

    const together = createStore()
    expect(await importDomains(together, [...beside, row, good])).toMatchObject({ imported: 3, rejected })
  })
})

test('a name behind a public suffix is imported although a wildcard above that suffix is registered', async () => {
  const store = createStore()
  const domain = 'a.bucket.s3.amazonaws.com'
  const rows = [toImport('*.amazonaws.com', { teamId: '2' }), toImport(domain)]
  expect(await importDomains(store, rows)).toMatchObject({ imported: 2, rejected: [] })
})

test("an import locks both the imported registrable domain and the one that today's suffix list gives", async () => {
  const store = createStore()
  const locked: unknown[] = []
  const watched: typeof store = {
    ...store,
    import(request) {
      locked.push(request.registrableDomains)
      return store.import?.(request) as never
    },
  }
  await importDomains(watched, [toImport('www.me.github.io', { registrableDomain: 'github.io' })])
  expect(locked).toEqual([['github.io', 'me.github.io']])
})

test('a registration is rejected while the release of its ID is pending', async () => {
  const store = createMemoryStore({ synchronize: () => {} })
  const row = toImport('a.example.com')
  await importDomains(store, [row])
  await store.release('1', ['a.example.com'])
  expect(await importDomains(store, [row])).toMatchObject({ imported: 0, rejected: [{ code: 'id_is_taken' }] })
  await store.synchronizePending()
  expect(await importDomains(store, [row])).toMatchObject({ imported: 1, rejected: [] })
})

test("a name that today's suffix list does not allow is imported anyway", async () => {
  const store = createStore()
  const row = toImport('*.github.io', { registrableDomain: 'github.io' })
  const others = [toImport('www.gone.invalidtld'), toImport('*.co.uk')]
  expect(await importDomains(store, [row, ...others])).toMatchObject({ imported: 3 })
  expect((await store.list()).map(each => each.registrableDomain)).toEqual([
    'github.io',
    'www.gone.invalidtld',
    'co.uk',
  ])
})

test('a registration whose time is in 1970, or less than a day in the future, is imported', async () => {
  const ahead = Date.now() + 86_000_000
  const rows = [
    toImport('old.example.com', { createdAt: new Date(0) }),
    toImport('new.example.com', { createdAt: new Date(ahead), domainId: createUuidGenerator()(ahead) }),
  ]
  expect(await importDomains(createStore(), rows)).toMatchObject({ imported: 2, rejected: [] })
})

const BAD_TEAM = '"teamId" must be a non-empty, valid string; it is'

test.each<[object, string]>([
  ...[7, '', 'a\0', '\ud800'].map((teamId): [object, string] => [{ teamId }, BAD_TEAM]),
  [{ domainId: 7 }, '"domainId" must be a string; it is'],
  [{ domain: 7 }, '"domain" must be a string; it is'],
  [{ registrableDomain: null }, '"registrableDomain" must be a string; it is null (registration 1501)'],
  [{ createdAt: 7 }, '"createdAt" must be a Date or its string; it is'],
  [{ synchronized: 1 }, '"synchronized" must be true or false; it is'],
])(
  'an import ends at a registration with the invalid field %j, and earlier batches stay imported',
  async (field, message) => {
    const store = createStore()
    const wrong = { ...toImport('wrong.example.com'), ...field } as unknown as RegistrationToImport
    const rows = [...manyDomains(1500).map(domain => toImport(domain)), wrong]
    await expect(importDomains(store, rows)).rejects.toThrow(message)
    expect(await store.count()).toBe(1000)
    const { import: _, ...without } = store
    await expect(importDomains(without, [])).rejects.toThrow('no method "import"')
  },
)
