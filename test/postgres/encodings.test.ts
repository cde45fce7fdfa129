import { expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { submitForCodes } from '../../src/testing/calls.ts'
import { openDatabase } from './server.ts'

const ENCODINGS = ['LATIN1', 'WIN1252', 'KOI8R', 'EUC_JP', 'SQL_ASCII', 'UTF8']
/** A locale that ignores dots, so it sorts names in another order than the store. */
const IGNORES_DOTS = "LOCALE_PROVIDER icu ICU_LOCALE 'en-u-ka-shifted'"

test.each([
  ...ENCODINGS.map(encoding => [`the encoding ${encoding}`, { encoding }] as const),
  ['a locale that ignores dots', { encoding: 'UTF8', locale: IGNORES_DOTS }] as const,
])('names and wildcards can be registered and listed in a database with %s', async (_, database) => {
  const server = await openDatabase({}, database)
  const pool = server.createPool({ pipeline: true })
  await migrate({ database: pool })
  const store = createPostgresStore({
    database: pool,
    findTeam: id => ({ id, organizationId: '1', state: 'active' }),
  })
  expect(await submitForCodes(store, '1', ['*.example.com', '*.b.example.org', 'zürich.example.net'])).toEqual(
    Array(3).fill('created'),
  )
  expect(await submitForCodes(store, '1', ['*.example.org', '*.example.net', 'a.example.com'])).toEqual([
    'subdomain_conflict',
    'subdomain_conflict',
    'wildcard_conflict',
  ])
  expect(await submitForCodes(store, '2', ['*.example.org', '*.example.net'])).toEqual(
    Array(2).fill('domain_already_licensed'),
  )
  const below = await store.list({ below: 'example.org' })
  expect(below.map(({ domain }) => domain)).toEqual(['*.b.example.org'])
  await server.stop()
})
