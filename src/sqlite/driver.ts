/** A value of a column or parameter. */
export type SqliteValue = string | number | null

/** Runs a prepared statement and returns its rows. */
export type Run<Row> = (...values: readonly SqliteValue[]) => readonly Row[]

/** The operations that the stores need of any SQLite package. All are synchronous. */
export interface Driver {
  /** Runs any number of statements without parameters. */
  execute(sql: string): void
  /** Prepares one statement. Its parameters are question marks. */
  prepare<Row>(sql: string): Run<Row>
  /**
   * Runs work in one write transaction: all of it is committed, or nothing.
   *
   * @throws the failure of the work or of the commit.
   */
  transact<T>(work: () => T): T
  /** Begins a write transaction that may last for several turns of the event loop. Not in a Durable Object. */
  begin?(): Transaction
  /** Whether the connection has settings, such as a busy timeout. */
  readonly hasSettings: boolean
}

export interface Transaction {
  commit(): void
  /** Rolls back what SQLite has not rolled back by itself, as after some failures. */
  rollBack(): void
}
