import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import { openDatabase, type TestDatabase } from './open-database.ts'

/**
 * Creates a folder for a test file. Databases in it are closed after each test, and the folder is removed after the
 * last test.
 */
export function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
  const opened: TestDatabase[] = []
  afterEach(() => {
    for (const database of opened.splice(0)) database.close()
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const pathOf = (file: string) => join(folder, file)
  function open(file?: string, options?: { readOnly: boolean }): TestDatabase {
    const database = openDatabase(file && pathOf(file), options)
    opened.push(database)
    return database
  }
  return { pathOf, open }
}
