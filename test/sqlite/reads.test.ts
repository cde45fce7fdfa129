import { expect, test } from 'vitest'
import { previewDomains } from '../../src/index.ts'
import { createRegistrationRequest } from '../../src/registry/request.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { createFolder } from './create-folder.ts'
import type { TestDatabase } from './open-database.ts'

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
