import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { keyStatements } from '../../src/sqlite/keys.ts'
import { statements } from '../../src/sqlite/statements.ts'
import { createSqliteWaitingStore, waitingStatements } from '../../src/sqlite/waiting.ts'
import { openDatabase } from './open-database.ts'

const database = openDatabase()
createSqliteStore({ database, findTeam: () => null })
createSqliteWaitingStore({ database })
afterAll(() => void database.close())

const byId = ['sqlite_autoindex_names_1 (domain_id=?)']
const changeById = ['PRIMARY KEY (domain_id=?)']
/** The plan of the subquery that determines whether a name has a pending change. */
const isSynchronized = 'PRIMARY KEY (domain_id=?)'
const below = 'second_level_domain=? AND path>? AND path<?'
const belowOfTeam = 'second_level_domain=? AND team_id=? AND path>? AND path<?'
const within = 'registrable_domain=? AND path>? AND path<?'
const withinOfTeam = 'registrable_domain=? AND team_id=? AND path>? AND path<?'
/** The plans for reading an array parameter. Despite the word `SCAN`, no table is read. */
const bases = 'SCAN json_each VIRTUAL TABLE INDEX 1:'
const oneByOne = 'SCAN asked VIRTUAL TABLE INDEX 1:'
const waitingByName = ['PRIMARY KEY (team_id=? AND domain=?)']
const keyByHash = ['sqlite_autoindex_keys_1 (hash=?)']

/** The expected plan of each statement: which columns are compared in which index. */
const plans: Readonly<Record<keyof typeof statements | keyof typeof keyStatements, readonly string[]>> = {
  findByDomain: [oneByOne, 'names_by_domain (domain=?)', isSynchronized],
  findWildcards: [oneByOne, 'SCAN length VIRTUAL TABLE INDEX 1:', 'names_by_domain (domain=?)', isSynchronized],
  findById: [...byId, isSynchronized],
  countOwnWithin: [`names_of_team_within (${withinOfTeam})`, bases],
  findOwnWithin: [`names_of_team_within (${withinOfTeam})`, bases],
  findWithin: [`names_within (${within})`, bases],
  findBehindSuffixes: [`names_by_path (${below})`],
  findLastId: ['sqlite_autoindex_names_1'],
  insertName: [],
  transferName: byId,
  deleteName: byId,
  listOldest: ['sqlite_autoindex_names_1 (domain_id>?)', isSynchronized],
  listNewest: ['sqlite_autoindex_names_1 (domain_id<?)', isSynchronized],
  listBelow: [`names_by_path (${below})`, isSynchronized],
  listOldestOfTeam: ['names_by_team (team_id=? AND domain_id>?)', isSynchronized],
  listNewestOfTeam: ['names_by_team (team_id=? AND domain_id<?)', isSynchronized],
  listBelowOfTeam: [`names_of_team_below (${belowOfTeam})`, isSynchronized],
  count: ['every entry of names_by_domain'],
  countOfTeam: ['names_by_team (team_id=?)'],
  putChange: [],
  follow: ['changes_following (follows=?)'],
  lease: changeById,
  setDue: changeById,
  take: changeById,
  bringForward: ['changes_next (line=? AND due>?)'],
  findNextTeam: ['changes_next_of_team (line=? AND team_id>?)'],
  findDueOfTeam: ['changes_next_of_team (line=? AND team_id=? AND due<?)'],
  findDue: ['changes_next (line=? AND due<?)'],
  findChange: changeById,
  deleteChange: changeById,
  postpone: changeById,
  findMonitor: ['SCAN monitor'],
  addMonitor: [],
  retry: changeById,
  retryAll: [...changeById, 'changes_next (line=? AND due>?)'],
  settle: changeById,
  // Sorts the refused changes, of which there are few.
  findLongestRefused: ['changes_next (line=?)', 'USE TEMP B-TREE FOR ORDER BY'],
  listChanges: ['PRIMARY KEY (domain_id>?)'],
  stats: ['SCAN changes', 'changes_next (line=?)'],
  find: keyByHash,
  list: ['keys_of_owners (type=? AND owner_id=?)'],
  add: [],
  revoke: keyByHash,
  update: keyByHash,
}

/** The same of the names that wait. */
const waitingPlans: Readonly<Record<keyof typeof waitingStatements, readonly string[]>> = {
  find: waitingByName,
  countOfTeam: ['PRIMARY KEY (team_id=?)'],
  keep: [],
  remove: waitingByName,
  findTeam: ['waiting_due (due<?)', 'USE TEMP B-TREE FOR DISTINCT', 'USE TEMP B-TREE FOR ORDER BY'],
  // A team has at most 1,000 names.
  findDue: ['PRIMARY KEY (team_id=?)', 'USE TEMP B-TREE FOR ORDER BY'],
  take: waitingByName,
  end: waitingByName,
  postpone: waitingByName,
  hasten: ['PRIMARY KEY (team_id=?)'],
  list: ['PRIMARY KEY (team_id=?)'],
  findOldest: ['waiting_due'],
  count: ['every entry of waiting_due'],
}

/** The queries that docs/sqlite.md shows for an application: of a name and of a team. */
const [ofName = '', ofTeam = ''] =
  /```sql\n(.*?)```/s.exec(readFileSync('docs/sqlite.md', 'utf8'))?.[1]?.split(';\n') ?? []

const all = [
  ...Object.entries(statements).map(([name, { sql }]) => [name, sql, plans[name as keyof typeof plans]] as const),
  ...Object.entries(keyStatements).map(([name, { sql }]) => [name, sql, plans[name as keyof typeof plans]] as const),
  ...Object.entries(waitingStatements).map(
    ([name, { sql }]) => [`${name} of names that wait`, sql, waitingPlans[name as keyof typeof waitingPlans]] as const,
  ),
  ["the application's lookup of a name", ofName, plans.findByDomain.slice(1, 2)],
  ["the application's lookup of a team", ofTeam, plans.countOfTeam],
] as const

test.each(all)(
  'SQLite runs the statement "%s" with the expected indexes, and sorts only where expected',
  (_, sql, plan) => {
    const parameters = sql.replace(/[^?]/g, '').length
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array<string>(parameters).fill('1')) as {
      detail: string
    }[]
    const steps = rows
      .map(({ detail }) => detail)
      .filter(detail => !/SUBQUERY \d$|\(subquery-\d\)$|BLOOM FILTER/.test(detail))
    expect(steps.map(shorten)).toEqual(plan)
  },
)

const shorten = (step: string) =>
  step
    .replaceAll('domain_registration_', '')
    .replace(/^SEARCH \S+ USING (?:COVERING )?(?:INDEX )?/, '')
    .replace(/^SCAN \S+ USING COVERING INDEX/, 'every entry of')
