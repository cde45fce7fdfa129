import { renameSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSqliteKeyStore, createSqliteStore } from '../../src/sqlite/index.ts'
import { save } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
import { createFolder } from './create-folder.ts'

const findTeam = () => null
const { pathOf, open } = createFolder()

test.each([
  ['deleted', (file: string) => rmSync(file)],
  [
    'replaced',
    (file: string) => {
      createSqliteStore({ database: open('other.db'), findTeam })
      renameSync(pathOf('other.db'), file)
    },
  ],
])('once the file of a store was %s, every call fails, even a read', async (what, change) => {
  const file = `${what}.db`
  const database = open(file)
  const store = createSqliteStore({ database, findTeam })
  const keys = createSqliteKeyStore({ database })
  await save(store, '1', ['a.com'])
  change(pathOf(file))
  const message = /was deleted or replaced while its store was in use/
  for (const call of [() => save(store, '1', ['b.com']), async () => store.list(), async () => keys.findKey('0')])
    expect(await rejection(call())).toMatchObject({ message: expect.stringMatching(message) })
})

test('a store in memory has no file that could be replaced', async () => {
  const store = createSqliteStore({ database: open(), findTeam })
  expect(await save(store, '1', ['a.com'])).toHaveLength(1)
})
