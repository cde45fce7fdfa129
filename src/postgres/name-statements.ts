import { type NameRow, toSelectList } from '../registry/row.ts'
import { COUNTED_AT_LEAST, FOUND_BEHIND_SUFFIXES } from '../registry/store.ts'
import { type Engine, inShards } from './engine.ts'
import { createInsert } from './insert.ts'
import type { Tables } from './schema.ts'
import { type Id, prepared, returningId, toMilliseconds, toTime, unprepared } from './statement.ts'

/** Sorts before all IDs. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Sorts after all IDs. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Statements on names. */
export function createNameStatements({ names, changes, locks }: Tables, engine: Engine) {
  const selectNames = (condition = '') => {
    const isSame = 'waiting.domain_id = name.domain_id AND waiting.second_level_domain = name.second_level_domain'
    const row = toSelectList<NameRow>({
      domainId: 'name.domain_id::text',
      domain: 'name.domain',
      registrableDomain: 'name.registrable_domain',
      teamId: 'name.team_id',
      createdAt: toMilliseconds('name.created_at'),
      synchronized: `(SELECT waiting.kind FROM ${changes} AS waiting WHERE ${isSame} ${condition}) IS NULL`,
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
     * during the wait. Other engines may have only snapshot isolation, which detects a concurrent call only if the lock
     * writes to the row.
     */
    claim: createInsert(engine, {
      name: 'claim',
      into: `${locks} AS lock (second_level_domain, registrable_domain)`,
      types: ['text', 'text'],
      toRow: String,
      onConflict: `ON CONFLICT (second_level_domain, registrable_domain)
       DO UPDATE SET registrable_domain = excluded.registrable_domain${engine === 'other' ? '' : ' WHERE false'}`,
    }),

    /**
     * Deletes lock rows, so unused registrable domains have none. A call that is waiting for a deleted lock row inserts
     * the row again.
     */
    unlock: unprepared(
      `DELETE FROM ${locks} AS lock
       USING unnest($1::text[], $2::text[]) AS asked (second_level_domain, registrable_domain)
       WHERE lock.second_level_domain = asked.second_level_domain
         AND lock.registrable_domain = asked.registrable_domain ${inShards(engine, 'lock', '$1')}`,
    ),

    findNames: prepared<NameRow>('find_names', findNames(names, engine, selectNames)),
    findIds: unprepared<NameRow>(`${selectNames()} FROM ${names} AS name WHERE name.domain_id = ANY ($1::uuid[])`),
    findBelow: unprepared<{ below: string }>(findBelow(names, engine)),

    insertNames: createInsert(engine, {
      name: 'insert_names',
      into: `${names} (domain_id, second_level_domain, path, domain, registrable_domain, team_id, created_at)`,
      types: ['uuid', 'text', 'text', 'text', 'text'],
      shared: ['text', 'double precision'],
      toRow: (values, [teamId, createdAt = '']) => `${values}, ${teamId}, ${toTime(createdAt)}`,
    }),

    /** Inserts names, each with its own team and its own time in milliseconds. */
    insertAsGiven: createInsert(engine, {
      name: 'insert_as_given',
      into: `${names} (domain_id, second_level_domain, path, domain, registrable_domain, team_id, created_at)`,
      types: ['uuid', 'text', 'text', 'text', 'text', 'text', 'double precision'],
      toRow: elements => `${elements.slice(0, 6)}, ${toTime(elements[6] ?? '')}`,
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
       WHERE name.domain_id = asked.former ${inShards(engine, 'name', '$5')} ${returningId}`,
    ),

    deleteNames: unprepared<Id>(
      `DELETE FROM ${names} AS name WHERE domain_id = ANY ($1::uuid[]) ${inShards(engine, 'name', '$2')}
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

/** Finds names by their domain. On Citus, only the shards of the second-level domains in $2 are searched. */
function findNames(names: string, engine: Engine, select: (condition?: string) => string): string {
  // A hash index cannot be scanned in order, so the planner can choose only one plan, regardless of the size of the
  // tables.
  return `${select(inShards(engine, 'waiting', '$2'))}
    FROM unnest($1::text[]) AS asked (domain) JOIN ${names} AS name ON name.domain = asked.domain
    WHERE true ${inShards(engine, 'name', '$2')}`
}

/**
 * Finds the names below several bases; on Citus, below one base. $1 to $4 are arrays with one element for each base. In
 * $1, this is the second-level domain of the base; in $2 and $3, `after` and `before` of its path range; in $4, an
 * array literal of registrable domains. A name below the base has one of these registrable domains, unless a public
 * suffix separates the name from the base. $5 is the team. Returns JSON, because drivers return arrays in different
 * forms.
 */
function findBelow(names: string, engine: Engine): string {
  const inRange = 'name.path > base.after AND name.path < base.before'
  const secondLevelDomain = engine === 'Citus' ? '($1::text[])[1]' : 'base.second_level_domain'
  // With the column's own collation, the planner would choose an index in which it also has to read all names that a
  // public suffix separates from the base. With the collation POSIX, the planner cannot use that index.
  const inShard = engine === 'Citus' ? `AND name.second_level_domain = (($1::text[])[1] COLLATE "POSIX")` : ''
  // Each condition matches exactly one index. The inner `LIMIT` also makes the planner begin with the registrable
  // domains instead of the names.
  const findWithin = (condition: string, limit: number) =>
    `SELECT held.domain FROM unnest(base.within::text[]) AS above (domain)
     CROSS JOIN LATERAL (
       SELECT name.domain FROM ${names} AS name
       WHERE name.registrable_domain = above.domain AND ${inRange} AND ${condition} ${inShard} LIMIT ${limit}
     ) AS held LIMIT ${limit}`
  const findOwn = (limit: number) => findWithin("name.team_id = $5 AND name.path > ''", limit)
  return `SELECT json_build_object(
       'ownCount', own.count,
       'ownDomains', ARRAY(${findOwn(3)}),
       'heldByOthers', others.held,
       'behindSuffixes', CASE WHEN own.count > 0 OR others.held THEN '[]' ELSE (
         SELECT coalesce(json_agg(parted), '[]') FROM (
           SELECT name.domain, name.team_id AS "teamId" FROM ${names} AS name
           WHERE name.second_level_domain = ${secondLevelDomain} AND ${inRange}
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
       SELECT own.count = 0 AND EXISTS (${findWithin('name.domain <> name.registrable_domain', 1)}) AS held
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
