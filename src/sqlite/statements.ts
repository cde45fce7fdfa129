import { COUNTED_AT_LEAST, FOUND_BEHIND_SUFFIXES } from '../rules/registration.ts'
import { type NameRow, type PendingRow, type StatsRow, toSelectList } from '../sql/rows.ts'
import type { Driver, RunStatement } from './driver.ts'

const NAMES = 'domain_registration_names'
const CHANGES = 'domain_registration_changes'
const MONITOR = 'domain_registration_monitor'

// The statements name their indexes. Otherwise SQLite might choose an index that makes it read the names of all other
// teams.
const BELOW = `${NAMES}_by_path WHERE second_level_domain = ? AND path > ? AND path < ?`
/** This index omits names with two labels, so SQLite uses it only for queries with the same condition, `path > ''`. */
const OWN_BELOW = `${NAMES}_of_team_below
  WHERE team_id = ? AND second_level_domain = ? AND path > ? AND path < ? AND path > ''`

/**
 * Selects the names below a base, except those that a public suffix separates from it. The registrable domain of the
 * selected names is the base or an ancestor of the base. The first parameter is the base, the second one lists the
 * lengths of the base and its ancestors, as JSON. The index omits names that are their own registrable domain.
 */
const WITHIN = `${NAMES}_within WHERE registrable_domain IN (SELECT substr(?, -value) FROM json_each(?))
  AND path > ? AND path < ? AND domain <> registrable_domain`
const OWN_WITHIN = `${NAMES}_of_team_within WHERE registrable_domain IN (SELECT substr(?, -value) FROM json_each(?))
  AND team_id = ? AND path > ? AND path < ? AND domain <> registrable_domain`

export interface StatementText<Row> {
  readonly sql: string
  /** Never set; only carries the type of a result row. */
  readonly row?: Row
  /** Whether the statement fails if it changes no row. */
  readonly mustChange?: true
}

export const statement = <Row = never>(sql: string): StatementText<Row> => ({ sql })

/** A statement that fails if one of the application's triggers skips its row with RAISE(IGNORE). */
const write = (sql: string): StatementText<object> => ({ sql: `${sql} RETURNING 1 AS one`, mustChange: true })

const ofBoth = { domainId: 'domain_id', domain: 'domain', registrableDomain: 'registrable_domain', teamId: 'team_id' }

const name = toSelectList<NameRow>({
  ...ofBoth,
  createdAt: 'created_at',
  synchronized: `NOT EXISTS (SELECT 1 FROM ${CHANGES} AS change WHERE change.domain_id = name.domain_id)`,
})

/** @param source The part of the SQL after the table: an index and a condition, or only a condition. */
const selectNames = (source: string) => statement<NameRow>(`SELECT ${name} FROM ${NAMES} AS name ${source}`)

const changeColumns = toSelectList<PendingRow>({
  ...ofBoth,
  kind: 'kind',
  line: 'line',
  nextAttempt: 'due',
  refusals: 'refusals',
  at: 'since',
  lastFailure: 'last_failure',
})

const NEXT = `${CHANGES}_next WHERE follows IS NULL AND line`
const NEXT_OF_TEAM = `${CHANGES}_next_of_team WHERE follows IS NULL AND line`
const isDue = 'due <= ? ORDER BY due, since, domain_id LIMIT ?'

export const statements = {
  /** The parameter is a JSON array of names. */
  findByDomain: statement<NameRow>(
    `SELECT ${name} FROM json_each(?) AS asked CROSS JOIN ${NAMES} AS name ON name.domain = asked.value`,
  ),
  /** The parameter is a JSON object: for each name, the lengths of the names above it. */
  findWildcards: statement<NameRow>(
    `SELECT ${name} FROM json_each(?) AS asked CROSS JOIN json_each(asked.value) AS length
     CROSS JOIN ${NAMES} AS name ON name.domain = '*.' || substr(asked.key, -length.value)`,
  ),
  findById: selectNames('WHERE domain_id = ?'),
  countOwnWithin: statement<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${NAMES} INDEXED BY ${OWN_WITHIN} LIMIT ${COUNTED_AT_LEAST})`,
  ),
  findOwnWithin: statement<{ domain: string }>(`SELECT domain FROM ${NAMES} INDEXED BY ${OWN_WITHIN} LIMIT 3`),
  findWithin: statement<object>(`SELECT 1 AS one FROM ${NAMES} INDEXED BY ${WITHIN} LIMIT 1`),
  findBehindSuffixes: statement<{ domain: string; teamId: string }>(
    `SELECT domain, team_id AS teamId FROM ${NAMES} INDEXED BY ${BELOW} LIMIT ${FOUND_BEHIND_SUFFIXES}`,
  ),
  findLastId: statement<{ lastId: string | null }>(`SELECT max(domain_id) AS lastId FROM ${NAMES}`),
  insertName: write(
    `INSERT INTO ${NAMES} (domain_id, domain, registrable_domain, second_level_domain, path, team_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  transferName: write(`UPDATE ${NAMES} SET domain_id = ?, team_id = ?, created_at = ? WHERE domain_id = ?`),
  deleteName: write(`DELETE FROM ${NAMES} WHERE domain_id = ?`),

  listOldest: selectNames('WHERE domain_id > ? ORDER BY domain_id LIMIT ?'),
  listNewest: selectNames('WHERE domain_id < ? ORDER BY domain_id DESC LIMIT ?'),
  listBelow: selectNames(`INDEXED BY ${BELOW} ORDER BY path LIMIT ?`),
  listOldestOfTeam: selectNames(
    `INDEXED BY ${NAMES}_by_team WHERE team_id = ? AND domain_id > ? ORDER BY domain_id LIMIT ?`,
  ),
  listNewestOfTeam: selectNames(
    `INDEXED BY ${NAMES}_by_team WHERE team_id = ? AND domain_id < ? ORDER BY domain_id DESC LIMIT ?`,
  ),
  listBelowOfTeam: selectNames(`INDEXED BY ${OWN_BELOW} ORDER BY path LIMIT ?`),
  count: statement<{ count: number }>(`SELECT count(*) AS count FROM ${NAMES}`),
  countOfTeam: statement<{ count: number }>(`SELECT count(*) AS count FROM ${NAMES} WHERE team_id = ?`),

  // A release replaces a pending registration.
  putChange: write(
    `INSERT OR REPLACE INTO ${CHANGES} (domain_id, kind, domain, registrable_domain, team_id, due, since, follows)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  follow: statement(`UPDATE ${CHANGES} SET follows = ? WHERE follows = ?`),
  findMonitor: statement<object>(`SELECT since FROM ${MONITOR}`),
  addMonitor: statement(`INSERT INTO ${MONITOR} (since) VALUES (?)`),
  lease: statement(`UPDATE ${CHANGES} SET due = max(due, ?) WHERE domain_id = ?`),
  setDue: statement(`UPDATE ${CHANGES} SET due = ? WHERE domain_id = ?`),
  take: statement(`UPDATE ${CHANGES} SET due = ?, sweeps = sweeps + 1 WHERE domain_id = ?`),
  bringForward: statement(
    `UPDATE ${CHANGES} INDEXED BY ${CHANGES}_next SET due = ? WHERE follows IS NULL AND line = ? AND due > ?`,
  ),
  /** Finds the next team of a line, after a team, and when its first change is due. */
  findNextTeam: statement<{ teamId: string; due: number }>(
    `SELECT team_id AS teamId, due FROM ${CHANGES} INDEXED BY ${NEXT_OF_TEAM} = ? AND team_id > ?
     ORDER BY team_id, due LIMIT 1`,
  ),
  findDueOfTeam: statement<PendingRow>(
    `SELECT ${changeColumns} FROM ${CHANGES} AS change INDEXED BY ${NEXT_OF_TEAM} = ? AND team_id = ? AND ${isDue}`,
  ),
  findDue: statement<PendingRow>(
    `SELECT ${changeColumns} FROM ${CHANGES} AS change INDEXED BY ${NEXT} = ? AND ${isDue}`,
  ),
  findChange: statement<object>(`SELECT 1 AS one FROM ${CHANGES} WHERE domain_id = ?`),
  deleteChange: statement<object>(`DELETE FROM ${CHANGES} WHERE domain_id = ? AND kind = ? RETURNING domain_id`),
  postpone: statement(
    `UPDATE ${CHANGES} SET due = ?, refusals = max(refusals, ?), last_failure = coalesce(?, last_failure)
     WHERE domain_id = ? AND kind = ?`,
  ),
  retry: statement<object>(
    `UPDATE ${CHANGES} SET due = ? WHERE domain_id = ? AND due > ? AND last_failure IS NOT NULL RETURNING domain_id`,
  ),
  retryAll: statement<object>(
    `UPDATE ${CHANGES} SET due = ? WHERE domain_id IN
      (SELECT domain_id FROM ${CHANGES} INDEXED BY ${NEXT} IN ('new', 'failed', 'refused')
         AND due > ? AND last_failure IS NOT NULL LIMIT ?)
     RETURNING domain_id`,
  ),
  settle: statement<object>(`DELETE FROM ${CHANGES} WHERE domain_id = ? RETURNING domain_id`),
  findLongestRefused: statement<PendingRow>(
    `SELECT ${changeColumns} FROM ${CHANGES} INDEXED BY ${NEXT} = 'refused'
     ORDER BY since, domain_id LIMIT 1`,
  ),
  listChanges: statement<PendingRow>(
    `SELECT ${changeColumns} FROM ${CHANGES} WHERE domain_id > ? ORDER BY domain_id LIMIT ?`,
  ),
  stats: statement<StatsRow>(
    `SELECT count(*) AS count, min(since) AS oldest,
      (SELECT count(*) FROM ${CHANGES} INDEXED BY ${NEXT} = 'refused') AS refused
     FROM ${CHANGES}`,
  ),
} as const

export type PreparedStatements = Prepared<typeof statements>

type Prepared<All> = {
  readonly [Name in keyof All]: All[Name] extends StatementText<infer Row> ? RunStatement<Row> : never
}

/** Prepares every statement once. */
export const prepareAll = <All extends Readonly<Record<string, StatementText<unknown>>>>(driver: Driver, all: All) =>
  Object.fromEntries(Object.entries(all).map(([name, text]) => [name, prepare(driver, text)])) as Prepared<All>

function prepare(driver: Driver, { sql, mustChange }: StatementText<unknown>): RunStatement<unknown> {
  const run = driver.prepare(sql)
  if (!mustChange) return run
  return (...values) => {
    const rows = run(...values)
    if (rows.length === 0) throw new Error('A trigger skipped a row, so nothing was changed')
    return rows
  }
}
