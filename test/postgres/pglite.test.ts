import { PGlite } from '@electric-sql/pglite'
import { afterAll, expect, test } from 'vitest'
import { createPostgresStore, postgresSchema } from '../../src/postgres/index.ts'
import { save } from '../../src/testing/calls.ts'
import { counts } from '../counts.ts'
import { describeKeyStore, describeStore } from './suites.ts'

const pool = new PGlite()
afterAll(() => pool.close())

describeStore('PGlite', () => pool, {}, counts.casesOfDrivers)
describeKeyStore('PGlite', () => pool)

test('the SQL from postgresSchema creates everything that a store needs, and can run twice', async () => {
  await pool.exec(postgresSchema({ schema: 'mine' }))
  await pool.exec(postgresSchema({ schema: 'mine' }))
  const store = createPostgresStore({ database: pool, schema: 'mine', findTeam: () => null })
  expect(await save(store, '1', ['example.com'])).toHaveLength(1)
})
