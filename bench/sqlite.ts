/**
 * Compares registering 100 new names in SQLite with a prepared INSERT of the same rows in one transaction. Each side of
 * the comparison has its own file.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerDomains } from '../src/index.ts'
import { createSqliteStore } from '../src/sqlite/index.ts'
import { openDatabase } from '../test/sqlite/open-database.ts'
import { compare, keyContext, newNames, report, team, time } from './measure.ts'

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const [ours, bare] = ['ours', 'bare'].map(name => openDatabase(join(folder, name))) as [
  ReturnType<typeof openDatabase>,
  ReturnType<typeof openDatabase>,
]
const store = createSqliteStore({ database: ours, findTeam: () => team })
createSqliteStore({ database: bare, findTeam: () => team })

async function register(domains: readonly string[]): Promise<number> {
  return time(async () => {
    const { data } = await registerDomains(keyContext, { domains }, store)
    if (data.totals.created !== domains.length) throw new Error('The names were not new')
  })
}

const TABLE = 'domain_registration_names'
const find = ours.prepare(`SELECT * FROM ${TABLE} WHERE domain = ?`)
const columns = (ours.prepare(`SELECT name FROM pragma_table_info('${TABLE}')`).all() as { name: string }[]).map(
  ({ name }) => name,
)
const insert = bare.prepare(`INSERT INTO ${TABLE} (${columns}) VALUES (${columns.map(() => '?')})`)

/** Inserts the rows that the store has created for these names. */
async function insertBare(domains: readonly string[]): Promise<number> {
  const rows = domains.flatMap(domain => find.all(domain) as Record<string, never>[])
  if (rows.length !== domains.length) throw new Error('The names were not saved')
  return time(() => {
    bare.exec('BEGIN IMMEDIATE')
    for (const row of rows) insert.run(...columns.map(column => row[column] as never))
    bare.exec('COMMIT')
  })
}

report({ sqlite: await compare(newNames, { warmUp: 150, rounds: 150 }, register, insertBare) })
for (const database of [ours, bare]) database.close()
rmSync(folder, { recursive: true })
