import { createPool, type PoolOptions } from 'mysql2/promise'
import { createMariadbStore } from '../../examples/mariadb-store.ts'
import { findTeam } from '../linearizability/race.ts'

/** Opens a store in which every team exists. */
export const openStore = (config: PoolOptions) => createMariadbStore({ database: createPool(config), findTeam })
