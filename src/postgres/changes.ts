import type { Statement } from './connection.ts'
import { prepare } from './prepare.ts'
import type { Tables } from './schema.ts'
import { BEGUN_AT, isByKey, isHeadOf } from './settings.ts'

/** What transactions save. Whatever they change they have claimed before, and they name the ID that they mean. */
export function createChanges({ names }: Tables) {
  const copy = `INSERT INTO ${names} (registrable_domain, path, domain_id, team_id, created_at, due, refusals)
    SELECT $4::text, $5::text, domain_id, team_id, created_at, due, refusals
    FROM ${names} WHERE registrable_domain = $1 AND path = $2 AND domain_id = $3`
  return {
    ...createInserts(names),

    deleteNames: prepare(
      'delete_names',
      `DELETE FROM ${names} AS name
       USING unnest($1::text[], $2::text[], $3::uuid[]) AS gone (registrable_domain, path, domain_id)
       WHERE ${isByKey('name', 'gone')} AND name.path = gone.path
         AND name.domain_id IS NOT DISTINCT FROM gone.domain_id`,
    ),

    /** A head row stays for calls to lock when its name is released. */
    vacateHeads: prepare(
      'vacate_heads',
      `UPDATE ${names} AS head
       SET inlined_path = NULL, domain_id = NULL, team_id = NULL, created_at = NULL, due = NULL,
         refusals = NULL
       FROM unnest($1::text[], $2::uuid[]) AS gone (registrable_domain, domain_id)
       WHERE ${isHeadOf('head', 'gone')} AND head.domain_id IS NOT DISTINCT FROM gone.domain_id`,
    ),

    /** Gives inlined names rows of their own. */
    moveOut: prepare(
      'move_out',
      `INSERT INTO ${names} (registrable_domain, path, domain_id, team_id, created_at, due, refusals)
       SELECT head.registrable_domain, head.inlined_path, head.domain_id, head.team_id, head.created_at, head.due,
         head.refusals
       FROM unnest($1::text[], $2::uuid[]) AS inlined (registrable_domain, domain_id)
       JOIN ${names} AS head ON ${isHeadOf('head', 'inlined')}
       WHERE head.domain_id IS NOT DISTINCT FROM inlined.domain_id AND head.inlined_path IS NOT NULL`,
    ),

    /** Gives a name another key, with all else that is known of it. */
    copyName: prepare('copy_name', copy),
    copyIntoHead: prepare(
      'copy_into_head',
      `${copy} ON CONFLICT (registrable_domain, path) DO UPDATE SET ${TAKE_OVER}`,
    ),
  }
}

const TAKE_OVER = `(inlined_path, domain_id, team_id, created_at, due, refusals) =
         (NULL, excluded.domain_id, excluded.team_id, excluded.created_at, excluded.due, excluded.refusals)`

/** Inserts rows: parameters are the team, the lease, and an array for each of registrable domain, path and ID. */
export interface Insert extends Statement {
  /** The same with three parameters for each row. Not to be prepared, since the text depends on the count. */
  inValues(count: number): Statement
}

function createInserts(names: string) {
  const onConflict = 'ON CONFLICT (registrable_domain, path) DO UPDATE SET'
  const inHead = (path: string) => `'', nullif(${path}, '')`
  return {
    /**
     * Makes the head rows of registrable domains that have none, with a name in each, and locks those that are there:
     * in the order of the rows, so that no two calls wait for each other. `WHERE false` locks a row and writes
     * nothing.
     *
     * A second call that comes at the same time waits for the first, and locks what that has made. What it saw before
     * it waited is of no use: look-ups are statements of their own, each with a snapshot of its own in READ COMMITTED.
     */
    claim: prepareInsert(names, 'claim', inHead, `${onConflict} due = name.due WHERE false`),

    /** Names below registrable domains. Nothing can be in the way under a claim: else it fails. */
    insert: prepareInsert(names, 'insert', path => `${path}, NULL`),

    /** Registrable domains themselves, into head rows. */
    occupy: prepareInsert(names, 'occupy', inHead, `${onConflict} ${TAKE_OVER}`),
  }
}

function prepareInsert(names: string, name: string, toPaths: (path: string) => string, conflict = ''): Insert {
  const into = `INSERT INTO ${names} AS name
     (registrable_domain, path, inlined_path, domain_id, team_id, created_at, due)`
  // Fails outside a transaction.
  const begunAt = `current_setting('${BEGUN_AT}')::timestamptz`
  const toRow = (domain: string, path: string, id: string) =>
    `${domain}, ${toPaths(path)}, ${id}, $1::text, ${begunAt}, now() + $2::interval`
  const toValues = (_: unknown, index: number) => {
    const [domain, path, id] = [3, 4, 5].map(first => `$${first + 3 * index}`)
    return `(${toRow(`${domain}::text`, `${path}::text`, `${id}::uuid`)})`
  }
  const rows = `unnest($3::text[], $4::text[], $5::uuid[]) AS new (registrable_domain, path, domain_id)`
  const inArrays = `${into} SELECT ${toRow('registrable_domain', 'path', 'domain_id')} FROM ${rows} ${conflict}`
  return {
    ...prepare(name, inArrays),
    inValues: count => ({
      name: '',
      text: `${into} VALUES ${Array.from({ length: count }, toValues).join(', ')} ${conflict}`,
    }),
  }
}
