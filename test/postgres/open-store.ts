import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { findTeam } from '../linearizability/race.ts'

/** Opens a store with any team that is asked for. */
export function openStore(config: PoolConfig) {
  const pool = new Pool(config)
  // Its connections are cut when a test has failed.
  pool.on('error', () => {})
  return createPostgresStore({ database: pool, findTeam })
}
