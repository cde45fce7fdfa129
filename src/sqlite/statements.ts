import type { Change } from '../registry/store.ts'
import { COUNTED_AT_LEAST, FOUND_BEHIND_SUFFIXES } from '../registry/store.ts'
import type { Driver, Run } from './driver.ts'

/** The text of an SQL statement with parameters. */
export interface Statement<Row = never> {
  readonly sql: string
  /** The type of a row of the answer; never set. */
  readonly row?: Row
}

export interface NameRow {
  readonly domain_id: string
  readonly domain: string
  readonly registrable_domain: string
  readonly team_id: string
  readonly created_at: number
  /** 0 or 1. */
  readonly synchronized: number
}

export interface ChangeRow {
  readonly domain_id: string
  readonly kind: Change['kind']
  readonly domain: string
  readonly registrable_domain: string
  readonly team_id: string
  readonly due: number
  readonly refusals: number
  readonly since: number
  readonly last_failure: string | null
}

export interface StatsRow {
  readonly count: number
  readonly refused: number
  readonly oldest: number | null
}

const NAMES = 'domain_registration_names'
const CHANGES = 'domain_registration_changes'

// The indexes are named, because SQLite may choose one that reads the names of all other teams.
const BELOW = `${NAMES} INDEXED BY ${NAMES}_by_path WHERE second_level_domain = ? AND path > ? AND path < ?`
/** `path > ''`, because this index leaves out names of two labels. */
const OWN_BELOW = `${NAMES} INDEXED BY ${NAMES}_of_team_below
  WHERE second_level_domain = ? AND team_id = ? AND path > ? AND path < ? AND path > ''`

const statement = <Row = never>(sql: string): Statement<Row> => ({ sql })

const selectNames = (condition: string, index?: string): Statement<NameRow> => ({
  sql: `SELECT name.domain_id, name.domain, name.registrable_domain, name.team_id, name.created_at,
      change.domain_id IS NULL AS synchronized
    FROM ${NAMES} AS name ${index ? `INDEXED BY ${NAMES}_${index}` : ''}
    LEFT JOIN ${CHANGES} AS change ON change.domain_id = name.domain_id
    WHERE ${condition}`,
})

export const statements = {
  findName: selectNames('name.domain = ?'),
  findId: selectNames('name.domain_id = ?'),
  countOwnBelow: statement<{ count: number }>(
    `SELECT count(*) AS count FROM (
      SELECT 1 FROM ${OWN_BELOW} AND length(registrable_domain) <= ? LIMIT ${COUNTED_AT_LEAST})`,
  ),
  findOwnBelow: statement<{ domain: string }>(
    `SELECT domain FROM ${OWN_BELOW} AND length(registrable_domain) <= ? LIMIT 3`,
  ),
  findBelow: statement<object>(`SELECT 1 AS one FROM ${BELOW} AND length(registrable_domain) <= ? LIMIT 1`),
  findBehindSuffixes: statement<{ domain: string; team_id: string }>(
    `SELECT domain, team_id FROM ${BELOW} AND length(registrable_domain) > ? LIMIT ${FOUND_BEHIND_SUFFIXES}`,
  ),
  findLastId: statement<{ domain_id: string | null }>(`SELECT max(domain_id) AS domain_id FROM ${NAMES}`),
  insertName: statement(
    `INSERT INTO ${NAMES} (domain_id, domain, registrable_domain, second_level_domain, path, team_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  deleteName: statement(`DELETE FROM ${NAMES} WHERE domain_id = ?`),

  listOldest: selectNames('name.domain_id > ? ORDER BY name.domain_id LIMIT ?'),
  listNewest: selectNames('name.domain_id < ? ORDER BY name.domain_id DESC LIMIT ?'),
  listOldestOfTeam: selectNames('name.team_id = ? AND name.domain_id > ? ORDER BY name.domain_id LIMIT ?', 'by_team'),
  listNewestOfTeam: selectNames(
    'name.team_id = ? AND name.domain_id < ? ORDER BY name.domain_id DESC LIMIT ?',
    'by_team',
  ),
  listBelow: selectNames(
    'name.second_level_domain = ? AND name.path > ? AND name.path < ? ORDER BY name.path LIMIT ?',
    'by_path',
  ),
  listOwnBelow: selectNames(
    `name.second_level_domain = ? AND name.team_id = ? AND name.path > ? AND name.path < ? AND name.path > ''
     ORDER BY name.path LIMIT ?`,
    'of_team_below',
  ),
  count: statement<{ count: number }>(`SELECT count(*) AS count FROM ${NAMES}`),
  countOfTeam: statement<{ count: number }>(`SELECT count(*) AS count FROM ${NAMES} WHERE team_id = ?`),

  // A release takes the place of the registration that still waits.
  putChange: statement(
    `INSERT OR REPLACE INTO ${CHANGES} (domain_id, kind, domain, registrable_domain, team_id, due, since)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  lease: statement(`UPDATE ${CHANGES} SET due = max(due, ?) WHERE domain_id = ?`),
  setDue: statement(`UPDATE ${CHANGES} SET due = ? WHERE domain_id = ?`),
  bringForward: statement(
    `UPDATE ${CHANGES} INDEXED BY ${CHANGES}_due SET due = ? WHERE (refusals > 0) IN (0, 1) AND due > ?`,
  ),
  findDue: statement<ChangeRow>(
    `SELECT * FROM ${CHANGES} INDEXED BY ${CHANGES}_due
     WHERE (refusals > 0) = ? AND due <= ? ORDER BY due, since, domain_id LIMIT ?`,
  ),
  deleteChange: statement<object>(`DELETE FROM ${CHANGES} WHERE domain_id = ? AND kind = ? RETURNING domain_id`),
  postpone: statement(
    `UPDATE ${CHANGES} SET due = ?, refusals = refusals + ?, last_failure = coalesce(?, last_failure)
     WHERE domain_id = ? AND kind = ?`,
  ),
  listChanges: statement<ChangeRow>(`SELECT * FROM ${CHANGES} WHERE domain_id > ? ORDER BY domain_id LIMIT ?`),
  stats: statement<StatsRow>(
    `SELECT count(*) AS count, min(since) AS oldest,
      (SELECT count(*) FROM ${CHANGES} INDEXED BY ${CHANGES}_due WHERE (refusals > 0) = 1) AS refused
     FROM ${CHANGES} INDEXED BY ${CHANGES}_due`,
  ),
} as const

export type Statements = { readonly [Name in keyof typeof statements]: Run<RowOf<(typeof statements)[Name]>> }

type RowOf<S> = S extends Statement<infer Row> ? Row : never

/** Prepares every statement once. */
export const prepareAll = (driver: Driver): Statements =>
  Object.fromEntries(Object.entries(statements).map(([name, { sql }]) => [name, driver.prepare(sql)])) as never
