/**
 * Moves the names of your own table `customer_domains (id, team_id, hostname, created_at)` into the registry:
 *
 *     DATABASE_URL=postgres://localhost/app npx tsx move-table.ts
 *
 * Prints each row that was not moved, with its reason, as a line of JSON. A second run adds nothing, so run it again
 * after you have mended rows, or after a failure.
 */
import { classifyHostname, importDomains, type RegistrationToImport } from 'domain-registration'
import { createPostgresStore, migrate } from 'domain-registration/postgres'
import { createUuidGenerator } from 'domain-registration/store'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await migrate({ database: pool })
const store = createPostgresStore({ database: pool, findTeam: () => null }) // an import asks for no team

// Each row keeps the ID of its name: a UUID of version 7, which PostgreSQL 18 also has as uuidv7(). It is saved before
// the name is, so that a second run finds it.
await pool.query('ALTER TABLE customer_domains ADD COLUMN IF NOT EXISTS domain_id uuid')
const createId = createUuidGenerator()

/** The rows by the ID of their name, to report those that were not moved. */
const rowIds = new Map<string, string>()
let incomplete = 0

async function* readTable(): AsyncGenerator<RegistrationToImport> {
  const page = 'SELECT * FROM customer_domains WHERE id > $1 ORDER BY id LIMIT 1000'
  for (let after = '0'; ; ) {
    const { rows } = await pool.query(page, [after])
    if (rows.length === 0) return
    for (const row of rows) row.domain_id ??= createId()
    await pool.query(
      `UPDATE customer_domains SET domain_id = new.domain_id
       FROM unnest($1::bigint[], $2::uuid[]) AS new (id, domain_id)
       WHERE customer_domains.id = new.id AND customer_domains.domain_id IS NULL`,
      [rows.map(({ id }) => id), rows.map(row => row.domain_id)],
    )
    for (const { id, domain_id, hostname, team_id, created_at } of rows) {
      after = id
      if (hostname === null || team_id === null) {
        console.log(JSON.stringify({ id, domain: hostname, teamId: team_id, code: 'incomplete' }))
        incomplete += 1
        continue
      }
      rowIds.set(domain_id, id)
      yield {
        domainId: domain_id,
        domain: mend(hostname),
        teamId: String(team_id),
        createdAt: created_at,
        synchronized: false, // a sweep pushes the name to your monitor; `true` if it watches the name already
      }
    }
  }
}

/** What was typed, or the hostname that it certainly means: `https://example.com/` means `example.com`. */
function mend(typed: string): string {
  const hostname = classifyHostname(typed)
  return !hostname.valid && hostname.certain && hostname.suggestion ? hostname.suggestion : typed
}

const { imported, existing, rejected } = await importDomains(store, readTable())
for (const { domainId, domain, teamId, code, message } of rejected)
  console.log(JSON.stringify({ id: rowIds.get(domainId), domain, teamId, code, message }))
console.error(`${imported} moved, ${existing} moved before, ${rejected.length + incomplete} not moved`)
await pool.end()
