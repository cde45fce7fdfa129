import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manyDomains, save } from '../../src/testing/calls.ts'
import { createSqlite, type TestDatabase } from './databases.ts'

describe('a backup of SQLite', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createSqlite()
    await database.run(['migrate'])
  })
  afterAll(() => database.close())

  test('contains the rows that an open connection has saved, and gets the file mode of the database', async () => {
    await database.withStore(async store => {
      await save(store, '1', manyDomains(300))
      const { code, stdout } = await database.run(['backup', 'copy.db', '--json'])
      expect([code, JSON.parse(stdout)]).toEqual([0, { file: 'copy.db', registrations: 300 }])
    })
    const exported = async (file: string) => (await database.run(['export', '--database', file])).stdout
    expect(await exported('copy.db')).toBe(await exported('registrations.db'))
    const [mode, modeOfCopy] = ['registrations.db', 'copy.db'].map(file => statSync(join(database.folder, file)).mode)
    expect(modeOfCopy).toBe(mode)
  })

  test('to an existing file fails, and leaves the file unchanged', async () => {
    const file = join(database.folder, 'other.txt')
    writeFileSync(file, 'mine')
    const { code, stderr } = await database.run(['backup', 'other.txt'])
    expect([code, readFileSync(file, 'utf8')]).toEqual([1, 'mine'])
    expect(stderr).toContain('The file "other.txt" already exists')
  })

  test('of a missing database, or of one without tables, fails and creates no file', async () => {
    writeFileSync(join(database.folder, 'empty.db'), '')
    for (const [source, message] of [
      ['none.db', 'The file "none.db" does not exist'],
      ['empty.db', 'The tables are missing'],
    ] as const) {
      const { code, stderr } = await database.run(['backup', 'nothing.db', '--database', source])
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    }
    expect(existsSync(join(database.folder, 'none.db'))).toBe(false)
    expect(readdirSync(database.folder).filter(file => file.startsWith('nothing.db'))).toEqual([])
  })

  test('to a missing folder fails', async () => {
    const { code, stderr } = await database.run(['backup', 'none/copy.db'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('ENOENT')])
  })
})
