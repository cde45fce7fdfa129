import { MOST_DUE, toSelectList, type WaitingRow } from '../../sql/rows.ts'
import type { Tables } from '../schema.ts'
import { isOurs, prepared, toMilliseconds } from './sql.ts'

/** The wait of a name that waits no longer. */
export const OVER = -1

const NOW = 'statement_timestamp()'

const after = (milliseconds: string) => `${NOW} + ${milliseconds} * interval '1 millisecond'`

export function createStatements({ waiting }: Tables) {
  const row = toSelectList<WaitingRow>({
    teamId: 'name.team_id',
    domain: 'name.domain',
    registrableDomain: 'name.registrable_domain',
    since: toMilliseconds('name.since'),
    until: toMilliseconds('name.until'),
    lastTried: toMilliseconds('name.last_tried'),
    nextTry: toMilliseconds('name.due'),
    tries: 'name.tries::text',
    refusal: 'name.refusal',
  })
  const overdue = `greatest(0, extract(epoch FROM ${NOW} - min(due)) * 1000)::bigint::text AS overdue`
  const returning = `RETURNING name.domain`
  const isTaken =
    'name.team_id = $2 AND name.domain = tried.domain AND name.tries = tried.tries ' +
    `AND ${toMilliseconds('name.until')} = tried.until`
  return {
    /**
     * Makes calls about names of one team run one after another: they count them, and lock them in any order. Taking
     * names does not wait for these calls.
     */
    lockTeam: prepared('lock_waiting_team', 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text'),
    keep: prepared<WaitingRow>(
      'keep_waiting',
      `WITH sent AS (
         SELECT *, EXISTS (
           SELECT FROM ${waiting} AS name WHERE name.team_id = $2 AND name.domain = sent.domain
         ) AS is_known
         FROM unnest($3::text[], $4::text[], $5::text[]) AS sent (domain, registrable_domain, refusal)
         WHERE ${isOurs}
       ), ranked AS (
         SELECT *, row_number() OVER (PARTITION BY is_known ORDER BY domain) AS place FROM sent
       )
       INSERT INTO ${waiting} AS name (team_id, domain, registrable_domain, since, until, last_tried, due, refusal)
       SELECT $2, domain, registrable_domain, ${NOW}, ${after('$7::float8')}, ${NOW}, ${after('$6::float8')}, refusal
       FROM ranked
       WHERE is_known OR place <= $8::bigint - (SELECT count(*) FROM ${waiting} AS name WHERE name.team_id = $2)
       ON CONFLICT (team_id, domain) DO UPDATE SET registrable_domain = excluded.registrable_domain,
         until = excluded.until, last_tried = excluded.last_tried, due = excluded.due, tries = 0,
         refusal = excluded.refusal
       RETURNING ${row}`,
    ),
    findOverdue: prepared<{ overdue: string }>('overdue_waiting', `SELECT ${overdue} FROM ${waiting}`),
    count: prepared<{ overdue: string; count: string }>(
      'count_waiting',
      `SELECT count(*)::text AS count, ${overdue} FROM ${waiting}`,
    ),
    remove: prepared<{ domain: string }>(
      'remove_waiting',
      `DELETE FROM ${waiting} AS name WHERE team_id = $2 AND domain = ANY ($3::text[]) AND ${isOurs} ${returning}`,
    ),
    /**
     * A call takes a team that no other is about to take: otherwise each would skip the names that the other has locked
     * already. If there is no such team, it waits, and takes what is left.
     */
    take: prepared<WaitingRow & { readonly isLast: string }>(
      'take_waiting',
      `WITH due AS MATERIALIZED (
         SELECT team_id FROM ${waiting} WHERE due <= ${NOW} ORDER BY due LIMIT ${MOST_DUE}
       ), teams AS MATERIALIZED (
         SELECT team_id FROM (SELECT DISTINCT team_id FROM due) AS each ORDER BY random()
       ), team AS MATERIALIZED (
         SELECT coalesce(
           (SELECT team_id FROM teams WHERE pg_try_advisory_xact_lock(hashtextextended($3 || team_id, 0)) LIMIT 1),
           (SELECT team_id FROM teams, pg_advisory_xact_lock(hashtextextended($3 || team_id, 0)) LIMIT 1)
         ) AS team_id
       ), chosen AS MATERIALIZED (
         SELECT team_id, domain FROM ${waiting}
         WHERE team_id = (SELECT team_id FROM team) AND due <= ${NOW}
         ORDER BY due LIMIT $1::bigint FOR UPDATE SKIP LOCKED
       )
       UPDATE ${waiting} AS name SET due = ${after('$2::float8')}, tries = name.tries + 1
       FROM chosen WHERE name.team_id = chosen.team_id AND name.domain = chosen.domain
       RETURNING ${row}, (name.until <= ${NOW})::text AS "isLast"`,
    ),
    settle: prepared<{ domain: string }>(
      'settle_waiting',
      `WITH tried AS MATERIALIZED (
         SELECT * FROM unnest($3::text[], $4::int[], $5::text[], $6::float8[], $7::text[])
           AS tried (domain, tries, until, wait, refusal)
         WHERE ${isOurs}
       ), gone AS (
         DELETE FROM ${waiting} AS name USING tried
         WHERE ${isTaken}
           AND tried.wait = ${OVER} ${returning}
       ), postponed AS (
         UPDATE ${waiting} AS name SET due = ${after('tried.wait')},
           last_tried = CASE WHEN tried.refusal = '' THEN name.last_tried ELSE ${NOW} END,
           refusal = coalesce(nullif(tried.refusal, ''), name.refusal)
         FROM tried WHERE ${isTaken}
           AND tried.wait <> ${OVER} ${returning}
       )
       SELECT domain FROM gone UNION ALL SELECT domain FROM postponed`,
    ),
    hasten: prepared(
      'hasten_waiting',
      `UPDATE ${waiting} SET due = ${NOW}
       WHERE team_id = $2 AND registrable_domain = ANY ($3::text[]) AND ${isOurs}
         AND due > ${after('$4::float8')}`,
    ),
    list: prepared<WaitingRow>(
      'list_waiting',
      `SELECT ${row} FROM ${waiting} AS name WHERE team_id = $1 ORDER BY domain`,
    ),
  }
}
