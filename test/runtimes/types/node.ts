import { DatabaseSync } from 'node:sqlite'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'

const database = new DatabaseSync(':memory:')
createSqliteStore({ database, findTeam: () => null })
createSqliteKeyStore({ database })
// @ts-expect-error: a file name is not a database
createSqliteStore({ database: ':memory:', findTeam: () => null })
