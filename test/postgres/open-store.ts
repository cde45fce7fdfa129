import { Pool, type PoolConfig } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { findTeam } from '../linearizability/race.ts'
import { PATIENCE } from '../patience.ts'

/** Opens a store in which every team exists. */
export function openStore(config: PoolConfig) {
  const pool = new Pool(config)
  // After a failed test, the store's connections are cut, and the pool emits this event.
  pool.on('error', () => {})
  return createPostgresStore({ database: pool, findTeam, timeLimit: PATIENCE })
}
