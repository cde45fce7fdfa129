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

/** Of how many rows there are statements, since the text depends on it: so each connection prepares only these few. */
export const BATCHES = [100, 32, 8, 2, 1] as const

const TAKE_OVER = `(inlined_path, domain_id, team_id, created_at, due, refusals) =
         (NULL, excluded.domain_id, excluded.team_id, excluded.created_at, excluded.due, excluded.refusals)`

/** Of each kind one statement for each of {@link BATCHES}. */
function createInserts(names: string) {
  const onConflict = 'ON CONFLICT (registrable_domain, path) DO UPDATE SET'
  const claim = `${onConflict} due = name.due WHERE false`
  const inHead = (path: string) => `'', nullif(${path}, '')`
  const inBatches = (name: string, toPaths: (path: string) => string, conflict = '') =>
    BATCHES.map(count => prepareInsert(names, `${name}_${count}`, count, toPaths, conflict))
  return {
    /**
     * Makes the head rows of registrable domains that have none, with a name in each, and locks those that are there:
     * in the order of the rows, so that no two calls wait for each other. `WHERE false` locks a row and writes
     * nothing.
     *
     * A second call that comes at the same time waits for the first, and locks what that has made. What it saw before
     * it waited is of no use: look-ups are statements of their own, each with a snapshot of its own in READ COMMITTED.
     */
    claims: Object.assign(inBatches('claim', inHead, claim), {
      /** Any number of rows, and not to be prepared. */
      ofAll: (count: number): Statement => ({ ...prepareInsert(names, '', count, inHead, claim), name: '' }),
    }),

    /** Names below registrable domains. Nothing can be in the way under a claim: else it fails. */
    inserts: inBatches('insert', path => `${path}, NULL`),

    /** Registrable domains themselves, into head rows. */
    occupations: inBatches('occupy', inHead, `${onConflict} ${TAKE_OVER}`),
  }
}

/** Parameters 1 and 2 are the team and the lease, and each row has three more. */
function prepareInsert(
  names: string,
  name: string,
  count: number,
  toPaths: (path: string) => string,
  conflict: string,
): Statement {
  const rows = Array.from({ length: count }, (_, index) => {
    const [domain, path, id] = [3, 4, 5].map(first => `$${first + 3 * index}`)
    // Fails outside a transaction: of a statement, one row tells.
    const createdAt = index === 0 ? `current_setting('${BEGUN_AT}')::timestamptz` : 'now()'
    return `(${domain}::text, ${toPaths(`${path}::text`)}, ${id}::uuid, $1::text, ${createdAt}, now() + $2::interval)`
  })
  return prepare(
    name,
    `INSERT INTO ${names} AS name (registrable_domain, path, inlined_path, domain_id, team_id, created_at, due)
     VALUES ${rows.join(', ')} ${conflict}`,
  )
}
