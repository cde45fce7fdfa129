import { expect, test } from 'vitest'
import { createLookUp } from '../../src/operations/create-request.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import type { SqliteHandle } from '../../src/sqlite/driver.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import type { LookUp } from '../../src/store/contract.ts'
import { manyDomains, toTestName } from '../../src/testing/calls.ts'
import { openDatabase as openPostgres } from '../postgres/server.ts'
import { openDatabase } from '../sqlite/open-database.ts'

type MeasureLookUp = (question: LookUp) => Promise<number>
const findTeam = () => null
const lengthOf = (values: readonly unknown[] | undefined) => JSON.stringify(values ?? []).length

/** Both functions return how many characters a store sends to its database for a lookup. */
async function withPostgres(work: (measure: MeasureLookUp) => Promise<void>): Promise<void> {
  const server = await openPostgres()
  const pool = server.createPool({ max: 1 })
  let sent = 0
  pool.on('connect', client => {
    const query = client.query.bind(client) as (config: { values?: unknown[] }) => unknown
    client.query = ((config: { values?: unknown[] }) => {
      sent += lengthOf(config.values)
      return query(config)
    }) as never
  })
  await migrate({ database: pool })
  const store = createPostgresStore({ database: pool, findTeam })
  await work(async question => {
    sent = 0
    await store.find(question)
    return sent
  })
  await server.stop()
}

async function withSqlite(work: (measure: MeasureLookUp) => Promise<void>): Promise<void> {
  const database = openDatabase()
  let sent = 0
  const recorded: SqliteHandle = {
    exec: sql => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        all(...values) {
          sent += lengthOf(values)
          return statement.all(...values)
        },
        run: (...values) => statement.run(...values),
      }
    },
  }
  const store = createSqliteStore({ database: recorded, findTeam })
  await work(async question => {
    sent = 0
    await store.find(question)
    return sent
  })
  database.close()
}

test.each([
  ['PostgreSQL', withPostgres],
  ['SQLite', withSqlite],
])('what a lookup sends to %s grows with the labels of its names, not with their square', (_, withStore) =>
  withStore(async measure => {
    const lookUp = (labels: number) =>
      measure(
        createLookUp(
          '1',
          manyDomains(100, 'a.'.repeat(labels)).map(name => toTestName(name)),
        ),
      )
    expect(await lookUp(120)).toBeLessThan(2.2 * (await lookUp(60)))
  }),
)
