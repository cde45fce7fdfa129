import type { Statement } from './connection.ts'
import { prepare } from './prepare.ts'
import type { Tables } from './schema.ts'
import { BEGUN_AT, isByKey, isHeadOf } from './settings.ts'

/** Statements that change rows. Their registrable domains must be claimed, and rows are identified by ID as well. */
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

    /** Removes the names from head rows. The rows stay, for calls to lock. */
    vacateHeads: prepare(
      'vacate_heads',
      `UPDATE ${names} AS head
       SET inlined_path = NULL, domain_id = NULL, team_id = NULL, created_at = NULL, due = NULL,
         refusals = NULL
       FROM unnest($1::text[], $2::uuid[]) AS gone (registrable_domain, domain_id)
       WHERE ${isHeadOf('head', 'gone')} AND head.domain_id IS NOT DISTINCT FROM gone.domain_id`,
    ),

    /** Moves inlined names to rows of their own. */
    moveOut: prepare(
      'move_out',
      `INSERT INTO ${names} (registrable_domain, path, domain_id, team_id, created_at, due, refusals)
       SELECT head.registrable_domain, head.inlined_path, head.domain_id, head.team_id, head.created_at, head.due,
         head.refusals
       FROM unnest($1::text[], $2::uuid[]) AS inlined (registrable_domain, domain_id)
       JOIN ${names} AS head ON ${isHeadOf('head', 'inlined')}
       WHERE head.domain_id IS NOT DISTINCT FROM inlined.domain_id AND head.inlined_path IS NOT NULL`,
    ),

    /** Copies a name to another key. */
    copyName: prepare('copy_name', copy),
    copyIntoHead: prepare(
      'copy_into_head',
      `${copy} ON CONFLICT (registrable_domain, path) DO UPDATE SET ${TAKE_OVER}`,
    ),
  }
}

const TAKE_OVER = `(inlined_path, domain_id, team_id, created_at, due, refusals) =
         (NULL, excluded.domain_id, excluded.team_id, excluded.created_at, excluded.due, excluded.refusals)`

/** An insert. Its parameters: the team, the lease, and one array each of registrable domains, paths and IDs. */
export interface Insert extends Statement {
  /** The same with three parameters for each row. It is not prepared, because its text depends on the count. */
  inValues(count: number): Statement
}

function createInserts(names: string) {
  const onConflict = 'ON CONFLICT (registrable_domain, path) DO UPDATE SET'
  const inHead = (path: string) => `'', nullif(${path}, '')`
  return {
    /**
     * Inserts the head rows of registrable domains that have none, with a name in each, and locks the existing ones.
     * The rows are sorted, so that two calls cannot deadlock. `WHERE false` locks a row without writing to it.
     *
     * A concurrent call for the same registrable domain waits, and then locks the row that the first has inserted. Its
     * look-ups are separate statements, because only those have a snapshot from after the wait (READ COMMITTED).
     */
    claim: prepareInsert(names, 'claim', inHead, `${onConflict} due = name.due WHERE false`),

    /** Inserts names below registrable domains. Under a claim there can be no conflict; if there is one, it fails. */
    insert: prepareInsert(names, 'insert', path => `${path}, NULL`),

    /** Inserts registrable domains themselves, into their head rows. */
    occupy: prepareInsert(names, 'occupy', inHead, `${onConflict} ${TAKE_OVER}`),
  }
}

function prepareInsert(names: string, name: string, toPaths: (path: string) => string, conflict = ''): Insert {
  const into = `INSERT INTO ${names} AS name
     (registrable_domain, path, inlined_path, domain_id, team_id, created_at, due)`
  // Fails outside a transaction.
  const begunAt = `current_setting('${BEGUN_AT}')::timestamptz`
  const toRow = (domain: string, path: string, id: string, time: string) =>
    `${domain}, ${toPaths(path)}, ${id}, $1::text, ${time}, now() + $2::interval`
  const toValues = (_: unknown, index: number) => {
    const [domain, path, id] = [3, 4, 5].map(first => `$${first + 3 * index}`)
    return `(${toRow(`${domain}::text`, `${path}::text`, `${id}::uuid`, begunAt)})`
  }
  const rows = `unnest($3::text[], $4::text[], $5::uuid[]) AS new (registrable_domain, path, domain_id)`
  // A scalar subquery is evaluated once, and not for each row.
  const selected = toRow('registrable_domain', 'path', 'domain_id', `(SELECT ${begunAt})`)
  const inArrays = `${into} SELECT ${selected} FROM ${rows} ${conflict}`
  return {
    ...prepare(name, inArrays),
    inValues: count => ({
      name: '',
      text: `${into} VALUES ${Array.from({ length: count }, toValues).join(', ')} ${conflict}`,
    }),
  }
}
