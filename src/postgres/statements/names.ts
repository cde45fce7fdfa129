import { COUNTED_AT_LEAST, FOUND_BEHIND_SUFFIXES, type Registration } from '../../rules/registration.ts'
import { FIRST_ID, LAST_ID } from '../../sql/list-query.ts'
import { type NameRow, toSelectList } from '../../sql/rows.ts'
import type { NameKey } from '../../store/name-key.ts'
import type { Engine } from '../engines/engine.ts'
import type { Tables } from '../schema.ts'
import { type Id, isOurs, prepared, returningId, toMilliseconds, toTime, unprepared } from './sql.ts'

export function createNameStatements({ names, changes }: Tables, engine: Engine) {
  const selectNames = (condition = '') => {
    const isSame = 'change.domain_id = name.domain_id AND change.second_level_domain = name.second_level_domain'
    const row = toSelectList<NameRow>({
      domainId: 'name.domain_id::text',
      domain: 'name.domain',
      registrableDomain: 'name.registrable_domain',
      teamId: 'name.team_id',
      createdAt: toMilliseconds('name.created_at'),
      synchronized: `((SELECT change.kind FROM ${changes} AS change WHERE ${isSame} ${condition}) IS NULL)::text`,
    })
    return `SELECT ${row}`
  }

  const hasKey = 'name.second_level_domain = asked.second_level_domain AND name.path = asked.path'
  const find = (asked: string) =>
    `${selectNames(engine.inShards('change', '$1'))}
     FROM ${asked}
     ${engine.joinOne(names, 'name', hasKey)}
     WHERE true ${engine.inShards('name', '$1')}`
  return {
    findByDomain: prepared<NameRow>(
      'find_by_domain',
      find('unnest($1::text[], $2::text[]) AS asked (second_level_domain, path)'),
    ),
    /** Finds wildcards; see {@link WildcardKeys}. $3 contains the cuts of each path, as an array literal. */
    findWildcards: unprepared<NameRow>(
      find(
        `(SELECT second_level_domain, left(path, unnest(cuts::integer[])) || '.*' AS path
          FROM unnest($1::text[], $2::text[], $3::text[]) AS below (second_level_domain, path, cuts)) AS asked`,
      ),
    ),
    findById: unprepared<NameRow>(`${selectNames()} FROM ${names} AS name WHERE name.domain_id = ANY ($1::uuid[])`),
    findBelow: unprepared<{ below: string }>(findBelow(names, engine)),

    insertNames: engine.createInsert<{ readonly registration: Registration; readonly key: NameKey }>({
      name: 'insert_names',
      into: names,
      columns: {
        domain_id: ['uuid', row => row.registration.domainId],
        second_level_domain: ['text', row => row.key.secondLevelDomain],
        path: ['text', row => row.key.path],
        domain: ['text', row => row.registration.domain],
        registrable_domain: ['text', row => row.registration.registrableDomain],
        team_id: ['text', row => row.registration.teamId],
        created_at: ['double precision', row => row.registration.createdAt.getTime(), toTime],
      },
    }),
    findTakenIds: unprepared<Id>(selectIds(names)),
    findPendingIds: unprepared<Id>(selectIds(changes)),

    /**
     * Transfers names: changes their IDs from $2 to $3, their team to $4 and their time to $5. No name is deleted, so
     * the application's rows that refer to these names are kept. `ON UPDATE CASCADE` gives those rows the new IDs.
     */
    transferNames: unprepared<Id>(
      `UPDATE ${names} AS name SET domain_id = asked.next, team_id = $4::text,
         created_at = ${toTime('$5::double precision')}
       FROM unnest($2::uuid[], $3::uuid[]) AS asked (former, next)
       WHERE name.domain_id = asked.former AND ${isOurs} ${engine.inShards('name', '$6')} ${returningId}`,
    ),

    deleteNames: unprepared<Id>(
      `DELETE FROM ${names} AS name WHERE domain_id = ANY ($2::uuid[]) AND ${isOurs}
       ${engine.inShards('name', '$3')} ${returningId}`,
    ),

    // Oldest first: IDs of version 7 sort by time.
    ...listsById(`${selectNames()} FROM ${names} AS name`),
    ...listsByName(selectNames('AND change.second_level_domain = $1'), names, engine),

    count: unprepared<{ count: string }>(`SELECT count(*)::text AS count FROM ${names}`),
    countOfTeam: unprepared<{ count: string }>(`SELECT count(*)::text AS count FROM ${names} WHERE team_id = $1`),
  }
}

const selectIds = (table: string) =>
  `SELECT ${toSelectList<Id>({ domainId: 'domain_id::text' })} FROM ${table} WHERE domain_id = ANY ($1::uuid[])`

/**
 * Finds the names below several bases, or below one if tables are distributed. $1 to $4 are arrays with one element for
 * each base. In $1, this is the second-level domain of the base; in $2 and $3, `after` and `before` of its path range;
 * in $4, an array literal of registrable domains. A name below the base has one of these registrable domains, unless a
 * public suffix separates the name from the base. $5 is the team. Returns JSON, because drivers return arrays in
 * different forms.
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

/** The names of one team are in two indexes, because both together are smaller than one for all names. */
function listsByName(select: string, names: string, engine: Engine) {
  const inRange = 'name.path > $2 AND name.path < $3'
  const ofTeam = (column: string, condition: string) =>
    `(SELECT * FROM ${names} AS name WHERE name.${column} = $1 AND ${condition} AND ${inRange} AND name.team_id = $5
        ${engine.inShards('name', 'ARRAY[$1]')} ORDER BY name.${column}, name.team_id, name.path LIMIT $4::bigint)`
  return {
    listBelow: unprepared<NameRow>(
      `${select} FROM ${names} AS name WHERE name.second_level_domain = $1 AND ${inRange}
       ORDER BY name.second_level_domain, name.path LIMIT $4::bigint`,
    ),
    listBelowOfTeam: unprepared<NameRow>(
      `${select} FROM (${ofTeam('registrable_domain', "name.path > ''")} UNION ALL
        ${ofTeam('second_level_domain', 'name.registrable_domain <> name.second_level_domain')}) AS name
       ORDER BY name.path LIMIT $4::bigint`,
    ),
  }
}
