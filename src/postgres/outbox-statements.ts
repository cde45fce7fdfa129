import { prepare } from './prepare.ts'
import type { NameRow } from './rows.ts'
import type { Tables } from './schema.ts'
import { isByKey } from './settings.ts'

/** A change that is due, of either table. */
export interface DueRow extends NameRow {
  readonly refusals: number
  /** In seconds since 1970. */
  readonly due: number
}

export interface CountRow {
  readonly count: number
}

/** A change that a sweep has leased. */
export interface LeasedRow {
  readonly domain_id: string
  /** When the lease ends, in seconds since 1970. It identifies the lease. */
  readonly lease: number
}

/** The time of the statement. The transaction may have begun long before, and waited for locks. */
const NOW = 'statement_timestamp()'
/** Computed in seconds: Citus refuses to add an interval of a row to a time, which would depend on the time zone. */
const afterWait = (row: string) => `to_timestamp(extract(epoch FROM ${NOW})::double precision + ${row}.wait)`
/** To the microsecond. For Citus the epoch of a time depends on the time zone, and that of a difference does not. */
const toSeconds = (time: string) => `extract(epoch FROM ${time} - to_timestamp(0))::double precision`

/** Written so that no index matches: rows must be found by their keys. */
const dueOf = (row: string) => `coalesce(${row}.due, 'infinity')`

const columnsOf = (inlinedPath: string) =>
  `registrable_domain, path, ${inlinedPath} AS inlined_path, domain_id, team_id, false AS synchronized,
       coalesce(refusals, 0) AS refusals, ${toSeconds('due')} AS due`

/** Matches the row of a name. The name may have moved out of the head row since it was found, or into it. */
const isName = `${isByKey('name', 'asked')} AND name.path = ANY (ARRAY[asked.path, ''])
         AND name.domain_id IS NOT DISTINCT FROM asked.domain_id`
const isRelease = `${isByKey('release', 'asked')} AND release.domain_id = asked.domain_id`

/**
 * Statements on the waiting changes: registrations in their own rows, releases in a separate table. Rows of names must
 * be claimed before they are changed.
 */
export const createOutboxStatements = (tables: Tables) => ({
  ...createLookUps(tables),
  ...createLeases(tables),
  ...createEnds(tables),
})

function createLookUps({ names, releases }: Tables) {
  const findDue = (name: string, table: string, inlinedPath: string) =>
    prepare<DueRow>(
      name,
      `SELECT ${columnsOf(inlinedPath)} FROM ${table} AS waiting
       WHERE waiting.due <= ${NOW} ORDER BY waiting.due, waiting.domain_id LIMIT $1`,
    )
  return {
    findDueNames: findDue('find_due_names', names, 'inlined_path'),
    findDueReleases: findDue('find_due_releases', releases, 'NULL'),

    countDueNames: prepare<CountRow>(
      'count_due_names',
      `SELECT count(*)::integer AS count FROM ${names} AS name WHERE name.due IS NOT NULL`,
    ),
    countReleases: prepare<CountRow>('count_releases', `SELECT count(*)::integer AS count FROM ${releases}`),
  }
}

/** Statements that change when changes are due. */
const createLeases = ({ names, releases }: Tables) => ({
  /** Leases the given names for the interval $4, unless they are due later than $5 from now. */
  leaseNames: prepare<LeasedRow>(
    'lease_names',
    `UPDATE ${names} AS name SET due = ${NOW} + $4::interval
       FROM unnest($1::text[], $2::text[], $3::uuid[]) AS asked (registrable_domain, path, domain_id)
       WHERE ${isName} AND ${dueOf('name')} <= ${NOW} + $5::interval
       RETURNING name.domain_id, ${toSeconds('name.due')} AS lease`,
  ),
  leaseReleases: prepare<LeasedRow>(
    'lease_releases',
    `UPDATE ${releases} AS release SET due = ${NOW} + $3::interval
       FROM unnest($1::text[], $2::uuid[]) AS asked (registrable_domain, domain_id)
       WHERE ${isRelease} AND ${dueOf('release')} <= ${NOW}
       RETURNING release.domain_id, ${toSeconds('release.due')} AS lease`,
  ),

  /** Postpones changes by `wait` seconds if their lease is still the given one; $7 is the length of a first lease. */
  postponeNames: prepare(
    'postpone_names',
    `UPDATE ${names} AS name
       SET due = ${afterWait('asked')}, refusals = nullif(coalesce(name.refusals, 0) + asked.refusals, 0)
       FROM unnest($1::text[], $2::text[], $3::uuid[], $4::double precision[], $5::integer[], $6::double precision[])
         AS asked (registrable_domain, path, domain_id, wait, refusals, lease)
       WHERE ${isName} AND (${dueOf('name')} = to_timestamp(asked.lease)
         OR asked.lease IS NULL AND name.due - name.created_at = $7::interval)`,
  ),
  postponeReleases: prepare(
    'postpone_releases',
    `UPDATE ${releases} AS release
       SET due = ${afterWait('asked')}, refusals = coalesce(release.refusals, 0) + asked.refusals
       FROM unnest($1::text[], $2::uuid[], $3::double precision[], $4::integer[], $5::double precision[])
         AS asked (registrable_domain, domain_id, wait, refusals, lease)
       WHERE ${isRelease} AND ${dueOf('release')} = to_timestamp(asked.lease)`,
  ),
})

const createEnds = ({ names, releases }: Tables) => ({
  finishNames: prepare(
    'finish_names',
    `UPDATE ${names} AS name SET due = NULL
       FROM unnest($1::text[], $2::text[], $3::uuid[]) AS asked (registrable_domain, path, domain_id) WHERE ${isName}`,
  ),
  /** Makes releases due at once that waited for the push of their registrations. */
  hastenReleases: prepare(
    'hasten_releases',
    `UPDATE ${releases} AS release SET due = ${NOW}
       FROM unnest($1::text[], $2::uuid[]) AS asked (registrable_domain, domain_id) WHERE ${isRelease}`,
  ),

  /** Records releases, before the names are deleted. */
  addReleases: prepare(
    'add_releases',
    `INSERT INTO ${releases} (registrable_domain, path, domain_id, team_id, due)
       SELECT name.registrable_domain, coalesce(name.inlined_path, name.path), name.domain_id, name.team_id,
         ${NOW} + $4::interval
       FROM unnest($1::text[], $2::text[], $3::uuid[]) AS asked (registrable_domain, path, domain_id)
       JOIN ${names} AS name ON ${isByKey('name', 'asked')} AND name.path = asked.path
       WHERE name.domain_id IS NOT DISTINCT FROM asked.domain_id`,
  ),
  deleteReleases: prepare(
    'delete_releases',
    `DELETE FROM ${releases} AS release
       USING unnest($1::text[], $2::uuid[]) AS asked (registrable_domain, domain_id) WHERE ${isRelease}`,
  ),
})
