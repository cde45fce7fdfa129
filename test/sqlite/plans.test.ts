import { afterAll, describe, expect, test } from 'vitest'
import { createSqliteKeyStore, createSqliteStore } from '../../src/sqlite/index.ts'
import { keyStatements } from '../../src/sqlite/key-store.ts'
import { statements } from '../../src/sqlite/statements.ts'
import { openDatabase } from './open-database.ts'

const database = openDatabase()
createSqliteStore({ database, findTeam: () => null })
createSqliteKeyStore({ database })
afterAll(() => void database.close())

const names = 'domain_registration_names'
const byName = `SEARCH ${names} USING INDEX ${names}_by_path (registrable_domain=? AND path=?)`
const byId = `SEARCH ${names} USING PRIMARY KEY (domain_id=?)`
const releases = 'domain_registration_releases'
const releaseById = `SEARCH ${releases} USING PRIMARY KEY (domain_id=?)`
const ownBelow = `${names}_below (registrable_domain=? AND team_id=? AND path>? AND path<?)`

/** What SQLite says that it does. A statement that is missing here does not compile; a bare SCAN is in none of them. */
const plans: Readonly<Record<keyof typeof statements, readonly string[]>> = {
  findName: [byName],
  countOwnBelow: ['CO-ROUTINE (subquery-1)', `SEARCH ${names} USING COVERING INDEX ${ownBelow}`, 'SCAN (subquery-1)'],
  findOwnBelow: [`SEARCH ${names} USING INDEX ${ownBelow}`],
  findBelow: [`SEARCH ${names} USING COVERING INDEX ${names}_by_path (registrable_domain=? AND path>? AND path<?)`],
  findLastId: [`SEARCH ${names} USING PRIMARY KEY`],
  insertName: [],
  deleteName: [byId],
  list: [`SEARCH ${names} USING PRIMARY KEY (domain_id>?)`],
  listOfTeam: [`SEARCH ${names} USING INDEX ${names}_by_team (team_id=? AND domain_id>?)`],
  findDueNames: [`SEARCH ${names} USING INDEX ${names}_due (due<?)`],
  findDueReleases: [`SEARCH ${releases} USING INDEX ${releases}_due (due<?)`],
  leaseName: [byId],
  leaseRelease: [releaseById],
  postponeName: [byId],
  postponeSaved: [byId],
  postponeRelease: [releaseById],
  markSynchronized: [byId],
  insertRelease: [],
  forgetRelease: [releaseById],
  // It counts what waits, and what waits alone.
  countPending: [
    'SCAN CONSTANT ROW',
    'SCALAR SUBQUERY 1',
    `SEARCH ${names} USING COVERING INDEX ${names}_due (due>?)`,
    'SCALAR SUBQUERY 2',
    `SCAN ${releases} USING COVERING INDEX ${releases}_due`,
  ],
}

const keys = 'domain_registration_keys'
const byHash = `SEARCH ${keys} USING INDEX sqlite_autoindex_${keys}_1 (hash=?)`
const keyPlans: Readonly<Record<keyof typeof keyStatements, readonly string[]>> = {
  find: [byHash],
  list: [`SEARCH ${keys} USING INDEX ${keys}_of_owners (type=? AND owner_id=?)`],
  add: [],
  revoke: [byHash],
  expire: [byHash],
}

describe('SQLite walks no more than it is asked for:', () => {
  const all = [
    ...Object.entries(statements).map(([name, { sql }]) => [name, sql, plans[name as keyof typeof plans]] as const),
    ...Object.entries(keyStatements).map(
      ([name, sql]) => [`${name} of keys`, sql, keyPlans[name as keyof typeof keyPlans]] as const,
    ),
  ]
  test.each(all)('%s', (_, sql, plan) => {
    const parameters = sql.replace(/[^?]/g, '').length
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array<string>(parameters).fill('1')) as {
      detail: string
    }[]
    expect(rows.map(({ detail }) => detail)).toEqual(plan)
  })
})
