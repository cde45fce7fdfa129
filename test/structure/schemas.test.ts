import { expect, test } from 'vitest'
import { citus } from '../../src/postgres/engines/citus.ts'
import { createSchema, SCHEMA_VERSION as POSTGRES_VERSION } from '../../src/postgres/schema.ts'
import { SCHEMA_VERSION as SQLITE_VERSION, sqliteSchema } from '../../src/sqlite/schema.ts'

const WHAT_TO_DO = `The tables differ from the snapshot of their version. Existing tables are not created anew, so \
once this version is released: raise SCHEMA_VERSION and write the migration step. Before that, update the snapshot: \
npx vitest run test/structure/schemas.test.ts --update`

/** Comments are not compared, because they may change in any version. */
const withoutComments = (sql: string) =>
  `${sql
    .replaceAll(/ *--.*$/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .trim()}\n`

test.each([
  [`test/postgres/schema-${POSTGRES_VERSION}.sql`, createSchema({}).join(';\n')],
  [`test/postgres/schema-${POSTGRES_VERSION}-citus.sql`, createSchema({}, citus).join(';\n')],
  [`test/sqlite/schema-${SQLITE_VERSION}.sql`, sqliteSchema()],
])('the SQL that creates the tables matches the snapshot %s', async (file, sql) => {
  await expect(withoutComments(sql), WHAT_TO_DO).toMatchFileSnapshot(`../../${file}`)
})
