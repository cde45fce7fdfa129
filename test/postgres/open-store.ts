import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { findTeam } from '../linearizability/race.ts'

/** Opens a store in which every team exists. */
export function openStore(config: PoolConfig) {
  const pool = new Pool(config)
  // If a test has failed, the connections of the store are cut.
  pool.on('error', () => {})
  return createPostgresStore({ database: pool, findTeam })
}
