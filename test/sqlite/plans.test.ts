import { afterAll, expect, test } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/index.ts'
import { keyStatements } from '../../src/sqlite/keys.ts'
import { statements } from '../../src/sqlite/statements.ts'
import { openDatabase } from './open-database.ts'

const database = openDatabase()
createSqliteStore({ database, findTeam: () => null })
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
const keyByHash = ['sqlite_autoindex_keys_1 (hash=?)']

/** The expected plan of each statement: which columns are compared in which index. */
const plans: Readonly<Record<keyof typeof statements | keyof typeof keyStatements, readonly string[]>> = {
  findByDomain: [oneByOne, 'names_by_domain (domain=?)', isSynchronized],
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
  bringForward: ['changes_due (line=? AND due>?)'],
  findTeams: [
    'CO-ROUTINE team',
    'SETUP',
    'changes_due (line=? AND due<?)',
    'RECURSIVE STEP',
    'SCAN team',
    'changes_of_team (line=? AND team_id>?)',
    'changes_of_team (line=?)',
    'SCAN team',
  ],
  findDueOfTeam: ['changes_of_team (line=? AND team_id=? AND due<?)', ...changeById],
  findDue: ['changes_due (line=? AND due<?)', ...changeById],
  findChange: changeById,
  deleteChange: changeById,
  postpone: changeById,
  findMonitor: ['SCAN monitor'],
  addMonitor: [],
  retry: changeById,
  retryAll: [...changeById, 'changes_due (line=? AND due>?)'],
  settle: changeById,
  // Sorts the refused changes, of which there are few.
  findLongestRefused: ['changes_due (line=?)', 'USE TEMP B-TREE FOR ORDER BY'],
  listChanges: ['PRIMARY KEY (domain_id>?)'],
  stats: ['every entry of changes_due', 'changes_due (line=?)'],
  find: keyByHash,
  list: ['keys_of_owners (type=? AND owner_id=?)'],
  add: [],
  revoke: keyByHash,
  update: keyByHash,
}

const all = [
  ...Object.entries(statements).map(([name, { sql }]) => [name, sql, plans[name as keyof typeof plans]] as const),
  ...Object.entries(keyStatements).map(([name, { sql }]) => [name, sql, plans[name as keyof typeof plans]] as const),
  [
    "the application's lookup of a name",
    `SELECT * FROM domain_registration_names WHERE domain = ?`,
    plans.findByDomain.slice(1, 2),
  ],
  [
    "the application's lookup of a team",
    `SELECT * FROM domain_registration_names WHERE team_id = ? ORDER BY domain_id`,
    plans.countOfTeam,
  ],
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
