import BetterSqlite from 'better-sqlite3'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'

const database = new BetterSqlite(':memory:')
createSqliteStore({ database, findTeam: () => null })
createSqliteKeyStore({ database })
