import type { PGlite, PGliteInterface } from '@electric-sql/pglite'
import type { Pool, PoolClient } from 'pg'
import { expectTypeOf, test } from 'vitest'
import type { EmbeddedPostgres, PostgresClient, PostgresPool } from '../../src/postgres/index.ts'

// Checked by `tsc`, against the declarations of the real packages.
test('a pg pool and PGlite have the types that the store asks for', () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>()
  expectTypeOf<PoolClient>().toExtend<PostgresClient>()
  expectTypeOf<PGlite>().toExtend<EmbeddedPostgres>()
  expectTypeOf<PGliteInterface>().toExtend<EmbeddedPostgres>()
  expectTypeOf<object>().not.toExtend<PostgresPool>()
})
