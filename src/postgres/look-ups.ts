import { COUNTED_AT_LEAST } from '../registry/store.ts'
import { prepare } from './prepare.ts'
import type { HeadRow, NameRow } from './rows.ts'
import type { Tables } from './schema.ts'
import { isByKey, isHeadOf } from './settings.ts'

export interface BelowRow {
  /** The position of the base among the given ones, from 1. */
  readonly position: number
  readonly own_count: number
  readonly first: string | null
  readonly second: string | null
  readonly third: string | null
  readonly held: boolean
}

/**
 * Look-ups in registrable domains, for a transaction that has claimed them. Joins go from the parameters to the index
 * of the key, whatever the size of the tables; see settings.ts. They also prune partitions, which `= ANY ($1)` does not
 * do in a generic plan.
 */
export function createLookUps({ names }: Tables) {
  const columns = ['registrable_domain', 'path', 'inlined_path', 'domain_id', 'team_id', 'due IS NULL AS synchronized']
    .map(column => `name.${column}`)
    .join(', ')
  const ownBelow = `FROM ${names} AS name
    WHERE name.registrable_domain = head.registrable_domain AND name.team_id = $4
      AND name.path > base.after AND name.path < base.before AND name.path <> ''`
  const own = (offset: number) => `(SELECT name.path ${ownBelow} ORDER BY name.path OFFSET ${offset} LIMIT 1)`
  return {
    /**
     * Finds the head rows that existed before the claims in $2, and the names below them with the paths in $3, which
     * holds an array literal for each. A registrable domain whose head row was made by the claim holds nothing else.
     */
    findNames: prepare<HeadRow>(
      'find_names',
      `WITH head AS MATERIALIZED (
         SELECT ${columns}, asked.paths
         FROM unnest($1::text[], $2::uuid[], $3::text[]) AS asked (registrable_domain, claim, paths)
         JOIN ${names} AS name ON ${isHeadOf('name', 'asked')}
         WHERE name.domain_id IS DISTINCT FROM asked.claim
       )
       SELECT registrable_domain, path, inlined_path, domain_id, team_id, synchronized FROM head
       UNION ALL
       SELECT ${columns}
       FROM (SELECT registrable_domain, unnest(paths::text[]) AS path FROM head) AS asked
       JOIN ${names} AS name ON ${isByKey('name', 'asked')} AND name.path = asked.path`,
    ),

    /** Finds the names below bases, except inlined ones, which come with their head rows. */
    findBelow: prepare<BelowRow>(
      'find_below',
      `SELECT base.position::integer,
         (SELECT count(*) FROM (SELECT ${ownBelow} LIMIT ${COUNTED_AT_LEAST}) AS own)::integer AS own_count,
         ${own(0)} AS first, ${own(1)} AS second, ${own(2)} AS third,
         EXISTS (
           SELECT FROM ${names} AS name
           WHERE name.registrable_domain = head.registrable_domain
             AND name.path > base.after AND name.path < base.before
         ) AS held
       FROM unnest($1::text[], $2::text[], $3::text[], $5::uuid[])
         WITH ORDINALITY AS base (registrable_domain, after, before, claim, position)
       JOIN ${names} AS head ON ${isHeadOf('head', 'base')}
       WHERE head.domain_id IS DISTINCT FROM base.claim`,
    ),

    /** Pages in the order of registration: IDs of version 7 sort by time. */
    listAll: prepare<NameRow>(
      'list_all',
      `SELECT ${columns} FROM ${names} AS name WHERE name.domain_id > $1 ORDER BY name.domain_id LIMIT $2`,
    ),
    listTeam: prepare<NameRow>(
      'list_team',
      `SELECT ${columns} FROM ${names} AS name
       WHERE name.domain_id > $1 AND name.team_id = $3 ORDER BY name.team_id, name.domain_id LIMIT $2`,
    ),

    /** Reads the rows after a key, in the order of keys. */
    walk: prepare<HeadRow>(
      'walk',
      `SELECT ${columns} FROM ${names} AS name
       WHERE (name.registrable_domain, name.path) > ($1, $2) ORDER BY name.registrable_domain, name.path LIMIT $3`,
    ),
  }
}
