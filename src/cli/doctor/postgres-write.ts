import { toTables } from '../../postgres/schema.ts'
import { type Finding, ok, wrong } from './finding.ts'
import { type Ask, type Connection, LOCKED, type Place } from './postgres-connection.ts'

/**
 * Saves extra data and a row in each table, then rolls everything back. Detects a full disk, a standby, and a role that
 * can only read.
 */
export async function* examineWriting({ inTransaction }: Connection, place: Place): AsyncGenerator<Finding> {
  yield await inTransaction(ask => write(ask, place))
}

async function write(ask: Ask, place: Place): Promise<Finding> {
  const { names, changes, locks, monitor, keys } = toTables(place)
  // A name, an ID and a hash that no call could create.
  const id = crypto.randomUUID()
  const domain = `'#doctor ${id}'`
  const rows: readonly (readonly [table: string, sql: string])[] = [
    ['locks', `INSERT INTO ${locks} VALUES (${domain}, ${domain})`],
    [
      'names',
      `INSERT INTO ${names} (domain_id, created_at, second_level_domain, path, domain, registrable_domain, team_id)
       VALUES ('${id}', now(), ${domain}, '', ${domain}, ${domain}, '#doctor')`,
    ],
    [
      'changes',
      `INSERT INTO ${changes} (domain_id, due, since, kind, second_level_domain, domain, registrable_domain, team_id)
       VALUES ('${id}', now(), now(), 'released', ${domain}, ${domain}, ${domain}, '#doctor')`,
    ],
    ['keys', `INSERT INTO ${keys} (hash, type, owner_id, scopes) VALUES (${domain}, 'team', '#doctor', '{}')`],
    ['monitor', `INSERT INTO ${monitor} (id) VALUES (1) ON CONFLICT DO NOTHING`],
  ]
  for (const [table, sql] of rows) {
    try {
      await ask(sql)
    } catch (error) {
      return explain(error, `a row cannot be saved in "${table}"`)
    }
  }
  const [role] = await ask<{ can: boolean }>("SELECT has_database_privilege(current_database(), 'TEMP') AS can")
  if (!role?.can) return ok('writing', 'a row can be saved in each table (it was rolled back)')
  try {
    await ask(ROOM)
  } catch (error) {
    return explain(error, 'a row can be saved in each table, but not another megabyte')
  }
  return ok('writing', 'a row can be saved in each table (it was rolled back)')
}

/** A row may fit into an existing page, so the check also creates a table of one megabyte. */
const ROOM = `CREATE TEMPORARY TABLE doctor ON COMMIT DROP AS
  SELECT repeat('x', 1000) AS filling FROM generate_series(1, 1000)`

function explain(error: unknown, finding: string): Finding {
  const { code = '', message } = error as Error & { code?: string }
  if (code === LOCKED) throw error
  return wrong('writing', `${finding}: ${message}`, adviceFor[code] ?? 'Fix the cause, and run doctor again')
}

/** Advice, keyed by SQLSTATE. */
const adviceFor: Readonly<Record<string, string>> = {
  '25006': 'Connect to the primary, with default_transaction_read_only = off',
  '42501': 'See "rights"',
  '53100': 'Free space on the disk of the database; then the server continues automatically',
}
