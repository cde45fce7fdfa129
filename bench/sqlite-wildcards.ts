/**
 * Measures previews of `*.amazonaws.com` in SQLite. Below the public suffix `s3.amazonaws.com`, a million names are
 * registered, half of them by the calling team. The figure is the mean time of 100 previews, in milliseconds.
 */
import { previewDomains } from '../src/index.ts'
import { createSqliteStore } from '../src/sqlite/index.ts'
import { openDatabase } from '../test/sqlite/open-database.ts'
import { keyContext, report, team, time } from './measure.ts'

const MILLION = 1_000_000
const WILDCARDS = 100
const TABLE = 'domain_registration_names'

const database = openDatabase()
const store = createSqliteStore({ database, findTeam: () => team })

/** Indexes are created afterwards, which is faster. */
function fill(): void {
  const indexes = database
    .prepare(`SELECT name, sql FROM sqlite_master WHERE tbl_name = '${TABLE}' AND sql LIKE 'CREATE%INDEX%'`)
    .all() as { name: string; sql: string }[]
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`)
  database.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MILLION})
    INSERT INTO ${TABLE} (domain_id, domain, registrable_domain, second_level_domain, path, team_id, created_at)
    SELECT printf('%08x-0000-7000-8000-000000000000', n), bucket || '.s3.amazonaws.com', bucket || '.s3.amazonaws.com',
      'amazonaws.com', '.s3.' || bucket, 1 + n % 2, 0
    FROM (SELECT n, 'bucket-' || n AS bucket FROM numbers)`)
  for (const { sql } of indexes) database.exec(sql)
}

async function preview(): Promise<void> {
  const { data } = await previewDomains(keyContext, { domains: ['*.amazonaws.com'] }, store)
  if (data.totals.created !== 1) throw new Error('The wildcard was already registered')
}

fill()
await preview()
const spent = await time(async () => {
  for (let count = 0; count < WILDCARDS; count += 1) await preview()
})
database.close()
report({ sqliteWildcards: spent / WILDCARDS })
