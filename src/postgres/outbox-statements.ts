import { prepare } from './prepare.ts'
import type { NameRow } from './rows.ts'
import type { Tables } from './schema.ts'
import { isByKey } from './settings.ts'

/** A change that is due, in either table. */
export interface DueRow extends NameRow {
  readonly refusals: number
  /** In seconds since 1970. */
  readonly due: number
}

export interface CountRow {
  readonly count: number
}

/** A change that a sweep has taken. */
export interface LeasedRow {
  readonly domain_id: string
  /** When the lease ends, which tells it from others. In seconds since 1970. */
  readonly lease: number
}

/** Of a statement and not of its transaction: that may have begun long ago, and waited for locks. */
const NOW = 'statement_timestamp()'
/** Citus adds no interval of a row to a time, for that depends on the time zone. */
const afterWait = (row: string) => `to_timestamp(extract(epoch FROM ${NOW})::double precision + ${row}.wait)`
/** To the microsecond. The epoch of a time depends on the time zone for Citus, that of a difference does not. */
const toSeconds = (time: string) => `extract(epoch FROM ${time} - to_timestamp(0))::double precision`

/** In words that no index serves: rows are found by their keys. */
const dueOf = (row: string) => `coalesce(${row}.due, 'infinity')`

const columnsOf = (inlinedPath: string) =>
  `registrable_domain, path, ${inlinedPath} AS inlined_path, domain_id, team_id, false AS synchronized,
       coalesce(refusals, 0) AS refusals, ${toSeconds('due')} AS due`

/** Of a name; it may have left the head row since it was found, so that both rows are looked at. */
const isName = `${isByKey('name', 'asked')} AND name.path = ANY (ARRAY[asked.path, ''])
         AND name.domain_id IS NOT DISTINCT FROM asked.domain_id`
const isRelease = `${isByKey('release', 'asked')} AND release.domain_id = asked.domain_id`

/**
 * The changes that wait: registrations in their own rows, releases in a table of theirs. Whatever changes rows of names
 * has claimed them before.
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

/** What puts changes off. */
const createLeases = ({ names, releases }: Tables) => ({
  /** Puts off to $4 from now what is due until $5 from now: what a sweep takes, or what a call finds. */
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

  /** Sets when changes are due, in seconds from now, whose lease is still the same; $7 is how long the first is. */
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
  /** Lets releases go at once that have waited for the push of their registrations. */
  hastenReleases: prepare(
    'hasten_releases',
    `UPDATE ${releases} AS release SET due = ${NOW}
       FROM unnest($1::text[], $2::uuid[]) AS asked (registrable_domain, domain_id) WHERE ${isRelease}`,
  ),

  /** Records that names are released, before they are deleted. */
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
