import { expect, test } from 'vitest'
import { readColumns, requireTables } from '../../src/sql/tables.ts'

const script = `
CREATE TABLE IF NOT EXISTS names (
  id uuid NOT NULL,
  domain text, -- as it was registered
  PRIMARY KEY (id)
);
CREATE INDEX IF NOT EXISTS by_domain ON names (domain);
CREATE TABLE IF NOT EXISTS "my ""tables".later (
  id uuid
) STRICT`

const needed = readColumns(script, { '"my ""tables".later': 2 })
const [id, domain, later] = needed as [(typeof needed)[0], (typeof needed)[0], (typeof needed)[0]]

test('the columns of a script are read with the version of their table', () => {
  expect(needed).toEqual([
    { table: 'names', column: 'id', since: 1 },
    { table: 'names', column: 'domain', since: 1 },
    { table: '"my ""tables".later', column: 'id', since: 2 },
  ])
})

const lost = 'Tables have been dropped, or were not restored: '
const lacking = 'The tables lack columns that this version needs: '

test.each([
  ['there are no tables', 0, [id, domain, later], undefined],
  ['tables of version 1 lack the table that came with version 2', 1, [later], undefined],
  ['tables of version 1 lack a column, which a migration may add', 1, [domain], undefined],
  ['tables of version 1 have lost a table', 1, [id, domain, later], `${lost}names. `],
  ['tables of version 2 have lost a table', 2, [later], `${lost}"my ""tables".later. `],
  ['tables of version 2 lack a column', 2, [domain], `${lacking}names.domain. `],
  ['tables are complete', 2, [], undefined],
  ['the tables have version 3', 3, [], 'The tables have version 3; this package supports up to version 2'],
])('version 2 is needed, and %s', (_, version, missing, message) => {
  const check = () => requireTables({ version, current: 2 }, needed, missing)
  if (message === undefined) check()
  else expect(check).toThrow(message)
})
