/** A value of a column or parameter. */
export type SqliteValue = string | number | null

/** Runs a prepared statement to its end. */
export type Run<Row> = (...values: readonly SqliteValue[]) => readonly Row[]

/** What the stores need of a SQLite, whoever brings it. All of it is synchronous. */
export interface Driver {
  /** Runs SQL without parameters, any number of statements. */
  execute(sql: string): void
  /** Prepares one statement, whose parameters are question marks. */
  prepare<Row>(sql: string): Run<Row>
  /**
   * Runs work in one transaction, alone among all writers of the database: all of it is committed, or nothing.
   *
   * @throws what the work or the commit failed with.
   */
  transact<T>(work: () => T): T
  /** Whether connections have settings, such as the busy timeout, that are to be made. */
  readonly hasSettings: boolean
}
