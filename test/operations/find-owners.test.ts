import { expect, test, vi } from 'vitest'
import { findOwners, registerDomains } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, team1, team2 } from '../fixtures.ts'

// The conformance suite tests the lookup of each store; test/cli/docs.test.ts runs `find` on each database.
test('findOwners returns for each hostname its registration, the wildcard that covers it, or nothing', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['*.example.com', 'example.org', 'bücher.de', '8.8.8.8'] }, store)
  await registerDomains(team2, { domains: ['*.a.example.org', 'example.com'] }, store)
  const owners = await findOwners(store, [
    ...['API.eu.example.com.', 'example.com', '*.b.example.com', '*.example.com', 'example.org', 'x.example.org'],
    ...['x.y.a.example.org', 'a.example.org', 'Bücher.de', '8.8.8.8', 'localhost', '', 'a b', 'example.com'],
  ])
  expect(owners.map(({ hostname, registration }) => [hostname, registration?.domain, registration?.teamId])).toEqual([
    ['API.eu.example.com.', '*.example.com', '1'],
    ['example.com', 'example.com', '2'],
    ['*.b.example.com', '*.example.com', '1'],
    ['*.example.com', '*.example.com', '1'],
    ['example.org', 'example.org', '1'],
    ['x.example.org', undefined, undefined],
    ['x.y.a.example.org', '*.a.example.org', '2'],
    ['a.example.org', undefined, undefined],
    ['Bücher.de', 'xn--bcher-kva.de', '1'],
    ['8.8.8.8', '8.8.8.8', '1'],
    ['localhost', undefined, undefined],
    ['', undefined, undefined],
    ['a b', undefined, undefined],
    ['example.com', 'example.com', '2'],
  ])
})

test('findOwners does not find a wildcard for a name if a public suffix is between the two', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['*.amazonaws.com'] }, store)
  const owners = await findOwners(store, ['a.bucket.s3.amazonaws.com', 'console.amazonaws.com'])
  expect(owners.map(({ registration }) => registration?.domain)).toEqual([undefined, '*.amazonaws.com'])
})

test('findOwners takes a port off, and says why a string is not a hostname', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['*.example.com', '8.8.8.8', '2001:4860:4860::8888'] }, store)
  const hostnames = [
    ...[
      'shop.example.com:8443',
      ' Shop.Example.com.:80',
      'shop.example.com:',
      '8.8.8.8:80',
      '[2001:4860:4860::8888]:80',
    ],
    ...[
      '2001:4860:4860::8888',
      'example.org:80',
      'a.example.com:b',
      'localhost:80',
      'a b:80',
      ':80',
      'a.example.com:1:2',
    ],
  ]
  const owners = await findOwners(store, hostnames)
  expect(owners.map(({ hostname }) => hostname)).toEqual(hostnames)
  const wildcard = ['*.example.com', '*.example.com', '*.example.com']
  expect(owners.map(({ registration, rejection }) => registration?.domain ?? rejection?.reason ?? null)).toEqual([
    ...[...wildcard, '8.8.8.8', '2001:4860:4860::8888', '2001:4860:4860::8888', null],
    ...['character', 'reserved_name', 'space', 'empty', 'character'],
  ])
})

test('findOwners lists what a free wildcard overlaps with, but nothing behind a public suffix', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['b.example.org', 'example.org', 'bucket.s3.amazonaws.com'] }, store)
  await registerDomains(team2, { domains: ['*.a.example.org', 'console.amazonaws.com'] }, store)
  const owners = await findOwners(store, ['*.example.org', '*.a.example.org', '*.amazonaws.com', '*.example.net'])
  expect(owners.map(({ below }) => below?.map(({ domain, teamId }) => [domain, teamId]))).toEqual([
    [
      ['*.a.example.org', '2'],
      ['b.example.org', '1'],
    ],
    undefined,
    [['console.amazonaws.com', '2']],
    undefined,
  ])
  const { list: _, ...unlisted } = store
  expect(await findOwners(unlisted, ['*.example.org'])).toEqual([{ hostname: '*.example.org', registration: null }])
})

test('findOwners finds a wildcard and an address that only an older list allowed, for all names below', async () => {
  const owners: readonly [hostname: string, domain: string | undefined][] = [
    ['bucket.s3.amazonaws.com', '*.s3.amazonaws.com'],
    ['x.github.io', '*.github.io'],
    ['*.github.io', '*.github.io'],
    ['amazonaws.com', undefined],
    ['www.Bücher.notatld', '*.xn--bcher-kva.notatld'],
    ['*.公司.cn', '*.xn--55qx5d.cn'],
    ['www.a\u0378b.com', '*.xn--ab-g4b.com'],
    ['192.31.196.7', '192.31.196.7'],
  ]
  const store = createStore()
  const old = new Set(owners.flatMap(([, domain]) => domain ?? []))
  await save(
    store,
    '1',
    [...old].map(domain => ({ domain, registrableDomain: domain.replace('*.', '') })),
  )
  const found = await findOwners(
    store,
    owners.map(([hostname]) => hostname),
  )
  expect(found.map(({ hostname, registration }) => [hostname, registration?.domain])).toEqual(owners)
})

test('findOwners looks up many hostnames in batches, with one query for each batch', async () => {
  const store = createStore()
  await registerDomains(team1, { domains: ['*.example.com'] }, store)
  const find = vi.spyOn(store, 'find')
  const hostnames = Array.from({ length: 2500 }, (_, index) => `n${index}.example.com`)
  const owners = await findOwners(store, hostnames)
  expect(owners.map(({ hostname }) => hostname)).toEqual(hostnames)
  expect(owners.every(({ registration }) => registration?.domain === '*.example.com')).toBe(true)
  expect(find).toHaveBeenCalledTimes(3)
  expect(await findOwners(store, [])).toEqual([])
  expect(find).toHaveBeenCalledTimes(3)
})

test('findOwners rejects if the hostnames are not an array of strings, or `find` is missing or fails', async () => {
  for (const hostnames of ['example.com', [1], [undefined], null])
    await expect(findOwners(createStore(), hostnames as never)).rejects.toThrow('must be an array of strings')
  const { find: _, ...store } = createStore()
  await expect(findOwners(store, ['example.com'])).rejects.toThrow('no method "find"')
  const failing = { ...store, find: () => Promise.reject(new Error('down')) }
  await expect(findOwners(failing, ['example.com'])).rejects.toThrow('down')
})
