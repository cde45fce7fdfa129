import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { findTeam } from '../linearizability/race.ts'

/** Opens a store in which every team exists. */
export function openStore(config: PoolConfig) {
  const pool = new Pool(config)
  // Its connections are cut if a test has failed.
  pool.on('error', () => {})
  return createPostgresStore({ database: pool, findTeam })
}
