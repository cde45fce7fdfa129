import { readBoolean } from '../../sql/rows.ts'
import type { Deadline } from '../../time/deadline.ts'
import type { Database } from '../drivers/database.ts'
import { unprepared } from '../statements/sql.ts'
import { citus } from './citus.ts'
import type { Engine } from './engine.ts'
import { postgres } from './plain.ts'

const EXTENSION = 'citus'
const hasExtension = (name: string) => `EXISTS (SELECT FROM pg_extension WHERE extname = ${name})`

/** SQL that says whether the server distributes tables. */
export const IS_DISTRIBUTED = hasExtension(`'${EXTENSION}'`)

export const toEngine = (isDistributed: boolean): Engine => (isDistributed ? citus : postgres)

/** It has a parameter, so that postgres.js pipelines nothing behind it. */
const selectEngine = unprepared<{ version: string; isDistributed: string }>(
  `SELECT version() AS version, ${hasExtension('$1')}::text AS "isDistributed"`,
)

/** Matches only the versions of PostgreSQL itself: "PostgreSQL 11.2-YB-2.25", for example, is YugabyteDB. */
const STOCK = /^PostgreSQL \d+(?:\.\d+)*(?:(?:beta|rc)\d+|devel)?(?=[ ,]|$)(?!.*redshift)/i

/** @param version The result of `SELECT version()`. */
export const isStockPostgres = (version: string): boolean => STOCK.test(version)

/**
 * @throws {Error} if the server only speaks PostgreSQL's protocol. There, a lock on a row may not make the next call
 *   see what was saved meanwhile, and overlapping names would be registered.
 */
export async function findEngine(database: Database, deadline: Deadline): Promise<Engine> {
  const [row] = await database.send(deadline, selectEngine, EXTENSION)
  const version = String(row?.version)
  if (!isStockPostgres(version)) throw new Error(`The store needs PostgreSQL, but the server is "${version}"`)
  return toEngine(readBoolean(row?.isDistributed))
}
