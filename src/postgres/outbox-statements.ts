import { type PendingRow, type StatsRow, toSelectList, type WaitingRow } from '../registry/row.ts'
import { type Engine, inShards } from './engine.ts'
import { createInsert } from './insert.ts'
import type { Tables } from './schema.ts'
import { type Id, prepared, returningId, toMilliseconds, toTime, unprepared } from './statement.ts'

/**
 * The time at which the statement begins. The time at which the transaction began would be too early, because the
 * transaction may have waited for locks since then.
 */
const NOW = 'statement_timestamp()'
/**
 * The time at which a wait ends. With an interval, the expression would depend on the time zone, and Citus cannot set a
 * column from such an expression.
 */
const afterWait = (milliseconds: string) =>
  `to_timestamp(extract(epoch FROM ${NOW})::double precision + ${milliseconds}::double precision / 1000)`

const waiting = {
  kind: 'waiting.kind',
  domainId: 'waiting.domain_id::text',
  domain: 'waiting.domain',
  registrableDomain: 'waiting.registrable_domain',
  teamId: 'waiting.team_id',
  refusals: 'waiting.refusals',
  at: toMilliseconds('waiting.since'),
}
const change = toSelectList<WaitingRow>(waiting)
const pending = toSelectList<PendingRow>({
  ...waiting,
  nextAttempt: toMilliseconds('waiting.due'),
  lastFailure: 'waiting.last_failure',
})
const stats = toSelectList<StatsRow>({
  count: 'count(*)::text',
  refused: '(count(*) FILTER (WHERE refusals > 0))::text',
  oldest: toMilliseconds('min(since)'),
})

/**
 * Statements on the pending changes. Waits are in milliseconds. Changes are selected by their IDs ($1), and on Citus
 * also by their second-level domains (the last parameter). At most one column of an index is compared with an array,
 * because PostgreSQL before version 17 looks up every combination of the values of two arrays.
 */
export function createOutboxStatements({ changes, monitor }: Tables, engine: Engine) {
  const isNamed = (lastParameter: string) =>
    `domain_id = ANY ($1::uuid[]) ${inShards(engine, 'waiting', lastParameter)}`
  const passOver = passOverOf(engine)
  const isFree = isFreeIn(changes, engine)

  const isAfterRegistration = `(SELECT followed.kind FROM ${changes} AS followed
         WHERE followed.domain_id = waiting.follows AND followed.second_level_domain = waiting.second_level_domain
       ) IS DISTINCT FROM 'registered'`
  const find = (condition: string) =>
    unprepared<WaitingRow>(
      `SELECT ${change} FROM ${changes} AS waiting WHERE ${condition} AND due <= ${NOW} AND ${isAfterRegistration}
       ORDER BY due, domain_id LIMIT $1::bigint ${passOver}`,
    )
  const hasten = (condition: string) =>
    unprepared(
      `UPDATE ${changes} AS waiting SET due = ${NOW} WHERE ${isFree(`${condition} AND due > ${afterWait('$1')}`)}`,
    )

  return {
    /** Adds changes, each with its own wait until it is due. */
    addChanges: createInsert(engine, {
      name: 'add_changes',
      into: `${changes}
        (second_level_domain, domain_id, domain, registrable_domain, due, team_id, kind, since, follows)`,
      types: ['text', 'uuid', 'text', 'text', 'double precision', 'text', 'double precision', 'uuid'],
      shared: ['text'],
      toRow: ([secondLevelDomain, id, domain, registrableDomain, wait = '', teamId, at = '', follows], [kind]) =>
        [secondLevelDomain, id, domain, registrableDomain, afterWait(wait), teamId, kind, toTime(at), follows].join(
          ', ',
        ),
    }),
    /** Replaces the IDs that changes follow: an ID in $1 becomes the ID at the same position in $2. */
    follow: unprepared(
      `UPDATE ${changes} AS waiting SET follows = asked.next
       FROM unnest($1::uuid[], $2::uuid[]) AS asked (domain_id, next)
       WHERE waiting.follows = asked.domain_id ${inShards(engine, 'waiting', '$3')}`,
    ),

    /** Leases registrations to a call for $2 milliseconds, except any that are not yet due when the lease ends. */
    lease: unprepared(
      `UPDATE ${changes} AS waiting SET due = greatest(due, ${afterWait('$2')}) WHERE ${isNamed('$3')}`,
    ),
    /** Deletes pending registrations that a release replaces. */
    replace: prepared<Id>(
      'replace',
      `DELETE FROM ${changes} AS waiting WHERE ${isNamed('$2')} AND kind = 'registered' ${returningId}`,
    ),

    /**
     * Changes that are due more than $1 milliseconds from now were postponed while a clock was wrong. These statements
     * make such changes due at once.
     */
    hastenFresh: hasten('refusals = 0'),
    hastenRefused: hasten('refusals > 0'),
    /** Finds due changes, except those that other sweeps are leasing. */
    findFresh: find('refusals = 0'),
    findRefused: find('refusals > 0'),
    /** Leases the found changes for $2 milliseconds, if they are still due. */
    take: unprepared<Id>(
      `UPDATE ${changes} AS waiting SET due = ${afterWait('$2')} WHERE ${isNamed('$3')} AND due <= ${NOW}
       ${returningId}`,
    ),

    /** Deletes pushed changes whose kind is still $2. */
    finish: prepared('finish', `DELETE FROM ${changes} AS waiting WHERE ${isFree(`${isNamed('$3')} AND kind = $2`)}`),
    /** Makes a release due at once if it replaced a registration that has now been pushed. */
    hastenReleases: prepared(
      'hasten_releases',
      `UPDATE ${changes} AS waiting SET due = ${NOW} WHERE ${isFree(`${isNamed('$2')} AND kind = 'released'`)}`,
    ),
    postpone: unprepared(postpone(changes, engine)),

    ...createRetries(changes, engine),
    ...createMonitorStatements(monitor),

    countChanges: unprepared<StatsRow>(`SELECT ${stats} FROM ${changes}`),
    listChanges: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS waiting WHERE domain_id > $1::uuid ORDER BY domain_id LIMIT $2::bigint`,
    ),
  }
}

/**
 * Postpones changes that are not locked. The parameters are arrays: $1 contains their IDs, $2 their kinds, $3 the
 * waits, $4 the failures, and $5 the numbers of refusals to add.
 */
function postpone(changes: string, engine: Engine): string {
  const rows = `unnest($1::uuid[], $2::text[], $3::double precision[], $4::text[], $5::integer[])
         AS asked (domain_id, kind, wait, failure, refusals)`
  const free = `(
         SELECT asked.* FROM ${rows} JOIN ${changes} AS waiting USING (domain_id, kind)
         FOR UPDATE OF waiting SKIP LOCKED
       ) AS asked`
  return `UPDATE ${changes} AS waiting
       SET due = ${afterWait('asked.wait')},
         refusals = waiting.refusals + asked.refusals,
         last_failure = coalesce(asked.failure, waiting.last_failure)
       FROM ${engine === 'Citus' ? rows : free}
       WHERE waiting.domain_id = asked.domain_id AND waiting.kind = asked.kind ${inShards(engine, 'waiting', '$6')}`
}

/** Statements that make failed changes due at once, so the next sweep pushes them again. */
function createRetries(changes: string, engine: Engine) {
  const isFree = isFreeIn(changes, engine)
  const retry = (condition: string) =>
    unprepared<Id>(
      `UPDATE ${changes} AS waiting SET due = ${NOW}
       WHERE ${isFree(`${condition} AND due > ${NOW} AND last_failure IS NOT NULL`)} ${returningId}`,
    )
  return {
    retry: retry('domain_id = ANY ($1::uuid[])'),
    retryFresh: retry('refusals = 0'),
    retryRefused: retry('refusals > 0'),
  }
}

/** Statements on the table `monitor`, which gets a row as soon as any process pushes changes. */
const createMonitorStatements = (monitor: string) => ({
  findMonitor: unprepared<{ id: number }>(`SELECT id FROM ${monitor}`),
  addMonitor: unprepared(`INSERT INTO ${monitor} (id) VALUES (1) ON CONFLICT DO NOTHING`),
})

const passOverOf = (engine: Engine) => (engine === 'Citus' ? '' : 'FOR UPDATE SKIP LOCKED')

/**
 * Skips locked rows, so a sweep never waits for an application's transaction. On Citus, rows of several shards cannot
 * be locked in one query, so no row is skipped.
 */
const isFreeIn = (changes: string, engine: Engine) => (condition: string) =>
  engine === 'Citus'
    ? condition
    : `domain_id = ANY (ARRAY(SELECT domain_id FROM ${changes} AS waiting WHERE ${condition} ${passOverOf(engine)}))`
