/** Tests what docs/orm.md says about `drizzle-kit push`. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { migrate } from 'domain-registration/postgres'

const guide = readFileSync(join(import.meta.dirname, '../../docs/orm.md'), 'utf8')
const [, tablesFilter] = /`tablesFilter: (\['!names'.*?\])`/.exec(guide)

const DATA_FOLDER = mkdtempSync(join(tmpdir(), 'drizzle-kit-'))
after(() => rmSync(DATA_FOLDER, { recursive: true, force: true }))

async function createTables(options) {
  const database = new PGlite(DATA_FOLDER)
  await database.exec('CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY)')
  await migrate({ database, ...options })
  await database.close()
}

/** @returns The statements that drizzle-kit proposes. The test ends drizzle-kit when it asks for confirmation. */
function push(filter = {}) {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/drizzle-kit/bin.cjs', 'push', '--config', 'drizzle/drizzle.config.js'],
    {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      env: { ...process.env, DATA_FOLDER, FILTER: JSON.stringify(filter) },
    },
  )
  const proposed = [...stdout.matchAll(/DROP TABLE \S+/g)].map(([statement]) => statement)
  assert.ok(proposed.length > 0 || /No changes detected/.test(stdout), stdout + stderr)
  return proposed.sort()
}

before(() => createTables({}))

const tables = ['changes', 'keys', 'locks', 'monitor', 'names', 'version', 'waiting']

test('drizzle-kit push ignores the package’s tables in the schema domain_registration', () => {
  assert.deepEqual(push(), [])
})

test('drizzle-kit push proposes to drop the package’s tables if its configuration names their schema', () => {
  assert.equal(push({ schemaFilter: ['public', 'domain_registration'] }).length, tables.length)
})

test('with the guide’s tablesFilter, drizzle-kit push ignores the package’s tables in the schema public', async () => {
  await createTables({ schema: 'public' })
  assert.deepEqual(
    push(),
    tables.map(name => `DROP TABLE "${name}"`),
  )
  assert.deepEqual(push({ tablesFilter: JSON.parse(tablesFilter.replaceAll("'", '"')) }), [])
})
