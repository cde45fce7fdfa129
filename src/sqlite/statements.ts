import { COUNTED_AT_LEAST } from '../registry/store.ts'
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
  /** `null` once the registration is synchronized. */
  readonly due: number | null
}

/** A waiting change, of either table. */
export interface DueRow extends NameRow {
  readonly due: number
  readonly refusals: number
}

const NAMES = 'domain_registration_names'
const RELEASES = 'domain_registration_releases'
const COLUMNS = 'domain_id, domain, registrable_domain, team_id, due'

// The index is named, because SQLite may choose one that reads the names of all other teams. It is a partial index,
// hence the condition "path > ''".
const OWN_BELOW = `FROM ${NAMES} INDEXED BY ${NAMES}_below
  WHERE registrable_domain = ? AND team_id = ? AND path > ? AND path < ? AND path > ''`

const statement = <Row = never>(sql: string): Statement<Row> => ({ sql })

export const statements = {
  findName: statement<NameRow>(`SELECT ${COLUMNS} FROM ${NAMES} WHERE registrable_domain = ? AND path = ?`),
  countOwnBelow: statement<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 ${OWN_BELOW} LIMIT ${COUNTED_AT_LEAST})`,
  ),
  findOwnBelow: statement<{ domain: string }>(`SELECT domain ${OWN_BELOW} LIMIT 3`),
  findBelow: statement<object>(
    `SELECT 1 AS one FROM ${NAMES} WHERE registrable_domain = ? AND path > ? AND path < ? LIMIT 1`,
  ),
  findLastId: statement<{ domain_id: string | null }>(`SELECT max(domain_id) AS domain_id FROM ${NAMES}`),
  insertName: statement(
    `INSERT INTO ${NAMES} (domain_id, domain, registrable_domain, path, team_id, created_at, due)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  deleteName: statement(`DELETE FROM ${NAMES} WHERE domain_id = ?`),
  list: statement<NameRow>(`SELECT ${COLUMNS} FROM ${NAMES} WHERE domain_id > ? ORDER BY domain_id LIMIT ?`),
  listOfTeam: statement<NameRow>(
    `SELECT ${COLUMNS} FROM ${NAMES} INDEXED BY ${NAMES}_by_team
     WHERE team_id = ? AND domain_id > ? ORDER BY domain_id LIMIT ?`,
  ),

  findDueNames: statement<DueRow>(
    `SELECT ${COLUMNS}, refusals FROM ${NAMES} INDEXED BY ${NAMES}_due WHERE due <= ? ORDER BY due, domain_id LIMIT ?`,
  ),
  findDueReleases: statement<DueRow>(
    `SELECT ${COLUMNS}, refusals FROM ${RELEASES} INDEXED BY ${RELEASES}_due
     WHERE due <= ? ORDER BY due, domain_id LIMIT ?`,
  ),
  leaseName: statement(`UPDATE ${NAMES} SET due = max(due, ?) WHERE domain_id = ? AND due IS NOT NULL`),
  leaseRelease: statement(`UPDATE ${RELEASES} SET due = ? WHERE domain_id = ?`),
  // A lease is identified by the time when it ends, the first one by the time when the registration was saved.
  postponeName: statement(`UPDATE ${NAMES} SET due = ?, refusals = refusals + ? WHERE domain_id = ? AND due = ?`),
  postponeSaved: statement(`UPDATE ${NAMES} SET due = ? WHERE domain_id = ? AND due = created_at + ?`),
  postponeRelease: statement(`UPDATE ${RELEASES} SET due = ?, refusals = refusals + ? WHERE domain_id = ? AND due = ?`),
  markSynchronized: statement<{ domain_id: string }>(
    `UPDATE ${NAMES} SET due = NULL WHERE domain_id = ? RETURNING domain_id`,
  ),
  insertRelease: statement(
    `INSERT INTO ${RELEASES} (domain_id, domain, registrable_domain, team_id, due) VALUES (?, ?, ?, ?, ?)`,
  ),
  forgetRelease: statement(`DELETE FROM ${RELEASES} WHERE domain_id = ?`),
  countPending: statement<{ count: number }>(
    `SELECT (SELECT count(*) FROM ${NAMES} INDEXED BY ${NAMES}_due WHERE due IS NOT NULL)
       + (SELECT count(*) FROM ${RELEASES}) AS count`,
  ),
} as const

export type Statements = { readonly [Name in keyof typeof statements]: Run<RowOf<(typeof statements)[Name]>> }

type RowOf<S> = S extends Statement<infer Row> ? Row : never

/** Prepares every statement once. */
export const prepareAll = (driver: Driver): Statements =>
  Object.fromEntries(Object.entries(statements).map(([name, { sql }]) => [name, driver.prepare(sql)])) as never
