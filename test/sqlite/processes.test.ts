import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { type Program, startProgram } from '../start-program.ts'
import { createFolder } from './create-folder.ts'

const { open, pathOf } = createFolder()

const PROCESSES = 3
const FILES = 20
const PENDING = 500

let programs: readonly Program[] = []
const askAll = (message: object | string) => Promise.all(programs.map(each => each.ask(message)))
const all = (answer: string) => programs.map(() => answer)

beforeAll(async () => {
  const starting = Array.from({ length: PROCESSES }, () => startProgram(new URL('process.ts', import.meta.url)))
  programs = await Promise.all(starting)
  await Promise.all(programs.map(each => each.receive()))
})
afterAll(async () => void (await Promise.all(programs.map(each => each.kill()))))

test('several processes that start simultaneously on a new file all find their tables', async () => {
  for (let file = 0; file < FILES; file += 1) expect(await askAll({ open: pathOf(`${file}.db`) })).toEqual(all('open'))
})

test(`when several processes sweep the same file, each of ${PENDING} changes is pushed exactly once`, async () => {
  const database = open('pending.db')
  const store = createSqliteStore({ database, findTeam: () => null, synchronize() {} })
  const released = manyDomains(PENDING / 2, 'released-')
  await store.synchronize?.(await save(store, '1', released))
  await store.release('1', released)
  const registered = manyDomains(PENDING / 2)
  await save(store, '1', registered)
  // Makes the lease of the call expire.
  database.exec('UPDATE domain_registration_changes SET due = 0')
  expect(await store.countPending()).toBe(PENDING)

  await askAll({ open: pathOf('pending.db') })
  // All processes push at the same time: none waits for changes that another process has leased.
  expect(await askAll('sweep')).toEqual(all('pushing'))
  const pushed = (await askAll('go on')).flat()
  expect(pushed.toSorted()).toEqual(
    [...registered.map(domain => `registered ${domain}`), ...released.map(domain => `released ${domain}`)].toSorted(),
  )
  expect(await store.countPending()).toBe(0)
})
