import type { PGlite, PGliteInterface } from '@electric-sql/pglite'
import type { Pool, PoolClient } from 'pg'
import { expect, expectTypeOf, test } from 'vitest'
import {
  createPostgresKeyStore,
  createPostgresStore,
  type EmbeddedPostgres,
  migrate,
  type PostgresClient,
  type PostgresPool,
} from '../../src/postgres/index.ts'

// Checked by `tsc`, against the declarations of the real packages.
test('a pg pool and PGlite have the types that the store asks for', () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>()
  expectTypeOf<PoolClient>().toExtend<PostgresClient>()
  expectTypeOf<PGlite>().toExtend<EmbeddedPostgres>()
  expectTypeOf<PGliteInterface>().toExtend<EmbeddedPostgres>()
  expectTypeOf<object>().not.toExtend<PostgresPool>()
})

test('without types, what is no pool or no way to find a team is refused at start-up', async () => {
  for (const pool of [undefined, null, {}, 'postgres://localhost'] as never[]) {
    expect(() => createPostgresStore({ pool, findTeam: () => null })).toThrow('"pool" must be')
    expect(() => createPostgresKeyStore({ pool })).toThrow('"pool" must be')
    await expect(migrate({ pool })).rejects.toThrow('"pool" must be')
  }
  const pool = { connect() {} } as never
  expect(() => createPostgresStore({ pool, findTeam: undefined as never })).toThrow('"findTeam" must be')
})
