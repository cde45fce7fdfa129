import type { WaitingChange } from '../registry/outbox.ts'
import { type PendingRow, type StatsRow, toSelectList } from '../registry/row.ts'
import type { Engine } from './engine.ts'
import { createInsert } from './insert.ts'
import type { Tables } from './schema.ts'
import { type Id, prepare, returningId, toMilliseconds, unprepared } from './statement.ts'

/** The time of the statement. The transaction may have begun long before, and waited for locks. */
const NOW = 'statement_timestamp()'
/** Not by an interval: what depends on the time zone may not be added to a column on Citus. */
const afterWait = (milliseconds: string) =>
  `to_timestamp(extract(epoch FROM ${NOW})::double precision + ${milliseconds}::double precision / 1000)`

const waiting = {
  kind: 'waiting.kind',
  domainId: 'waiting.domain_id::text',
  domain: 'waiting.domain',
  registrableDomain: 'waiting.registrable_domain',
  teamId: 'waiting.team_id',
  refusals: 'waiting.refusals',
}
const change = toSelectList<WaitingChange>(waiting)
const pending = toSelectList<PendingRow>({
  ...waiting,
  since: toMilliseconds('waiting.since'),
  nextAttempt: toMilliseconds('waiting.due'),
  lastFailure: 'waiting.last_failure',
})
const stats = toSelectList<StatsRow>({
  count: 'count(*)::text',
  refused: '(count(*) FILTER (WHERE refusals > 0))::text',
  oldest: toMilliseconds('min(since)'),
})

/** Statements on the waiting changes. Waits are in milliseconds; $1 and $2 are second-level domains and IDs. */
export function createOutboxStatements({ changes }: Tables, engine: Engine) {
  const isAsked = `waiting.domain_id = asked.domain_id AND waiting.second_level_domain = asked.second_level_domain`
  const isNamed = `domain_id = ANY ($2::uuid[]) AND second_level_domain = ANY ($1::text[])`
  const isInShard = 'waiting.second_level_domain = ANY ($1::text[])'
  const find = (condition: string) =>
    unprepared<WaitingChange>(
      `SELECT ${change} FROM ${changes} AS waiting WHERE ${condition} AND due <= ${NOW}
       ORDER BY due, domain_id LIMIT $1::bigint ${engine === 'Citus' ? '' : 'FOR UPDATE SKIP LOCKED'}`,
    )
  const hasten = (condition: string) =>
    unprepared(`UPDATE ${changes} SET due = ${NOW} WHERE ${condition} AND due > ${afterWait('$1')}`)

  const isPostponed = `due > ${NOW} AND last_failure IS NOT NULL`

  return {
    /** Adds changes that are due after their waits. */
    addChanges: createInsert(engine, {
      name: 'add_changes',
      into: `${changes} (second_level_domain, domain_id, domain, registrable_domain, due, team_id, kind, since)`,
      types: ['text', 'uuid', 'text', 'text', 'double precision'],
      toRow: elements => `${elements.slice(0, 4)}, ${afterWait(String(elements[4]))}, $6::text, $7::text, ${NOW}`,
    }),

    /** Leases registrations to a call for $3, unless they are due even later. */
    lease: unprepared(`UPDATE ${changes} AS waiting SET due = greatest(waiting.due, ${afterWait('$3')})
       FROM unnest($1::text[], $2::uuid[]) AS asked (second_level_domain, domain_id)
       WHERE ${isAsked} AND ${isInShard}`),

    /** Makes due what a clock that has been corrected since put off further than $1. */
    hastenFresh: hasten('refusals = 0'),
    hastenRefused: hasten('refusals > 0'),
    /** Finds what is due, except what other sweeps are taking. */
    findFresh: find('refusals = 0'),
    findRefused: find('refusals > 0'),
    /** Leases what was found for $3, if it is still due. */
    take: unprepared<Id>(
      `UPDATE ${changes} SET due = ${afterWait('$3')} WHERE ${isNamed} AND due <= ${NOW} ${returningId}`,
    ),

    /** Forgets changes of the kind $3. */
    finish: prepare<Id>('finish', `DELETE FROM ${changes} WHERE ${isNamed} AND kind = $3 ${returningId}`),
    /** Makes the releases due that have replaced pushed registrations. */
    hastenReleases: prepare(
      'hasten_releases',
      `UPDATE ${changes} SET due = ${NOW} WHERE ${isNamed} AND kind = 'released'`,
    ),
    postpone: unprepared(`UPDATE ${changes} AS waiting
       SET due = ${afterWait('asked.wait')},
         refusals = waiting.refusals + asked.refusals,
         last_failure = coalesce(asked.failure, waiting.last_failure)
       FROM unnest($1::text[], $2::uuid[], $3::text[], $4::double precision[], $5::text[], $6::integer[])
         AS asked (second_level_domain, domain_id, kind, wait, failure, refusals)
       WHERE ${isAsked} AND waiting.kind = asked.kind AND ${isInShard}`),

    /** Makes due what waits because a push failed. */
    retry: unprepared<Id>(
      `UPDATE ${changes} SET due = ${NOW} WHERE ${isPostponed} AND domain_id = ANY ($1::uuid[]) ${returningId}`,
    ),
    retryAll: unprepared<Id>(`UPDATE ${changes} SET due = ${NOW} WHERE ${isPostponed} ${returningId}`),

    countChanges: unprepared<StatsRow>(`SELECT ${stats} FROM ${changes}`),
    listChanges: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS waiting WHERE domain_id > $1::uuid ORDER BY domain_id LIMIT $2::bigint`,
    ),
  }
}
