import { toMilliseconds } from './name-statements.ts'
import { prepare, unprepared } from './prepare.ts'
import type { Tables } from './schema.ts'

export interface ChangeRow {
  readonly kind: 'registered' | 'released'
  readonly domain_id: string
  readonly domain: string
  readonly registrable_domain: string
  readonly team_id: string
  readonly refusals: number
}

export interface PendingRow extends ChangeRow {
  /** In milliseconds since 1970, as text. */
  readonly since: string
  readonly due: string
  readonly last_failure: string | null
}

export interface StatsRow {
  readonly count: string
  readonly refused: string
  readonly oldest: string | null
}

/** The time of the statement. The transaction may have begun long before, and waited for locks. */
const NOW = 'statement_timestamp()'
const afterWait = (milliseconds: string) => `${NOW} + ${milliseconds}::double precision * interval '1 ms'`

const columns = (row: string) =>
  `${row}.kind, ${row}.domain_id::text AS domain_id, ${row}.domain, ${row}.registrable_domain, ${row}.team_id,
       ${row}.refusals`

/** Statements on the waiting changes. Waits are in milliseconds; $1 and $2 are second-level domains and IDs. */
export function createOutboxStatements({ changes }: Tables) {
  const isAsked = `waiting.domain_id = asked.domain_id AND waiting.second_level_domain = asked.second_level_domain`
  const take = (condition: string) =>
    unprepared<ChangeRow>(
      `WITH due AS MATERIALIZED (
         SELECT domain_id, second_level_domain, due FROM ${changes} AS waiting
         WHERE ${condition} AND due <= ${NOW} ORDER BY due, domain_id LIMIT $1::bigint FOR UPDATE SKIP LOCKED
       )
       UPDATE ${changes} AS waiting SET due = ${afterWait('$2')} FROM due AS asked WHERE ${isAsked}
       RETURNING ${columns('waiting')}`,
    )
  const farDue = (condition: string) =>
    `SELECT domain_id FROM ${changes} WHERE ${condition} AND due > ${afterWait('$1')}`

  return {
    /**
     * Adds changes that are due after $8. If a registration still waits, its release takes its place, and is due after
     * $9: the push of the registration may be under way. Fails if a trigger of yours skips a row.
     */
    addChanges: prepare(
      'add_changes',
      `WITH added AS (
         INSERT INTO ${changes} AS waiting
           (second_level_domain, domain_id, domain, registrable_domain, team_id, kind, since, due)
         SELECT *, $5::text, $6::text, ${NOW}, ${afterWait('$7')}
         FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[])
         ON CONFLICT (domain_id, second_level_domain) DO UPDATE
           SET kind = excluded.kind, since = ${NOW}, due = ${afterWait('$8')}, refusals = 0, last_failure = NULL
         RETURNING 1
       )
       SELECT 1 / (count(*) = cardinality($2::uuid[]))::integer AS complete FROM added`,
    ),

    /** Leases registrations to a call for $3, unless they are due even later. */
    lease: unprepared(`UPDATE ${changes} AS waiting SET due = greatest(waiting.due, ${afterWait('$3')})
       FROM unnest($1::text[], $2::uuid[]) AS asked (second_level_domain, domain_id) WHERE ${isAsked}`),

    /** Makes due what a clock that has been corrected since put off further than $1. */
    hasten: unprepared(`UPDATE ${changes} SET due = ${NOW}
       WHERE domain_id IN (${farDue('refusals = 0')} UNION ALL ${farDue('refusals > 0')})`),
    takeFresh: take('refusals = 0'),
    takeRefused: take('refusals > 0'),

    /** Forgets changes of the kind $3. */
    finish: prepare(
      'finish',
      `DELETE FROM ${changes}
       WHERE domain_id = ANY ($2::uuid[]) AND second_level_domain = ANY ($1::text[]) AND kind = $3`,
    ),
    /** Makes the releases due that have replaced pushed registrations. */
    hastenReleases: prepare(
      'hasten_releases',
      `UPDATE ${changes} SET due = ${NOW}
       WHERE domain_id = ANY ($2::uuid[]) AND second_level_domain = ANY ($1::text[]) AND kind = 'released'`,
    ),
    postpone: unprepared(`UPDATE ${changes} AS waiting
       SET due = ${afterWait('asked.wait')},
         refusals = waiting.refusals + (asked.refusal IS NOT NULL)::integer,
         last_failure = coalesce(asked.refusal, waiting.last_failure)
       FROM unnest($1::text[], $2::uuid[], $3::text[], $4::double precision[], $5::text[])
         AS asked (second_level_domain, domain_id, kind, wait, refusal)
       WHERE ${isAsked} AND waiting.kind = asked.kind`),

    ...looksAtChanges(changes),
  }
}

const looksAtChanges = (changes: string) => ({
  countChanges: unprepared<StatsRow>(
    `SELECT count(*)::text AS count, (count(*) FILTER (WHERE refusals > 0))::text AS refused,
       ${toMilliseconds('min(since)')} AS oldest
     FROM ${changes}`,
  ),
  listChanges: unprepared<PendingRow>(
    `SELECT ${columns('waiting')}, ${toMilliseconds('since')} AS since, ${toMilliseconds('due')} AS due, last_failure
     FROM ${changes} AS waiting WHERE domain_id > $1::uuid ORDER BY domain_id LIMIT $2::bigint`,
  ),
})
