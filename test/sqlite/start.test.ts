import { expect, test } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { startProgram } from '../start-program.ts'
import { createFolder } from './create-folder.ts'
import { openDatabase } from './open-database.ts'

const { pathOf } = createFolder()

const PROCESSES = 4
const FILES = 20

test('several processes that start simultaneously on a new file all find their tables', {
  timeout: 120_000,
}, async () => {
  const starters = Array.from({ length: PROCESSES }, () => startProgram(new URL('starter.ts', import.meta.url)))
  try {
    await Promise.all(starters.map(starter => starter.receive()))
    for (let file = 0; file < FILES; file += 1) {
      const answers = starters.map(starter => starter.ask(pathOf(`${file}.db`)))
      expect(await Promise.all(answers)).toEqual(starters.map(() => 'open'))
    }
  } finally {
    await Promise.all(starters.map(starter => starter.kill()))
  }
})

test.each([
  [undefined, 2],
  ['full', 2],
  ['normal', 1],
] as const)(
  'if the option `synchronous` is %s, PRAGMA synchronous is %i, and SQLite does not wait for locks itself',
  (synchronous, level) => {
    const database = openDatabase()
    createSqliteStore({ database, findTeam: () => null, synchronous })
    expect(database.prepare('PRAGMA synchronous').all()).toEqual([{ synchronous: level }])
    expect(database.prepare('PRAGMA busy_timeout').all()).toEqual([{ timeout: 0 }])
  },
)
