import { SQL } from 'bun'
import { createPostgresKeyStore, createPostgresStore, migrate } from 'domain-registration/postgres'

const database = new SQL('postgres://localhost')
createPostgresStore({ database, findTeam: () => null })
createPostgresKeyStore({ database })
void migrate({ database })
