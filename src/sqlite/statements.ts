import type { Driver, Run } from './driver.ts'

/** One SQL statement with parameters. */
export interface Statement<Row = never> {
  readonly sql: string
  /** Only a type: what a row of the answer is. */
  readonly row?: Row
}

export interface NameRow {
  readonly domain_id: string
  readonly domain: string
  readonly registrable_domain: string
  readonly team_id: string
  readonly due: number | null
  readonly leased: number
}

/** As many as {@link Below} has to count. */
const COUNTED = 1000

const NAMES = 'domain_registration_names'
const COLUMNS = 'domain_id, domain, registrable_domain, team_id, due, leased'

// Said with the index, for SQLite may take one that leads past the names of all others. It is restricted to "path >
// ''".
const OWN_BELOW = `FROM ${NAMES} INDEXED BY ${NAMES}_below
  WHERE registrable_domain = ? AND team_id = ? AND path > ? AND path < ? AND path > ''`

const statement = <Row = never>(sql: string): Statement<Row> => ({ sql })

export const statements = {
  findName: statement<NameRow>(`SELECT ${COLUMNS} FROM ${NAMES} WHERE registrable_domain = ? AND path = ?`),
  countOwnBelow: statement<{ count: number }>(`SELECT count(*) AS count FROM (SELECT 1 ${OWN_BELOW} LIMIT ${COUNTED})`),
  findOwnBelow: statement<{ domain: string }>(`SELECT domain ${OWN_BELOW} LIMIT 3`),
  findBelow: statement<object>(
    `SELECT 1 AS one FROM ${NAMES} WHERE registrable_domain = ? AND path > ? AND path < ? LIMIT 1`,
  ),
  findLastId: statement<{ domain_id: string | null }>(`SELECT max(domain_id) AS domain_id FROM ${NAMES}`),
  insertName: statement(
    `INSERT INTO ${NAMES} (domain_id, domain, registrable_domain, path, team_id, created_at, due, leased)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  deleteName: statement(`DELETE FROM ${NAMES} WHERE domain_id = ?`),
  findPending: statement<NameRow>(
    `SELECT ${COLUMNS} FROM ${NAMES} WHERE due IS NOT NULL ORDER BY due, domain_id LIMIT ?`,
  ),
  markSynchronized: statement(`UPDATE ${NAMES} SET due = NULL WHERE domain_id = ?`),
} as const

export type Statements = { readonly [Name in keyof typeof statements]: Run<RowOf<(typeof statements)[Name]>> }

type RowOf<S> = S extends Statement<infer Row> ? Row : never

/** Prepares each once, for as long as the store is in use. */
export const prepareAll = (driver: Driver): Statements =>
  Object.fromEntries(Object.entries(statements).map(([name, { sql }]) => [name, driver.prepare(sql)])) as never
