import type { Settings, Transaction } from '../drivers/database.ts'
import type { Element, Statement, Value } from '../statements/sql.ts'

/**
 * What differs between plain PostgreSQL and an extension that distributes the tables over several servers, in shards: a
 * row is in the shard of its second-level domain.
 */
export interface Engine {
  readonly isDistributed: boolean
  /** The columns of the unique index of the names' IDs. */
  readonly uniqueId: string
  /** The statements that distribute the tables. */
  distribute(tables: TableNames): readonly string[]
  /** The tables that not every server has. */
  onOneServer(tables: TableNames): readonly string[]
  /** Settings of the planner, for each transaction. */
  readonly planning: Settings
  /**
   * Skips locked rows, so a sweep never waits for an application's transaction. Empty if rows of several shards
   * cannot be locked in one query: then sweeps take turns instead, and wait for locks.
   */
  readonly skipLocked: '' | 'FOR UPDATE SKIP LOCKED'
  /** SQL of the second-level domain of a base, in a statement that looks below bases. */
  readonly secondLevelDomainOfBase: string
  /** A condition that limits the names below a base to the shard of the base. */
  readonly isInShardOfBase: string
  /** Groups the bases that one statement looks below. */
  group<Base>(bases: readonly Base[]): (readonly Base[])[]
  /** Joins a table, of which at most one row matches the condition, under the name `alias`. */
  joinOne(table: string, alias: string, condition: string): string
  /** A condition that limits a statement to the shards of the second-level domains in an array parameter. */
  inShards(table: string, parameter: string): string
  /** The value of this parameter, for rows with the given domains: the last values of the statement. */
  toShards(domains: readonly string[]): readonly Value[]
  createInsert<Row>(insertion: Insertion<Row>): Insert<Row>
}

/** The quoted names of the tables. */
type TableNames = Readonly<Record<'locks' | 'names' | 'changes' | 'monitor' | 'keys' | 'version' | 'waiting', string>>

/** Creates a statement that inserts rows, and the parameters of the statement. A lock has no token. */
type Insert<Row> = (token: Transaction['token'], rows: readonly Row[]) => readonly [Statement, ...Value[]]

/** An `INSERT` of many rows. */
interface Insertion<Row> {
  readonly name: string
  /** The table, perhaps with an alias. */
  readonly into: string
  /** For each column: the type of its parameter, the value of a row, and the SQL of the column if not the parameter. */
  readonly columns: Readonly<
    Record<string, readonly [type: string, toValue: (row: Row) => Element, toSql?: (parameter: string) => string]>
  >
  readonly onConflict?: string
}
