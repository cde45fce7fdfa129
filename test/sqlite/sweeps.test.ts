import { afterAll, expect, test } from 'vitest'
import type { Change } from '../../src/rules/registration.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { type Program, startProgram } from '../start-program.ts'
import { createFolder } from './create-folder.ts'

const { open, pathOf } = createFolder()
let sweepers: readonly Program[] = []
afterAll(async () => void (await Promise.all(sweepers.map(sweeper => sweeper.kill()))))

const WAITING = 500

test('when several processes sweep the same file, each of 500 changes is pushed exactly once', {
  timeout: 60_000,
}, async () => {
  const database = open('registrations.db')
  const store = createSqliteStore({ database, findTeam: () => null, synchronize() {} })
  const released = manyDomains(WAITING / 2, 'released-')
  await store.synchronize?.(await save(store, '1', released))
  await store.release('1', released)
  const registered = manyDomains(WAITING / 2)
  await save(store, '1', registered)
  // Makes the lease of the call expire.
  database.exec('UPDATE domain_registration_changes SET due = 0')
  expect(await store.countPending()).toBe(WAITING)

  sweepers = Array.from({ length: 3 }, () =>
    startProgram(new URL('sweeper.ts', import.meta.url), pathOf('registrations.db')),
  )
  // All processes push at the same time: none waits for changes that another process has leased.
  expect(await Promise.all(sweepers.map(each => each.receive()))).toEqual(sweepers.map(() => 'pushing'))
  const pushed = (await Promise.all(sweepers.map(each => each.ask('go on')))).flat()
  expect(pushed.toSorted()).toEqual(
    [...registered.map(domain => `registered ${domain}`), ...released.map(domain => `released ${domain}`)].toSorted(),
  )
  expect(await store.countPending()).toBe(0)
})

test('a store without a monitor records a release, and a store with a monitor pushes it', async () => {
  const database = open('support.db')
  const pushed: string[] = []
  const synchronize = (changes: readonly Change[]) =>
    void pushed.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
  const serving = createSqliteStore({ database, findTeam: () => null, synchronize })
  await serving.synchronize?.(await save(serving, '1', ['example.com']))
  await createSqliteStore({ database, findTeam: () => null }).release('1', ['example.com'])
  await serving.synchronizePending()
  expect(pushed).toEqual(['registered example.com', 'released example.com'])
})

test('after a sweep of another store, a store without a monitor records a release and a transfer', async () => {
  const database = open('swept.db')
  const shared = { database, findTeam: () => null }
  const store = createSqliteStore(shared)
  await save(store, '1', ['a.com', 'b.com'])
  await createSqliteStore({ ...shared, synchronize() {} }).synchronizePending()
  await store.release('1', ['a.com'])
  await store.transfer?.({ from: '1', to: '2', domains: ['b.com'], needsCount: false, decide: () => true })
  const pending = (await store.listPending()).map(({ kind, domain, teamId }) => `${kind} ${domain} of ${teamId}`)
  expect(pending.toSorted()).toEqual(['registered b.com of 2', 'released a.com of 1', 'released b.com of 1'])
})

test('retryPending makes all 1,500 failed changes due, and returns their number', async () => {
  const database = open('failed.db')
  const store = createSqliteStore({ database, findTeam: () => null, synchronize() {} })
  const domains = manyDomains(1500)
  for (let start = 0; start < 1500; start += 500) await save(store, '1', domains.slice(start, start + 500))
  database.exec("UPDATE domain_registration_changes SET last_failure = 'Error: refused'")
  expect([await store.retryPending(), await store.retryPending()]).toEqual([1500, 0])
})
