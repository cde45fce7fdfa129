import type { Engine } from '../engines/engine.ts'
import type { Tables } from '../schema.ts'
import { isOurs, unprepared } from './sql.ts'

export interface Lock {
  readonly secondLevelDomain: string
  readonly registrableDomain: string
}

export type LockStatements = ReturnType<typeof createLockStatements>

export const createLockStatements = ({ locks }: Tables, engine: Engine) => ({
  /**
   * Inserts missing lock rows of registrable domains, and locks the existing ones, in the given order. The order must
   * be ascending, so that two calls cannot deadlock. `WHERE false` makes the statement lock a row without writing to
   * it.
   *
   * A concurrent call for the same registrable domain waits for these locks. Each call looks up names in separate
   * statements after this one, because under READ COMMITTED only later statements see the rows that were committed
   * during the wait.
   */
  lock: engine.createInsert<Lock>({
    name: 'lock',
    into: `${locks} AS lock`,
    columns: {
      second_level_domain: ['text', lock => lock.secondLevelDomain],
      registrable_domain: ['text', lock => lock.registrableDomain],
    },
    onConflict: `ON CONFLICT (second_level_domain, registrable_domain)
     DO UPDATE SET registrable_domain = excluded.registrable_domain WHERE false`,
  }),

  /**
   * Deletes lock rows, so unused registrable domains have none. A call that is waiting for a deleted lock row inserts
   * the row again.
   */
  unlock: unprepared(
    `DELETE FROM ${locks} AS lock
     USING unnest($2::text[], $3::text[]) AS asked (second_level_domain, registrable_domain)
     WHERE lock.second_level_domain = asked.second_level_domain
       AND lock.registrable_domain = asked.registrable_domain AND ${isOurs} ${engine.inShards('lock', '$2')}`,
  ),
})
