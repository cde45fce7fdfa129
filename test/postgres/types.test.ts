import type { PGlite, PGliteInterface, Transaction } from '@electric-sql/pglite'
import type { Pool, PoolClient } from 'pg'
import type { Sql, TransactionSql } from 'postgres'
import { expect, expectTypeOf, test } from 'vitest'
import {
  createPostgresKeyStore,
  createPostgresStore,
  migrate,
  type PostgresBridge,
  type PostgresClient,
  type PostgresDriver,
  type PostgresJs,
  type PostgresJsTransaction,
  type PostgresPool,
  type PostgresTransaction,
} from '../../src/postgres/index.ts'

// Checked by `tsc`, against the declarations of the real packages.
test('the drivers have the types that the store asks for', () => {
  expectTypeOf<Pool>().toExtend<PostgresPool>()
  expectTypeOf<PoolClient>().toExtend<PostgresClient>()
  expectTypeOf<PGlite>().toExtend<PostgresBridge>()
  expectTypeOf<PGliteInterface>().toExtend<PostgresBridge>()
  expectTypeOf<Transaction>().toExtend<PostgresTransaction>()
  expectTypeOf<Sql>().toExtend<PostgresJs>()
  expectTypeOf<TransactionSql>().toExtend<PostgresJsTransaction>()
  expectTypeOf<Pool | PGlite | Sql>().toExtend<PostgresDriver>()
  expectTypeOf<object>().not.toExtend<PostgresDriver>()
})

test('without types, what is no driver or no way to find a team is refused at start-up', async () => {
  for (const pool of [undefined, null, {}, 'postgres://localhost', { transaction() {} }] as never[]) {
    expect(() => createPostgresStore({ database: pool, findTeam: () => null })).toThrow('"database" must be')
    expect(() => createPostgresKeyStore({ database: pool })).toThrow('"database" must be')
    await expect(migrate({ database: pool })).rejects.toThrow('"database" must be')
  }
  const pool = { connect() {} } as never
  expect(() => createPostgresStore({ database: pool, findTeam: undefined as never })).toThrow('"findTeam" must be')
})
