import { COUNTED_AT_LEAST, FOUND_BEHIND_SUFFIXES } from '../rules/registration.ts'
import { type LeasedRow, type NameRow, type PendingRow, type StatsRow, toSelectList } from '../store/rows.ts'
import { type Element, prepared, unprepared } from './connection.ts'
import type { Engine } from './engines.ts'
import type { Tables } from './schema.ts'

/** Returns the parameters of a statement on many rows: one array for each of the given properties. */
export const toArrays = <Name extends string>(
  rows: readonly Readonly<Record<Name, Element>>[],
  ...names: readonly Name[]
): Element[][] => names.map(name => rows.map(row => row[name]))

/**
 * SQL that converts a time to milliseconds since 1970. The result is a string, because drivers return times and large
 * numbers in different forms.
 */
export const toMilliseconds = (time: string) => `round(extract(epoch FROM ${time}) * 1000)::bigint::text`

/** SQL that converts milliseconds since 1970 to a time. */
export const toTime = (milliseconds: string) => `to_timestamp(${milliseconds} / 1000)`

/** A result row of a statement that returns the IDs of the rows that it changed. */
export interface Id {
  readonly domainId: string
}

const returningId = `RETURNING ${toSelectList<Id>({ domainId: 'domain_id::text' })}`

/** Sorts before all IDs. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Sorts after all IDs. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** All statements of the store, in the form that the given engine needs. */
export const createStatements = (tables: Tables, engine: Engine) => ({
  ...createNameStatements(tables, engine),
  ...createOutboxStatements(tables, engine),
})

export type Statements = ReturnType<typeof createStatements>

/** Statements on names. */
function createNameStatements({ names, changes, locks }: Tables, engine: Engine) {
  const selectNames = (condition = '') => {
    const isSame = 'waiting.domain_id = name.domain_id AND waiting.second_level_domain = name.second_level_domain'
    const row = toSelectList<NameRow>({
      domainId: 'name.domain_id::text',
      domain: 'name.domain',
      registrableDomain: 'name.registrable_domain',
      teamId: 'name.team_id',
      createdAt: toMilliseconds('name.created_at'),
      synchronized: `((SELECT waiting.kind FROM ${changes} AS waiting WHERE ${isSame} ${condition}) IS NULL)::text`,
    })
    return `SELECT ${row}`
  }

  return {
    /**
     * Inserts missing lock rows of registrable domains, and locks the existing ones, in the given order. The order must
     * be ascending, so that two calls cannot deadlock. `WHERE false` makes the statement lock a row without writing to
     * it.
     *
     * A concurrent call for the same registrable domain waits for these locks. Each call looks up names in separate
     * statements after this one, because under READ COMMITTED only later statements see the rows that were committed
     * during the wait.
     */
    lock: engine.createInsert({
      name: 'lock',
      into: `${locks} AS lock (second_level_domain, registrable_domain)`,
      types: ['text', 'text'],
      toRow: String,
      onConflict: `ON CONFLICT (second_level_domain, registrable_domain)
       DO UPDATE SET registrable_domain = excluded.registrable_domain WHERE false`,
    }),

    /**
     * Deletes lock rows, so unused registrable domains have none. A call that is waiting for a deleted lock row inserts
     * the row again.
     */
    unlock: unprepared(
      `DELETE FROM ${locks} AS lock
       USING unnest($1::text[], $2::text[]) AS asked (second_level_domain, registrable_domain)
       WHERE lock.second_level_domain = asked.second_level_domain
         AND lock.registrable_domain = asked.registrable_domain ${engine.inShards('lock', '$1')}`,
    ),

    /**
     * Finds names by their domain. On Citus, only the shards of the second-level domains in $2 are searched. A hash
     * index cannot be scanned in order, so the planner can choose only one plan, regardless of the size of the tables.
     */
    findByDomain: prepared<NameRow>(
      'find_by_domain',
      `${selectNames(engine.inShards('waiting', '$2'))}
       FROM unnest($1::text[]) AS asked (domain) JOIN ${names} AS name ON name.domain = asked.domain
       WHERE true ${engine.inShards('name', '$2')}`,
    ),
    findById: unprepared<NameRow>(`${selectNames()} FROM ${names} AS name WHERE name.domain_id = ANY ($1::uuid[])`),
    findBelow: unprepared<{ below: string }>(findBelow(names, engine)),

    insertNames: engine.createInsert({
      name: 'insert_names',
      into: `${names} (domain_id, second_level_domain, path, domain, registrable_domain, team_id, created_at)`,
      types: ['uuid', 'text', 'text', 'text', 'text', 'text', 'double precision'],
      toRow: values => `${values.slice(0, -1)}, ${toTime(values.at(-1) ?? '')}`,
    }),
    findTakenIds: unprepared<Id>(selectIds(names)),
    findPendingIds: unprepared<Id>(selectIds(changes)),

    /**
     * Transfers names: changes their IDs from $1 to $2, their team to $3 and their time to $4. No name is deleted, so
     * the application's rows that refer to these names are kept. `ON UPDATE CASCADE` gives those rows the new IDs.
     */
    transferNames: unprepared<Id>(
      `UPDATE ${names} AS name SET domain_id = asked.next, team_id = $3::text,
         created_at = ${toTime('$4::double precision')}
       FROM unnest($1::uuid[], $2::uuid[]) AS asked (former, next)
       WHERE name.domain_id = asked.former ${engine.inShards('name', '$5')} ${returningId}`,
    ),

    deleteNames: unprepared<Id>(
      `DELETE FROM ${names} AS name WHERE domain_id = ANY ($1::uuid[]) ${engine.inShards('name', '$2')}
       ${returningId}`,
    ),

    // Oldest first: IDs of version 7 sort by time.
    ...listsById(`${selectNames()} FROM ${names} AS name`),
    ...listsByName(`${selectNames('AND waiting.second_level_domain = $1')} FROM ${names} AS name`),

    count: unprepared<{ count: string }>(`SELECT count(*)::text AS count FROM ${names}`),
    countOfTeam: unprepared<{ count: string }>(`SELECT count(*)::text AS count FROM ${names} WHERE team_id = $1`),
  }
}

const selectIds = (table: string) =>
  `SELECT ${toSelectList<Id>({ domainId: 'domain_id::text' })} FROM ${table} WHERE domain_id = ANY ($1::uuid[])`

/**
 * Finds the names below several bases; on Citus, below one base. $1 to $4 are arrays with one element for each base. In
 * $1, this is the second-level domain of the base; in $2 and $3, `after` and `before` of its path range; in $4, an
 * array literal of registrable domains. A name below the base has one of these registrable domains, unless a public
 * suffix separates the name from the base. $5 is the team. Returns JSON, because drivers return arrays in different
 * forms.
 */
function findBelow(names: string, engine: Engine): string {
  const inRange = 'name.path > base.after AND name.path < base.before'
  const { secondLevelDomainOfBase, isInShardOfBase } = engine
  // Each condition matches exactly one index. The inner `LIMIT` also makes the planner begin with the registrable
  // domains instead of the names.
  const findWithin = (condition: string, limit: number) =>
    `SELECT found.domain FROM unnest(base.within::text[]) AS above (domain)
     CROSS JOIN LATERAL (
       SELECT name.domain FROM ${names} AS name
       WHERE name.registrable_domain = above.domain AND ${inRange} AND ${condition} ${isInShardOfBase} LIMIT ${limit}
     ) AS found LIMIT ${limit}`
  const findOwn = (limit: number) => findWithin("name.team_id = $5 AND name.path > ''", limit)
  return `SELECT json_build_object(
       'ownCount', own.count,
       'ownDomains', ARRAY(${findOwn(3)}),
       'heldByOthers', others.exist,
       'behindSuffixes', CASE WHEN own.count > 0 OR others.exist THEN '[]' ELSE (
         SELECT coalesce(json_agg(parted), '[]') FROM (
           SELECT name.domain, name.team_id AS "teamId" FROM ${names} AS name
           WHERE name.second_level_domain = ${secondLevelDomainOfBase} AND ${inRange}
           ORDER BY name.path LIMIT ${FOUND_BEHIND_SUFFIXES}
         ) AS parted
       ) END
     )::text AS below
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
       WITH ORDINALITY AS base (second_level_domain, after, before, within, position)
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS count FROM (${findOwn(COUNTED_AT_LEAST)}) AS counted
     ) AS own
     CROSS JOIN LATERAL (
       SELECT own.count = 0 AND EXISTS (${findWithin('name.domain <> name.registrable_domain', 1)}) AS exist
     ) AS others
     ORDER BY base.position`
}

const listsById = (select: string) => ({
  listOldest: unprepared<NameRow>(`${select} WHERE name.domain_id > $1::uuid ORDER BY name.domain_id LIMIT $2::bigint`),
  listNewest: unprepared<NameRow>(
    `${select} WHERE name.domain_id < $1::uuid ORDER BY name.domain_id DESC LIMIT $2::bigint`,
  ),
  // Compares pairs of columns. If single columns were compared, the planner might read the names of all teams in the
  // order of their IDs, and only then discard the names of other teams.
  listOldestOfTeam: unprepared<NameRow>(
    `${select} WHERE (name.team_id, name.domain_id) > ($3::text, $1::uuid)
       AND (name.team_id, name.domain_id) <= ($3::text, '${LAST_ID}'::uuid)
     ORDER BY name.team_id, name.domain_id LIMIT $2::bigint`,
  ),
  listNewestOfTeam: unprepared<NameRow>(
    `${select} WHERE (name.team_id, name.domain_id) < ($3::text, $1::uuid)
       AND (name.team_id, name.domain_id) >= ($3::text, '${FIRST_ID}'::uuid)
     ORDER BY name.team_id DESC, name.domain_id DESC LIMIT $2::bigint`,
  ),
})

const listsByName = (select: string) => {
  const inRange = 'name.second_level_domain = $1 AND name.path > $2 AND name.path < $3'
  return {
    listBelow: unprepared<NameRow>(
      `${select} WHERE ${inRange} ORDER BY name.second_level_domain, name.path LIMIT $4::bigint`,
    ),
    listBelowOfTeam: unprepared<NameRow>(`${select} WHERE ${inRange} AND name.team_id = $5
       ORDER BY name.second_level_domain, name.team_id, name.path LIMIT $4::bigint`),
  }
}

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
  refusals: 'waiting.refusals::text',
  at: toMilliseconds('waiting.since'),
}
const leased = toSelectList<LeasedRow>(waiting)
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
function createOutboxStatements({ changes, monitor }: Tables, engine: Engine) {
  const isNamed = (lastParameter: string) => `domain_id = ANY ($1::uuid[]) ${engine.inShards('waiting', lastParameter)}`
  /** Skips locked rows; see {@link Engine.skipLocked}. */
  const isFree = (condition: string) =>
    engine.skipLocked === ''
      ? condition
      : `domain_id = ANY (ARRAY(SELECT domain_id FROM ${changes} AS waiting WHERE ${condition} ${engine.skipLocked}))`
  const isFailed = `due > ${NOW} AND last_failure IS NOT NULL`

  const isAfterRegistration = `(SELECT followed.kind FROM ${changes} AS followed
         WHERE followed.domain_id = waiting.follows AND followed.second_level_domain = waiting.second_level_domain
       ) IS DISTINCT FROM 'registered'`
  const find = (condition: string) =>
    unprepared<LeasedRow>(
      `SELECT ${leased} FROM ${changes} AS waiting WHERE ${condition} AND due <= ${NOW} AND ${isAfterRegistration}
       ORDER BY due, domain_id LIMIT $1::bigint ${engine.skipLocked}`,
    )
  const hasten = (condition: string) =>
    unprepared(
      `UPDATE ${changes} AS waiting SET due = ${NOW} WHERE ${isFree(`${condition} AND due > ${afterWait('$1')}`)}`,
    )

  return {
    /** Adds changes, each with its own wait until it is due. */
    addChanges: engine.createInsert({
      name: 'add_changes',
      into: `${changes}
        (second_level_domain, domain_id, domain, registrable_domain, due, team_id, kind, since, follows)`,
      types: ['text', 'uuid', 'text', 'text', 'double precision', 'text', 'text', 'double precision', 'uuid'],
      toRow: ([secondLevelDomain, id, domain, registrableDomain, wait = '', teamId, kind, at = '', follows]) =>
        [secondLevelDomain, id, domain, registrableDomain, afterWait(wait), teamId, kind, toTime(at), follows].join(),
    }),
    /** Replaces the IDs that changes follow: an ID in $1 becomes the ID at the same position in $2. */
    follow: unprepared(
      `UPDATE ${changes} AS waiting SET follows = asked.next
       FROM unnest($1::uuid[], $2::uuid[]) AS asked (domain_id, next)
       WHERE waiting.follows = asked.domain_id ${engine.inShards('waiting', '$3')}`,
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
    /** Deletes changes that an operator has settled, even leased ones. */
    settle: unprepared<Id>(`DELETE FROM ${changes} AS waiting WHERE domain_id = ANY ($1::uuid[]) ${returningId}`),

    /** Finds failed changes that are not due, after the ID $1. */
    findFailed: unprepared<Id>(
      `SELECT ${toSelectList<Id>({ domainId: 'domain_id::text' })} FROM ${changes} AS waiting
       WHERE domain_id > $1::uuid AND ${isFailed} ORDER BY domain_id LIMIT $2::bigint`,
    ),
    /** Makes failed changes due at once, so the next sweep pushes them again. */
    retry: unprepared<Id>(
      `UPDATE ${changes} AS waiting SET due = ${NOW}
       WHERE ${isFree(`domain_id = ANY ($1::uuid[]) AND ${isFailed}`)} ${returningId}`,
    ),
    /** The table `monitor` gets its row as soon as any process pushes changes. */
    findMonitor: unprepared<{ id: string }>(`SELECT id::text FROM ${monitor}`),
    addMonitor: unprepared(`INSERT INTO ${monitor} (id) VALUES (1) ON CONFLICT DO NOTHING`),

    countChanges: unprepared<StatsRow>(`SELECT ${stats} FROM ${changes}`),
    findLongestRefused: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS waiting WHERE refusals > 0 ORDER BY since, domain_id LIMIT 1`,
    ),
    listChanges: unprepared<PendingRow>(
      `SELECT ${pending} FROM ${changes} AS waiting WHERE domain_id > $1::uuid ORDER BY domain_id LIMIT $2::bigint`,
    ),
  }
}

/**
 * Postpones changes that are not locked. The parameters are arrays: $1 contains their IDs, $2 their kinds, $3 the
 * waits, $4 the failures, and $5 the least numbers of refusals.
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
         refusals = greatest(waiting.refusals, asked.refusals),
         last_failure = coalesce(asked.failure, waiting.last_failure)
       FROM ${engine.skipLocked === '' ? rows : free}
       WHERE waiting.domain_id = asked.domain_id AND waiting.kind = asked.kind ${engine.inShards('waiting', '$6')}`
}
