import type { Pool } from 'pg'
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
])(
  'in a database with %s, names and wildcards are registered and listed, and any failure is recorded',
  async (_, of) => {
    const server = await openDatabase({}, of)
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
    for (const text of ['it can’t', '拒否 😀']) await expectRecorded(pool, text)
    await server.stop()
  },
)

/** Expects that the failure of a push is recorded, whatever the monitor answers. */
async function expectRecorded(pool: Pool, text: string): Promise<void> {
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
  const pending = await store.listPending()
  expect(pending).toHaveLength(2)
  for (const { refusals, lastFailure, nextAttempt } of pending) {
    expect([`Error: ${text}`, `Error: ${ascii}`]).toContain(lastFailure)
    expect(refusals).toBe(1)
    expect(nextAttempt.getTime()).toBeGreaterThan(Date.now())
  }
  isRejecting = false
  expect(await store.retryPending()).toBe(2)
  expect(await store.synchronizePending()).toEqual({ synchronized: 2, failed: 0 })
  await store.release('1', ['a.com', 'b.com'])
  await store.synchronizePending()
}
