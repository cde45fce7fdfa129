import type { Settings, Statement } from './connection.ts'
import { CROWD, type Tables } from './schema.ts'

/** The row of a name. */
export interface NameRow {
  readonly registrable_domain: string
  readonly path: string
  /** Where the row is that of a registrable domain, and the name another: its path. */
  readonly guest_path: string | null
  readonly domain_id: string
  readonly team_id: string
  readonly synchronized: boolean
}

/** The row of a registrable domain that stands for no name. */
export interface EmptyZoneRow extends Omit<NameRow, 'guest_path' | 'domain_id' | 'team_id'> {
  readonly guest_path: null
  readonly domain_id: null
  readonly team_id: null
}

/** The row of a registrable domain under lock, with a name of it if it has one. */
export type ZoneRow = (NameRow | EmptyZoneRow) & { readonly crowded: boolean }

export interface BelowRow {
  /** Of the base among those asked for, from 1. */
  readonly position: number
  readonly own_count: number
  readonly first: string | null
  readonly second: string | null
  readonly third: string | null
  readonly held: boolean
}

/**
 * A setting by which a transaction remembers, in the server, that it has found a registrable domain: then it is `yes`.
 */
export const FOUND_ZONES = 'domain_registration.found_zones'

/** {@link Below} may stop counting here. */
export const COUNTED = 1000

/**
 * All statements of the store. Each is planned such that it walks an index from key to key whatever the tables hold,
 * also when the plan was made while they were empty: a subquery that depends on what stands left of it, with a `LIMIT`
 * or `OFFSET`, leaves the planner no other order; see also {@link toOpening}. It also looks only into the partition of
 * each key, which `= ANY ($1)` does not in a plan that is kept.
 */
export function createStatements({ names }: Tables) {
  const copyName = `INSERT INTO ${names} AS zone
      (registrable_domain, path, guest_path, domain_id, team_id, created_at, synchronized, crowded)
    SELECT $3::text, $4::text, nullif($5::text, ''), domain_id, team_id, created_at, synchronized, $6::boolean
    FROM ${names} WHERE registrable_domain = $1 AND path = $2`
  return {
    /**
     * Locks registrable domains, in the order given, so that no two calls wait for each other. Their own rows are
     * answered as the last holder of the lock left them; of all else only what the *next* statement sees is: in READ
     * COMMITTED each has a snapshot of its own.
     *
     * Those without a row are not locked: the call that is first to insert one locks it by that, and a second one fails
     * with a unique violation and begins again.
     *
     * The first row found leaves word for `findNames` and `insertNames`, in a setting of the transaction.
     */
    lockZones: prepare<ZoneRow>(
      'lock_zones',
      `SELECT zone.*, (SELECT set_config('${FOUND_ZONES}', 'yes', true)) AS word
       FROM unnest($1::text[]) AS asked (registrable_domain)
       CROSS JOIN LATERAL (
         SELECT registrable_domain, path, guest_path, domain_id, team_id, synchronized, crowded FROM ${names} AS name
         WHERE name.registrable_domain = asked.registrable_domain AND name.path = ''
         FOR UPDATE
       ) AS zone`,
    ),

    /**
     * Names below registrable domains, all of one in one walk: the paths of each are the part of $4 from its number in
     * $2 to that in $3, counted from 1. Where no registrable domain has a row, as in most calls of new names, there is
     * nothing below any, and nothing is looked up.
     */
    findNames: prepare<NameRow>(
      'find_names',
      `SELECT held.* FROM unnest($1::text[], $2::integer[], $3::integer[]) AS asked (registrable_domain, first, last)
       CROSS JOIN LATERAL (
         SELECT registrable_domain, path, guest_path, domain_id, team_id, synchronized FROM ${names} AS name
         WHERE name.registrable_domain = asked.registrable_domain AND name.path = ANY (($4::text[])[asked.first:asked.last])
         OFFSET 0
       ) AS held
       WHERE current_setting('${FOUND_ZONES}', true) = 'yes'`,
    ),

    /** In a crowd the names of the team have an index; elsewhere there are few to look at. */
    findBelow: prepare<BelowRow>(
      'find_below',
      `SELECT base.position::integer, own.count::integer AS own_count,
         own.paths[1] AS first, own.paths[2] AS second, own.paths[3] AS third,
         own.count > 0 OR EXISTS (
           SELECT FROM ${names} AS name
           WHERE name.registrable_domain = base.registrable_domain AND name.path > base.after AND name.path < base.before
         ) AS held
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS base (registrable_domain, after, before, position)
       CROSS JOIN LATERAL (
         SELECT crowded FROM ${names} AS name
         WHERE name.registrable_domain = base.registrable_domain AND name.path = ''
         LIMIT 1
       ) AS zone
       CROSS JOIN LATERAL (
         SELECT count(*), (array_agg(path))[1:3] AS paths FROM (
           (SELECT path FROM ${names} AS name
            WHERE zone.crowded AND name.crowded AND name.team_id = $4
              AND name.registrable_domain = base.registrable_domain AND name.path > base.after AND name.path < base.before
            LIMIT ${COUNTED})
           UNION ALL
           (SELECT path FROM ${names} AS name
            WHERE NOT zone.crowded AND name.team_id = $4
              AND name.registrable_domain = base.registrable_domain AND name.path > base.after AND name.path < base.before
            LIMIT ${COUNTED})
         ) AS found
       ) AS own`,
    ),

    /** New rows in the order given; with $8 only where `lockZones` has found none. */
    insertNames: prepare(
      'insert_names',
      `INSERT INTO ${names} (registrable_domain, path, guest_path, domain_id, team_id, created_at, synchronized, crowded)
       SELECT registrable_domain, path, nullif(guest_path, ''), domain_id, $5::text, now(), $6::boolean,
         registrable_domain = ANY ($7::text[])
       FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) AS new (registrable_domain, path, guest_path, domain_id)
       WHERE NOT $8::boolean OR current_setting('${FOUND_ZONES}', true) IS DISTINCT FROM 'yes'`,
    ),

    /** Gives the guests of registrable domains, which are under lock, rows of their own. */
    moveGuestsOut: prepare(
      'move_guests_out',
      `INSERT INTO ${names} (registrable_domain, path, domain_id, team_id, created_at, synchronized, crowded)
       SELECT guest.* FROM unnest($1::text[]) AS zone (registrable_domain)
       CROSS JOIN LATERAL (
         SELECT registrable_domain, guest_path, domain_id, team_id, created_at, synchronized, crowded FROM ${names} AS name
         WHERE name.registrable_domain = zone.registrable_domain AND name.path = '' AND name.guest_path IS NOT NULL
         LIMIT 1
       ) AS guest`,
    ),

    /**
     * Registers registrable domains that have a row already, from which a guest has moved out, and are under lock.
     * Written as an upsert, which goes by key.
     */
    occupyZones: prepare(
      'occupy_zones',
      `INSERT INTO ${names} AS zone (registrable_domain, path, domain_id, team_id, created_at, synchronized)
       SELECT registrable_domain, '', domain_id, $3::text, now(), $4::boolean
       FROM unnest($1::text[], $2::uuid[]) AS new (registrable_domain, domain_id)
       ON CONFLICT (registrable_domain, path) DO UPDATE SET (guest_path, domain_id, team_id, created_at, synchronized) =
         (NULL, excluded.domain_id, excluded.team_id, excluded.created_at, excluded.synchronized)`,
    ),

    /**
     * Marks the names of registrable domains that have become crowded; those have at most ${CROWD} names and one
     * call's.
     */
    markCrowds: prepare(
      'mark_crowds',
      `INSERT INTO ${names} (registrable_domain, path, domain_id)
       SELECT name.* FROM unnest($1::text[]) AS zone (registrable_domain)
       CROSS JOIN LATERAL (
         SELECT count(*) FROM (
           SELECT FROM ${names} AS name WHERE name.registrable_domain = zone.registrable_domain LIMIT ${CROWD + 1}
         ) AS found
       ) AS size
       CROSS JOIN LATERAL (
         SELECT registrable_domain, path, domain_id FROM ${names} AS name
         WHERE size.count > ${CROWD} AND NOT name.crowded AND name.registrable_domain = zone.registrable_domain
         OFFSET 0
       ) AS name
       ON CONFLICT (registrable_domain, path) DO UPDATE SET crowded = true`,
    ),

    /** Only what is still there under its ID; the locks are held. */
    markSynchronized: prepare(
      'mark_synchronized',
      `INSERT INTO ${names} (registrable_domain, path, domain_id)
       SELECT pushed.* FROM unnest($1::text[], $2::text[], $3::uuid[]) AS pushed (registrable_domain, path, domain_id)
       CROSS JOIN LATERAL (
         SELECT FROM ${names} AS name
         WHERE name.registrable_domain = pushed.registrable_domain AND name.path = pushed.path
           AND name.domain_id = pushed.domain_id
         LIMIT 1
       ) AS held
       ON CONFLICT (registrable_domain, path) DO UPDATE SET synchronized = true`,
    ),

    findPending: prepare<NameRow>(
      'find_pending',
      `SELECT registrable_domain, path, guest_path, domain_id, team_id, synchronized FROM ${names}
       WHERE NOT synchronized ORDER BY domain_id LIMIT $1`,
    ),

    /** One after the other, each by its key. */
    deleteName: prepare(
      'delete_name',
      `DELETE FROM ${names} WHERE registrable_domain = $1 AND path = $2 AND domain_id = $3 AND path <> ''`,
    ),
    /** A registrable domain keeps its row, which calls lock. */
    vacateZone: prepare(
      'vacate_zone',
      `UPDATE ${names} SET guest_path = NULL, domain_id = NULL, team_id = NULL, created_at = NULL, synchronized = true
       WHERE registrable_domain = $1 AND path = '' AND domain_id = $2`,
    ),

    /** Copies a name to a key that nothing has: what got there without having been locked fails it. */
    copyName: prepare('copy_name', copyName),
    /** Copies a name into the row of its registrable domain, which is under lock and has no name left in it. */
    copyIntoZone: prepare(
      'copy_into_zone',
      `${copyName}
       ON CONFLICT (registrable_domain, path) DO UPDATE SET (guest_path, domain_id, team_id, created_at, synchronized) =
         (excluded.guest_path, excluded.domain_id, excluded.team_id, excluded.created_at, excluded.synchronized)`,
    ),

    /** The names after a key, in the order of keys. */
    walk: prepare<NameRow | EmptyZoneRow>(
      'walk',
      `SELECT registrable_domain, path, guest_path, domain_id, team_id, synchronized FROM ${names}
       WHERE (registrable_domain, path) > ($1, $2) ORDER BY registrable_domain, path LIMIT $3`,
    ),
  }
}

export type Statements = ReturnType<typeof createStatements>

/**
 * Settings for one transaction. The time limits are so that nobody who freezes keeps others from what he has locked;
 * the others keep the planner from plans that are best for an empty table and are kept when it has grown, and from
 * planning a statement more than once, which has one good plan and may take longer to plan than to run.
 */
export function toOpening(milliseconds: number): Settings {
  const limit = String(Math.max(1, Math.round(milliseconds)))
  return {
    statement_timeout: limit,
    idle_in_transaction_session_timeout: limit,
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    jit: 'off',
    plan_cache_mode: 'force_generic_plan',
  }
}

/** The name tells apart versions of this package and schemas that share a connection. */
export const prepare = <Row = never>(name: string, text: string): Statement<Row> => ({
  name: `domain_registration_${name}_${checksum(text)}`,
  text,
})

/** FNV-1a. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16)
}
