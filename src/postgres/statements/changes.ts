import type { Change, Registration } from '../../rules/registration.ts'
import { MOST_TEAMS, MOST_TEAMS_VISITED, type PendingRow, type StatsRow, toSelectList } from '../../sql/rows.ts'
import type { Engine } from '../engines/engine.ts'
import type { Tables } from '../schema.ts'
import { type Id, isOurs, prepared, returningId, toMilliseconds, toTime, unprepared } from './sql.ts'

export type Identified = Pick<Registration, 'domain' | 'domainId'>

/** A row of the table of changes, before it is saved. */
export interface NewChange extends Change {
  readonly secondLevelDomain: string
  /** The number of milliseconds after which the change is due. */
  readonly wait: number
  /** The ID of the registration that the monitor must get first. */
  readonly follows: string | null
}

/**
 * The time at which the statement begins. The time at which the transaction began would be too early, because the
 * transaction may have waited for locks since then.
 */
const NOW = 'statement_timestamp()'

/**
 * The time at which a wait ends. With an interval, the expression would depend on the time zone, which not every engine
 * accepts for a column.
 */
const afterWait = (milliseconds: string) =>
  `to_timestamp(extract(epoch FROM ${NOW})::double precision + ${milliseconds}::double precision / 1000)`

const pending = toSelectList<PendingRow>({
  kind: 'change.kind',
  line: 'change.line',
  domainId: 'change.domain_id::text',
  domain: 'change.domain',
  registrableDomain: 'change.registrable_domain',
  teamId: 'change.team_id',
  refusals: 'change.refusals::text',
  at: toMilliseconds('change.since'),
  nextAttempt: toMilliseconds('change.due'),
  lastFailure: 'change.last_failure',
})

const stats = toSelectList<StatsRow>({
  count: 'count(*)::text',
  refused: '(count(*) FILTER (WHERE refusals > 0))::text',
  oldest: toMilliseconds('min(since)'),
})

export type OutboxStatements = ReturnType<typeof createOutboxStatements>

/**
 * The statements on the pending changes. Waits are in milliseconds. In a write, $1 is the token of the transaction.
 * Changes are selected by their IDs ($2), and if tables are distributed also by their second-level domains (the last
 * parameter). At most one column of an index is compared with an array, because PostgreSQL before version 17 looks up
 * every combination of the values of two arrays.
 */
export function createOutboxStatements({ changes, monitor }: Tables, engine: Engine) {
  const isNamed = (lastParameter: string) =>
    `domain_id = ANY ($2::uuid[]) AND ${isOurs} ${engine.inShards('change', lastParameter)}`
  /** Skips locked rows; see {@link Engine.skipLocked}. */
  const isFree = (condition: string) =>
    engine.skipLocked === ''
      ? condition
      : `domain_id = ANY (ARRAY(SELECT domain_id FROM ${changes} AS change WHERE ${condition} ${engine.skipLocked}))`
  const isFailed = `due > ${NOW} AND last_failure IS NOT NULL`

  // Each of these conditions lets a query use one index; see the schema.
  const inLine = `line = $1 AND follows IS NULL AND line > ''`
  const ofTeam = `line = $1 AND follows IS NULL AND team_id > ''`
  const findDue = (columns: string, condition: string, limit: string) =>
    `SELECT ${columns} FROM ${changes} AS change WHERE ${condition} AND due <= ${NOW}
     ORDER BY due LIMIT ${limit} ${engine.skipLocked}`
  const share = 'ceil($2::numeric / (SELECT count(*) FROM team))'
  /** The teams in one direction, and when their first changes are due. Reads one row for each team. */
  const walk = (name: string, start: string, isInReach: string) => {
    const next = (after: string) =>
      `SELECT team_id, due FROM ${changes} WHERE ${ofTeam} AND team_id > ${after} AND ${isInReach}
       ORDER BY team_id, due LIMIT 1`
    return `${name} (id, due, visited) AS (
         SELECT first.*, 1 FROM (${next(start)}) AS first
         UNION ALL SELECT next.*, visited + 1 FROM ${name}, LATERAL (${next(`${name}.id`)}) AS next
         WHERE visited < ${MOST_TEAMS_VISITED}
       )`
  }
  const findShares = `WITH RECURSIVE ${walk('ahead', '$3::text', 'true')},
       ${walk('behind', "''", 'team_id <= $3::text')},
       team AS (
         SELECT id FROM (SELECT * FROM ahead UNION ALL SELECT * FROM behind) AS walked
         WHERE due <= ${NOW} LIMIT ${MOST_TEAMS}
       )
       SELECT ${pending} FROM team, LATERAL (${findDue('*', `${ofTeam} AND team_id = team.id`, share)}) AS change`

  return {
    /** Adds changes, each with its own wait until it is due. */
    addChanges: engine.createInsert<NewChange>({
      name: 'add_changes',
      into: changes,
      columns: {
        second_level_domain: ['text', row => row.secondLevelDomain],
        domain_id: ['uuid', row => row.domainId],
        domain: ['text', row => row.domain],
        registrable_domain: ['text', row => row.registrableDomain],
        due: ['double precision', row => row.wait, afterWait],
        team_id: ['text', row => row.teamId],
        kind: ['text', row => row.kind],
        since: ['double precision', row => row.at.getTime(), toTime],
        follows: ['uuid', row => row.follows],
      },
    }),
    /** Replaces the IDs that changes follow: an ID in $2 becomes the ID at the same position in $3. */
    follow: unprepared(
      `UPDATE ${changes} AS change SET follows = asked.next
       FROM unnest($2::uuid[], $3::uuid[]) AS asked (domain_id, next)
       WHERE change.follows = asked.domain_id AND ${isOurs} ${engine.inShards('change', '$4')}`,
    ),

    /** Leases registrations to a call for $3 milliseconds, except any that are not yet due when the lease ends. */
    lease: unprepared(`UPDATE ${changes} AS change SET due = greatest(due, ${afterWait('$3')}) WHERE ${isNamed('$4')}`),
    /** Deletes pending registrations that a release replaces. */
    replace: prepared<Id>(
      'replace',
      `DELETE FROM ${changes} AS change WHERE ${isNamed('$3')} AND kind = 'registered' ${returningId}`,
    ),

    /**
     * Changes that are due more than $2 milliseconds from now were postponed while a clock was wrong. This statement
     * makes such changes of the line $1 due at once.
     */
    hasten: unprepared(
      `UPDATE ${changes} AS change SET due = ${NOW} WHERE ${isFree(`${inLine} AND due > ${afterWait('$2')}`)}`,
    ),
    /** Finds the due changes of the line $1, at most $2, except those that other sweeps are leasing. */
    findFirst: unprepared<PendingRow>(findDue(pending, inLine, '$2::bigint')),
    /** Finds the shares of $2 due changes of the line $1 for teams after $3, and then for those before. */
    findShares: unprepared<PendingRow>(findShares),
    /** Leases the found changes for $3 milliseconds, if they are still due. */
    take: unprepared<Id>(
      `UPDATE ${changes} AS change SET due = ${afterWait('$3')}, sweeps = sweeps + 1
       WHERE ${isNamed('$4')} AND due <= ${NOW} ${returningId}`,
    ),

    /** Makes changes follow nothing if they follow a registration that has been pushed. */
    free: prepared(
      'free',
      `UPDATE ${changes} AS change SET follows = NULL WHERE ${isFree(
        `follows = ANY ($2::uuid[]) AND ${isOurs} ${engine.inShards('change', '$3')}`,
      )}`,
    ),
    /**
     * Deletes pushed changes whose kind is still $3. A registration stays while a change follows it, because that
     * change was locked and could not be freed. It is pushed again.
     */
    finish: prepared(
      'finish',
      `DELETE FROM ${changes} AS change WHERE ${isFree(`${isNamed('$4')} AND kind = $3 AND (
         SELECT count(*) FROM ${changes} AS next
         WHERE next.follows = change.domain_id AND next.second_level_domain = change.second_level_domain
           ${engine.inShards('next', '$4')}
       ) = 0`)}`,
    ),
    /** Makes a release due at once if it replaced a registration that has now been pushed. */
    hastenReleases: prepared(
      'hasten_releases',
      `UPDATE ${changes} AS change SET due = ${NOW} WHERE ${isFree(`${isNamed('$3')} AND kind = 'released'`)}`,
    ),
    postpone: unprepared(postpone(changes, engine)),
    /** Deletes changes that an operator has settled, even leased ones. */
    settle: unprepared<Identified>(
      `DELETE FROM ${changes} AS change WHERE domain_id = ANY ($2::uuid[]) AND ${isOurs} ${returningId}, domain`,
    ),

    /** Finds failed changes that are not due, after the ID $1. */
    findFailed: unprepared<Id>(
      `SELECT ${toSelectList<Id>({ domainId: 'domain_id::text' })} FROM ${changes} AS change
       WHERE domain_id > $1::uuid AND ${isFailed} ORDER BY domain_id LIMIT $2::bigint`,
    ),
    /** Makes failed changes due at once, so the next sweep pushes them again. */
    retry: unprepared<Id>(
      `UPDATE ${changes} AS change SET due = ${NOW}
       WHERE ${isFree(`domain_id = ANY ($2::uuid[]) AND ${isOurs} AND ${isFailed}`)} ${returningId}`,
    ),
    /** The table `monitor` gets its row as soon as any process pushes changes. */
    findMonitor: unprepared<{ id: string }>(`SELECT id::text FROM ${monitor}`),
    addMonitor: unprepared(`INSERT INTO ${monitor} (id) VALUES (1) ON CONFLICT DO NOTHING`),

    countChanges: unprepared<StatsRow>(`SELECT ${stats} FROM ${changes}`),
    findLongestRefused: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS change WHERE line = 'refused' AND follows IS NULL AND line > ''
       ORDER BY since, domain_id LIMIT 1`,
    ),
    listChanges: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS change WHERE domain_id > $1::uuid ORDER BY domain_id LIMIT $2::bigint`,
    ),
  }
}

/**
 * Postpones changes that are not locked. The parameters are arrays: after the token, $2 contains their IDs, $3 their
 * kinds, $4 the waits, $5 the failures, and $6 the least numbers of refusals.
 */
function postpone(changes: string, engine: Engine): string {
  const rows = `unnest($2::uuid[], $3::text[], $4::double precision[], $5::text[], $6::integer[])
         AS asked (domain_id, kind, wait, failure, refusals)`
  const free = `(
         SELECT asked.* FROM ${rows} JOIN ${changes} AS change USING (domain_id, kind)
         FOR UPDATE OF change SKIP LOCKED
       ) AS asked`
  return `UPDATE ${changes} AS change
       SET due = ${afterWait('asked.wait')},
         refusals = greatest(change.refusals, asked.refusals),
         last_failure = coalesce(asked.failure, change.last_failure)
       FROM ${engine.skipLocked === '' ? rows : free}
       WHERE change.domain_id = asked.domain_id AND change.kind = asked.kind AND ${isOurs}
         ${engine.inShards('change', '$7')}`
}
