import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateApiKey, importDomains, previewDomains, releaseAll, transfer } from '../../src/index.ts'
import { citus } from '../../src/postgres/engines/citus.ts'
import { createPostgresKeyStore, createPostgresStore, migrate, type PostgresBridge } from '../../src/postgres/index.ts'
import { toTables } from '../../src/postgres/schema.ts'
import { createStatements } from '../../src/postgres/statements/store.ts'
import { submit, toTestRegistration } from '../../src/testing/calls.ts'
import { scopes, team1 } from '../fixtures.ts'
import { openDatabase, type TestServer } from './server.ts'

/*
 * Sends to PostgreSQL what the stores would send to Citus, and checks each statement against Citus' rules, which
 * PostgreSQL does not have. `npm run test:engine` runs the stores on Citus itself.
 */

let server: TestServer
/** The statements that were sent. */
const sent = new Set<string>()
let changes: readonly string[]
/** The functions whose result depends on more than their arguments. */
let mutable: ReadonlySet<string>

beforeAll(async () => {
  server = await openDatabase()
  const pool = server.createPool()
  await migrate({ database: pool })
  const { rows } = await pool.query<{ name: string }>(
    "SELECT proname AS name FROM pg_proc GROUP BY proname HAVING bool_and(provolatile <> 'i')",
  )
  mutable = new Set(rows.map(({ name }) => name))
  await callAll(toCitus(pool))
  changes = [...sent].filter(text => /^(?:INSERT INTO|UPDATE|DELETE FROM) /.test(text))
})
afterAll(() => server.stop())

/** A bridge to a server that says it has Citus. */
function toCitus(pool: Pool): PostgresBridge {
  const within = (client: Pick<Pool, 'query'>): Pick<PostgresBridge, 'query'> => ({
    async query(text, values) {
      sent.add(text)
      const answer = await client.query(text, values)
      return text.includes('pg_extension') ? { rows: [{ ...answer.rows[0], isDistributed: 'true' }] } : answer
    },
  })
  return {
    ...within(pool),
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await work(within(client))
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
  }
}

/** Makes calls that send each statement of both stores. */
async function callAll(database: PostgresBridge): Promise<void> {
  const store = createPostgresStore({
    database,
    findTeam: id => ({ id, organizationId: '10', state: 'active', ...(id === '2' && { maxDomains: 50 }) }),
    synchronize(pushed) {
      if (pushed.some(({ domain }) => domain === 'refused.com')) throw new Error('refused')
    },
    onError() {},
  })
  const domains = ['a.com', 'b.a.com', 'c.com', '*.d.com', 'refused.com']
  await submit(store, '1', domains).catch(() => {})
  await submit(store, '1', domains).catch(() => {})
  await previewDomains(team1, { domains: [...domains, `${'a.'.repeat(20)}deep.com`] }, store)
  const [refused] = await store.listPending()
  await store.pendingStats()
  await store.retryPending()
  await store.synchronizePending()
  await transfer(store, { from: '1', to: '2', domains: ['c.com', 'refused.com'] })
  await importDomains(store, [toTestRegistration('e.com'), toTestRegistration('f.com', { synchronized: false })])
  await store.get?.(toTestRegistration('g.com').domainId)
  for (const team of [{}, { teamId: '1' }]) {
    for (const order of ['oldest', 'newest'] as const) await store.list({ ...team, order })
    await store.list({ ...team, below: 'a.com' })
    await store.count?.(team)
  }
  await releaseAll(store, '1')
  await store.synchronizePending()
  const silent = createPostgresStore({ database, findTeam: store.findTeam })
  await submit(silent, '1', ['h.com'])
  await silent.release('1', ['h.com'])
  await store.settlePending({ domainIds: refused ? [refused.domainId] : [] })

  const keys = createPostgresKeyStore({ database })
  const { hash, hint } = await generateApiKey({ type: 'team', id: '1' })
  await keys.addKey({ hash, hint, type: 'team', ownerId: '1', scopes })
  await keys.updateKey(hash, { label: 'renamed' })
  await keys.revokeKey(hash)
}

test('each statement of the store was sent', () => {
  // On Citus, sweeps do not walk over teams.
  const { findShares: _, ...others } = statements
  const left = Object.entries(others).filter(
    ([, text]) => ![...sent].some(other => other === text || (text.endsWith(VALUES) && other.startsWith(text))),
  )
  expect(left.map(([name]) => name)).toEqual([])
})

test('a changed row returns nothing that depends on more than the row', () => {
  expect(changes.flatMap(text => findMutable(text.match(/ RETURNING (.*)/s)?.[1] ?? ''))).toEqual([])
})

test('an update or deletion has no CASE and no coalesce() of what depends on more than the row', () => {
  const parts = changes
    .filter(text => !text.startsWith('INSERT'))
    .flatMap(text => [...text.matchAll(/\bCASE\b.*?\bEND\b/gs), ...text.matchAll(/\bcoalesce(?<inner>\(.*)/gs)])
    .map(([part, ...inner]) => (inner[0] ? firstInParentheses(inner[0]) : part))
  expect(parts.length).toBeGreaterThan(0)
  expect(parts.flatMap(findMutable)).toEqual([])
})

/** Statements about changes of all teams, about IDs alone, and about all names of a team. */
const VISITING_ALL_SHARDS = [
  ...['count', 'countOfTeam', 'listOldest', 'listNewest', 'listOldestOfTeam', 'listNewestOfTeam'],
  ...['findById', 'findTakenIds', 'findPendingIds', 'retry', 'settle'],
  ...['hasten', 'findFirst', 'findShares', 'findFailed', 'countChanges', 'findLongestRefused', 'listChanges'],
]

test('all statements that know names visit only the shards of these names', () => {
  const { locks, names, changes } = toTables({})
  const count = (text: string, part: string | RegExp) => text.split(part).length - 1
  // Citus visits all shards if one of the tables of a statement has no such condition.
  const visiting = Object.entries(statements).filter(
    ([, text]) =>
      [locks, names, changes].reduce((sum, table) => sum + count(text, table), 0) >
        count(text, /second_level_domain = (?:ANY )?\(*(?:ARRAY\[)?\$/) && !text.endsWith(VALUES),
  )
  expect(visiting.map(([name]) => name).sort()).toEqual(VISITING_ALL_SHARDS.sort())
})

const VALUES = ' VALUES '

/** The text of each statement. An `INSERT` ends before its rows. */
const statements = Object.fromEntries(
  Object.entries(createStatements(toTables({}), citus)).map(([name, statement]) => [
    name,
    typeof statement === 'function' ? statement(null, [])[0].text.replace(/(?<= VALUES ).*/s, '') : statement.text,
  ]),
)

const findMutable = (sql: string) =>
  [...sql.matchAll(/(\w+)\(/g)].flatMap(([, name = '']) => (mutable.has(name) ? [`${name} in ${sql}`] : []))

/** Returns what is in the parentheses with which a text begins. */
function firstInParentheses(text: string): string {
  let depth = 0
  for (const [index, character] of [...text].entries()) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0
    if (depth === 0) return text.slice(0, index + 1)
  }
  return text
}
