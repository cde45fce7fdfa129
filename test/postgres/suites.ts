import { beforeAll, describe, test } from 'vitest'
import { toDatabase } from '../../src/postgres/drivers/driver-options.ts'
import {
  createPostgresKeyStore,
  createPostgresStore,
  type DriverOptions,
  migrate,
  type PostgresDriver,
  type PostgresKeyStore,
  type PostgresSchemaOptions,
} from '../../src/postgres/index.ts'
import { domainStoreSuite, managedStoreFeatures, type StoreSetup } from '../../src/testing/index.ts'
import { createDeadline } from '../../src/time/deadline.ts'
import { sample } from '../counts.ts'
import { describeKeyStore as describeManagedKeyStore } from '../keys/key-store-suite.ts'
import { throughFirst } from './engine.ts'

/** Returns the pool that all tests of a file share. */
type OpenPool = () => PostgresDriver

type StoreOptions = PostgresSchemaOptions & Pick<DriverOptions, 'preparedStatements'>

/**
 * Runs the cases one after another. The schema has a name that must be quoted in SQL.
 *
 * @param most The approximate number of cases that run. The cases are spaced evenly in the suite.
 */
export function describeStore(name: string, open: OpenPool, options: StoreOptions = {}, most = Infinity): void {
  describe(`the store on ${name}`, () => {
    const { schema = `Ä "${name}" 🌍 $1; --` } = options
    const quoted = `"${schema.replaceAll('"', '""')}"`
    let pool: PostgresDriver
    beforeAll(async () => {
      pool = open()
      await migrate({ database: throughFirst(pool), schema })
    })
    const create = ({ teams, ...setup }: StoreSetup) =>
      createPostgresStore({
        ...setup,
        preparedStatements: options.preparedStatements,
        database: pool,
        schema,
        findTeam: id => teams.find(team => team.id === id) ?? null,
      })
    const suite = domainStoreSuite({
      async createStore(setup) {
        for (const table of ['names', 'changes', 'monitor']) await clear(pool, `${quoted}.${table}`)
        return create(setup)
      },
      reopenStore: (_, setup) => create(setup),
      features: [...managedStoreFeatures, 'import', 'transfer'],
      timeLimit: 20_000,
    })
    for (const { name, run } of sample(suite, most)) test(name, run)
  })
}

async function clear(pool: PostgresDriver, table: string): Promise<void> {
  const database = toDatabase({ database: pool, preparedStatements: false }, 'tables')
  await database.send(createDeadline(5000), { name: 'clear', text: `DELETE FROM ${table}` })
}

export function describeKeyStore(
  name: string,
  open: OpenPool,
  options: Pick<DriverOptions, 'preparedStatements'> = {},
): void {
  describe(`with ${name}`, () => {
    let keys: PostgresKeyStore
    beforeAll(async () => {
      const pool = open()
      await migrate({ database: throughFirst(pool), schema: 'keys "of" mine' })
      keys = createPostgresKeyStore({ ...options, database: pool, schema: 'keys "of" mine' })
    })
    describeManagedKeyStore('PostgreSQL', () => keys)
  })
}
