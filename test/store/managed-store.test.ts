import { describe, expect, test } from 'vitest'
import { createMemoryBackend } from '../../src/memory/memory-store.ts'
import type { Push } from '../../src/outbox/contract.ts'
import { createUuidGenerator } from '../../src/runtime/uuid.ts'
import { createSqliteBackend } from '../../src/sqlite/store.ts'
import { createManagedStore, type StoreBackend } from '../../src/store/managed-store.ts'
import { createRequest, save, toTestName } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
import { openDatabase } from '../sqlite/open-database.ts'

const findTeam = () => null

/** A backend whose methods need `this`, like the methods of a class, and the names of the methods that were called. */
function createStrictBackend() {
  const called = new Set<string>()
  const toStrict = (name: string, method: (...values: unknown[]) => unknown) =>
    function (this: unknown, ...values: unknown[]) {
      if (this !== backend) throw new Error(`${name} lost its this`)
      called.add(name)
      return method(...values)
    }
  const parts = Object.entries(createMemoryBackend()).map(([name, part]) => [
    name,
    typeof part === 'function' ? toStrict(name, part as never) : part,
  ])
  const backend: StoreBackend = Object.fromEntries(parts)
  return { backend, called, methods: Object.keys(backend).filter(name => name !== 'outbox') }
}

test('a store calls the methods of its backend with the right `this`, so a class can implement it', async () => {
  const { backend, called, methods } = createStrictBackend()
  const store = createManagedStore(backend, { findTeam })
  await save(store, '1', ['a.com'])
  await store.find(createRequest('1', [toTestName('a.com')], [], () => []))
  await store.transfer?.({ from: '1', to: '2', domains: ['a.com'], needsCount: false, decide: () => true })
  await store.release('2', [createUuidGenerator()()])
  expect(await store.get(createUuidGenerator()())).toBeNull()
  expect([await store.count(), (await store.list()).length]).toEqual([1, 1])
  const nothing = { teamId: '1', registrableDomains: [], domains: [], bases: [], domainIds: [], timeLimit: 1000 }
  await store.import?.({ ...nothing, decide: () => [] })
  expect([...called].sort()).toEqual(methods.sort())
})

test.each([
  ['an unknown option', { synchronise() {} }, '"synchronise" does not exist'],
  ['a missing findTeam', { findTeam: undefined }, '"findTeam" must be'],
])('createManagedStore rejects %s', (_, options, message) => {
  expect(() => createManagedStore(createMemoryBackend(), { findTeam, ...options } as never)).toThrow(message)
})

test('a transfer from a team whose ID is a number is rejected', async () => {
  const store = createManagedStore(createMemoryBackend(), { findTeam })
  const request = { from: 1 as never, to: '2', domains: ['a.com'], needsCount: false, decide: () => true }
  expect(await rejection((async () => store.transfer?.(request))())).toBeInstanceOf(TypeError)
})

describe.each([
  [
    'throws',
    () => {
      throw new Error('the log is away')
    },
  ],
  ['rejects', () => Promise.reject(new Error('the log is away'))],
])('an onError that %s', (_, onError) => {
  const refused = new Error('b.com is refused, on purpose')
  const synchronize: Push = async changes => {
    if (changes.some(({ domain }) => domain === 'b.com')) throw refused
  }

  test('does not change the outcome of a call or a sweep', async () => {
    const store = createManagedStore(createMemoryBackend(), { findTeam, onError, synchronize })
    const saved = await save(store, '1', ['a.com', 'b.com'])
    expect(await rejection(Promise.resolve(store.synchronize?.(saved)))).toBe(refused)
    await store.retryPending()
    expect(await store.synchronizePending()).toEqual({ synchronized: 0, failed: 1 })
    await store.retryPending()
    expect(await store.synchronizePending({ onError })).toEqual({ synchronized: 0, failed: 1 })
  })
})

test("a sweep with its own onError reports failures only to that handler, not to the store's", async () => {
  const told: string[] = []
  const store = createManagedStore(createMemoryBackend(), {
    findTeam,
    onError: () => void told.push('store'),
    synchronize: () => Promise.reject(new Error('refused, on purpose')),
  })
  await rejection(Promise.resolve(store.synchronize?.(await save(store, '1', ['a.com', 'b.com']))))
  await store.retryPending()
  await store.synchronizePending({ onError: () => void told.push('sweep') })
  expect(new Set(told)).toEqual(new Set(['sweep']))
})

test.each([
  ['memory', createMemoryBackend],
  ['SQLite', () => createSqliteBackend({ database: openDatabase() })],
])(
  'with a lease of 0, a backend in %s saves registrations as pending changes that are due at once',
  async (_, createBackend) => {
    const backend = createBackend()
    const names = [toTestName('a.com')]
    const step = { ...createRequest('1', names, [], () => names), lease: 0 }
    const { saved } = await backend.register({ ...step, decide: () => ({ created: names, waiting: [] }) })
    expect(saved).toMatchObject([{ domain: 'a.com', synchronized: false }])
    expect(await backend.outbox.take({ lines: [{ line: 'new', limit: 10 }], lease: 1000, lot: 0 })).toMatchObject([
      { domain: 'a.com', kind: 'registered' },
    ])
  },
)
