import { COUNTED_AT_LEAST, FOUND_BEHIND_SUFFIXES, type ListedRegistration } from '../registry/store.ts'
import { createInsert } from './insert.ts'
import { prepare, unprepared } from './prepare.ts'
import type { Tables } from './schema.ts'
import type { Engine } from './settings.ts'

/** Sorts before all IDs. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Sorts after all IDs. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export interface NameRow {
  readonly domain_id: string
  readonly domain: string
  readonly registrable_domain: string
  readonly team_id: string
  /** In milliseconds since 1970, as text, since drivers read times and large numbers differently. */
  readonly created_at: string
  readonly synchronized: boolean
}

export interface BelowRow {
  readonly own_count: number
  /** As JSON, since drivers read arrays differently. */
  readonly own_domains: string
  readonly held: boolean
  readonly behind: string
}

export const toMilliseconds = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint::text`

export const toRegistration = (row: NameRow): ListedRegistration => ({
  domainId: row.domain_id,
  domain: row.domain,
  registrableDomain: row.registrable_domain,
  teamId: row.team_id,
  synchronized: row.synchronized,
  createdAt: new Date(Number(row.created_at)),
})

/** Statements on names. */
export function createNameStatements({ names, changes, locks }: Tables, engine: Engine) {
  const selectNames = (condition = '') => `SELECT name.domain_id::text AS domain_id, name.domain,
      name.registrable_domain, name.team_id, ${toMilliseconds('name.created_at')} AS created_at,
      (
        SELECT waiting.kind FROM ${changes} AS waiting
        WHERE waiting.domain_id = name.domain_id AND waiting.second_level_domain = name.second_level_domain ${condition}
      ) IS NULL AS synchronized`

  return {
    /**
     * Inserts the lock rows of registrable domains that have none, and locks the existing ones, in the given order: it
     * must be ascending, so that two calls cannot deadlock. `WHERE false` locks a row without writing to it.
     *
     * A concurrent call for the same registrable domain waits. Its look-ups are separate statements, because only those
     * have a snapshot from after the wait (READ COMMITTED). An engine that may only have snapshot isolation learns of
     * the other call by a write.
     */
    claim: createInsert(engine, {
      name: 'claim',
      into: `${locks} AS lock (second_level_domain, registrable_domain)`,
      types: ['text', 'text'],
      toRow: String,
      onConflict: `ON CONFLICT (second_level_domain, registrable_domain)
       DO UPDATE SET registrable_domain = excluded.registrable_domain${engine === 'other' ? '' : ' WHERE false'}`,
    }),

    findNames: prepare<NameRow>('find_names', findNames(names, engine, selectNames)),
    findIds: unprepared<NameRow>(`${selectNames()} FROM ${names} AS name WHERE name.domain_id = ANY ($1::uuid[])`),
    findBelow: unprepared<BelowRow>(findBelow(names, engine)),

    insertNames: createInsert(engine, {
      name: 'insert_names',
      into: `${names} (domain_id, second_level_domain, path, domain, registrable_domain, team_id, created_at)`,
      types: ['uuid', 'text', 'text', 'text', 'text'],
      toRow: elements => `${elements}, $6::text, statement_timestamp()`,
    }),

    deleteNames: unprepared<{ domain_id: string }>(
      `DELETE FROM ${names} AS name
       WHERE name.domain_id = ANY ($2::uuid[]) AND name.second_level_domain = ANY ($1::text[])
       RETURNING name.domain_id::text AS domain_id`,
    ),

    // IDs of version 7 sort by time.
    ...listsById(`${selectNames()} FROM ${names} AS name`),
    ...listsByName(`${selectNames('AND waiting.second_level_domain = $1')} FROM ${names} AS name`),

    countAll: unprepared<CountRow>(`SELECT count(*)::text AS count FROM ${names}`),
    countTeam: unprepared<CountRow>(`SELECT count(*)::text AS count FROM ${names} WHERE team_id = $1`),
  }
}

export interface CountRow {
  readonly count: string
}

/**
 * Finds names by their texts; on Citus by their second-level domains and paths too, which choose the shards of each
 * table. Those conditions have a collation that no index has, so that none is walked for them.
 */
function findNames(names: string, engine: Engine, select: (condition?: string) => string): string {
  // A hash index cannot be walked: there is no other plan, whatever the size of the tables.
  if (engine !== 'Citus')
    return `${select()} FROM unnest($1::text[]) AS asked (domain) JOIN ${names} AS name ON name.domain = asked.domain`
  const isInShard = `second_level_domain = ANY ($2::text[] COLLATE "default")`
  return `${select(`AND waiting.${isInShard}`)}
    FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (domain, second_level_domain, path)
    JOIN ${names} AS name USING (second_level_domain, path) WHERE name.${isInShard}`
}

/**
 * Finds what is below bases; on Citus, below one. $1 to $3 are their second-level domains and ranges of paths, $4 the
 * lengths of the bases, $5 the team.
 */
function findBelow(names: string, engine: Engine): string {
  const inRange = `name.second_level_domain = ${engine === 'Citus' ? '($1::text[])[1]' : 'base.second_level_domain'}
           AND name.path > base.after AND name.path < base.before`
  const isWithin = 'length(name.registrable_domain) <= base.length'
  const own = `FROM ${names} AS name WHERE ${inRange} AND name.team_id = $5 AND ${isWithin}`
  return `SELECT own.count AS own_count,
       array_to_json(ARRAY(SELECT name.domain ${own} ORDER BY name.path LIMIT 3))::text AS own_domains,
       others.held,
       CASE WHEN own.count > 0 OR others.held THEN '[]' ELSE (
         SELECT coalesce(json_agg(parted), '[]')::text FROM (
           SELECT name.domain, name.team_id AS "teamId" FROM ${names} AS name WHERE ${inRange}
           ORDER BY name.path LIMIT ${FOUND_BEHIND_SUFFIXES}
         ) AS parted
       ) END AS behind
     FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[])
       WITH ORDINALITY AS base (second_level_domain, after, before, length, position)
     CROSS JOIN LATERAL (
       SELECT count(*)::integer AS count FROM (SELECT ${own} LIMIT ${COUNTED_AT_LEAST}) AS counted
     ) AS own
     CROSS JOIN LATERAL (
       SELECT own.count = 0 AND EXISTS (SELECT FROM ${names} AS name WHERE ${inRange} AND ${isWithin}) AS held
     ) AS others
     ORDER BY base.position`
}

const listsById = (select: string) => ({
  listOldest: unprepared<NameRow>(`${select} WHERE name.domain_id > $1::uuid ORDER BY name.domain_id LIMIT $2::bigint`),
  listNewest: unprepared<NameRow>(
    `${select} WHERE name.domain_id < $1::uuid ORDER BY name.domain_id DESC LIMIT $2::bigint`,
  ),
  // Rows are compared, and no column alone: else the planner may read all by ID, and drop what is of other teams.
  listTeamOldest: unprepared<NameRow>(
    `${select} WHERE (name.team_id, name.domain_id) > ($3::text, $1::uuid)
       AND (name.team_id, name.domain_id) <= ($3::text, '${LAST_ID}'::uuid)
     ORDER BY name.team_id, name.domain_id LIMIT $2::bigint`,
  ),
  listTeamNewest: unprepared<NameRow>(
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
    listTeamBelow: unprepared<NameRow>(`${select} WHERE ${inRange} AND name.team_id = $5
       ORDER BY name.second_level_domain, name.team_id, name.path LIMIT $4::bigint`),
  }
}
