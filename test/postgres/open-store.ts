import { Pool } from 'pg'
import { createPostgresStore } from '../../src/postgres/index.ts'

/**
 * Opens a store with any team that is asked for.
 *
 * @param config As JSON: how to connect.
 */
export const openStore = (config: string, schema: string) =>
  createPostgresStore({
    database: new Pool({ ...JSON.parse(config), pipeline: true }),
    schema,
    findTeam: id => ({ id, organizationId: '1', state: 'active' }),
  })
