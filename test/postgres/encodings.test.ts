import { expect, test } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { save, submitForCodes } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
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

test.each(ENCODINGS.flatMap(encoding => ['it can’t', '拒否 😀'].map(text => [text, encoding] as const)))(
  'a monitor that answers "%s" is recorded in a database with the encoding %s',
  async (text, encoding) => {
    const server = await openDatabase({}, { encoding })
    const pool = server.createPool({ pipeline: true })
    await migrate({ database: pool })
    let isRejecting = true
    const store = createPostgresStore({
      database: pool,
      findTeam: () => null,
      onError() {},
      synchronize() {
        if (isRejecting) throw new Error(text)
      },
    })
    const saved = await save(store, '1', ['a.com', 'b.com'])
    expect(await rejection(Promise.resolve(store.synchronize?.(saved.slice(0, 1))))).toMatchObject({ message: text })
    await pool.query("UPDATE domain_registration.changes SET due = now() WHERE domain = 'b.com'")
    expect(await store.synchronizePending()).toEqual({ synchronized: 0, failed: 1 })
    const ascii = text.replace(/[^ -~]/g, '?')
    for (const { refusals, lastFailure, nextAttempt } of await store.listPending()) {
      expect([`Error: ${text}`, `Error: ${ascii}`]).toContain(lastFailure)
      expect(refusals).toBe(1)
      expect(nextAttempt.getTime()).toBeGreaterThan(Date.now())
    }
    isRejecting = false
    expect(await store.retryPending()).toBe(2)
    expect(await store.synchronizePending()).toEqual({ synchronized: 2, failed: 0 })
    await server.stop()
  },
)
