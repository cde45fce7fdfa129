import { Database } from 'bun:sqlite'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'

const database = new Database(':memory:')
createSqliteStore({ database, findTeam: () => null })
createSqliteKeyStore({ database })
