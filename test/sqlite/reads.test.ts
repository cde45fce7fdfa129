import { expect, test } from 'vitest'
import { previewDomains } from '../../src/index.ts'
import { createRegistrationRequest } from '../../src/rules/request.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createFolder } from './create-folder.ts'
import { openDatabase, type TestDatabase } from './open-database.ts'

const { open } = createFolder()
const findTeam = () => ({ id: '1', organizationId: '1', state: 'active' }) as const
const context = { type: 'team', teamId: '1', scopes: ['domains:create'] } as const
const body = { domains: ['*.example.com'] }

/** Calls `interrupt` after each statement that reads names. */
function interruptReads(database: TestDatabase, interrupt: () => void): TestDatabase {
  return {
    exec: sql => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      if (!/^SELECT .*domain_registration_names/s.test(sql)) return statement
      return {
        run: (...values) => statement.run(...values),
        all(...values) {
          const rows = statement.all(...values)
          interrupt()
          return rows
        },
      }
    },
  }
}

test('all reads of a preview see the same data, even if another process registers a name in between', async () => {
  const other = createSqliteStore({ database: open('one-state'), findTeam })
  const name = { domain: '*.example.com', registrableDomain: 'example.com' }
  let registered: unknown
  const database = interruptReads(open('one-state'), () => {
    registered ??= other.register(createRegistrationRequest({ teamId: '1', submitted: [name], timeLimit: 5000 }))
  })
  const store = createSqliteStore({ database, findTeam })
  const { data } = await previewDomains(context, body, store)
  expect(data.results).toMatchObject([{ status: 'created' }])
  await registered
  expect((await previewDomains(context, body, store)).data.results).toMatchObject([{ status: 'existing' }])
})

const toBigInts = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
  )

test.each([
  ['safeIntegers', toBigInts],
  ['setReadBigInts', toBigInts],
  ['setReturnArrays', Object.values],
])(
  'a store returns numbers and objects, even if the application has turned on %s for the database',
  async (set, change) => {
    const database = openDatabase()
    const changed: TestDatabase = {
      exec: sql => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        let isOn = true
        const setting = {
          [set](value: boolean) {
            isOn = value
          },
        }
        return {
          ...setting,
          reader: statement.reader,
          run: (...values) => statement.run(...values),
          all: (...values) => statement.all(...values).map((row: unknown) => (isOn ? change(row as object) : row)),
        }
      },
    }
    const store = createSqliteStore({ database: changed, findTeam, synchronize() {} })
    const saved = await save(store, '1', ['example.com'])
    expect(await store.list()).toEqual(saved)
    expect(await store.listPending()).toMatchObject([{ domain: 'example.com', refusals: 0 }])
    database.close()
  },
)
