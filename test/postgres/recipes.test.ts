import { readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerDomains } from '../../src/operations/register-domains.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { team1 } from '../fixtures.ts'
import { buildOlderLibrary, findTeam, newerLibrary } from '../sql/two-lists.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
let pool: Pool
beforeAll(async () => {
  server = await openDatabase()
  pool = server.createPool()
  await migrate({ database: pool })
})
afterAll(() => server.stop())

/** The code blocks of docs/audit.md that contain SQL, before or after the heading "Looking up names". */
function readSql(part: 'audit' | 'looking up'): string[] {
  const text = readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8').split('## Looking up names')[
    part === 'audit' ? 0 : 1
  ] as string
  return [...text.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql as string)
}

async function register(...domains: string[]) {
  const store = createPostgresStore({ database: pool, findTeam })
  const { data } = await registerDomains(team1, { domains }, store)
  return data.results.flatMap(result => (result.status === 'created' ? [result] : []))
}

test('the query in docs/audit.md finds names that contain a word, with an index on a large table', async () => {
  await register('my-paypal-login.com', 'www.example.com')
  const [query = '', index = ''] = readSql('looking up')
  expect((await pool.query(query)).rows.map(({ domain }) => domain)).toEqual(['my-paypal-login.com'])

  for (const statement of index.split(';')) await pool.query(statement)
  await pool.query(`INSERT INTO domain_registration.names
    SELECT gen_random_uuid(), now(), base, '', base, base, '2'
    FROM generate_series(1, 20000) AS n, LATERAL (SELECT md5(n::text) || '.com') AS bases (base)`)
  await pool.query('VACUUM ANALYZE domain_registration.names')
  const { rows } = await pool.query(`EXPLAIN ${query}`)
  expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain('names_containing')
})

test('in docs/audit.md, the table keeps a name’s first entry; the query finds missing entries', async () => {
  const [create = '', insert = '', findMissing = ''] = readSql('audit')
  await pool.query('DELETE FROM domain_registration.names')
  await pool.query(create)
  const [told, missed] = await register('told.example.com', 'missed.example.com')
  for (const hash of ['first', 'second']) await pool.query(insert, [told?.domainId, told?.domain, hash, null])
  expect((await pool.query('SELECT registered_by FROM domain_audit')).rows).toEqual([{ registered_by: 'first' }])
  expect((await pool.query(findMissing)).rows).toMatchObject([{ domain_id: missed?.domainId, team_id: '1' }])
})

test('if servers use different suffix lists, names may overlap; a query in the guide finds them', async () => {
  const olderLibrary = await buildOlderLibrary()
  const keyOf = (teamId: string) => ({ type: 'team', teamId, scopes: ['domains:create'] }) as const
  const client = await pool.connect()
  await client.query('BEGIN')
  const query = (text: string, values: unknown[]) => client.query(text, values)
  const older = olderLibrary.createPostgresStore({ database: { query }, findTeam })
  await olderLibrary.registerDomains(keyOf('1'), { domains: ['*.codepen.app', '*.example.com'] }, older)
  const newer = newerLibrary.createPostgresStore({ database: pool, findTeam })
  const { data } = await newerLibrary.registerDomains(keyOf('2'), { domains: ['shop.codepen.app', 'a.org'] }, newer)
  await client.query('COMMIT')
  client.release()
  expect(data.totals).toMatchObject({ created: 2 })

  const guide = readFileSync(new URL('../../docs/production.md', import.meta.url), 'utf8')
  const { rows } = await pool.query(/^```sql\n([^`]+)```/m.exec(guide)?.[1] ?? '')
  const overlap = { wildcard: '*.codepen.app', team_of_wildcard: '1', domain: 'shop.codepen.app', team_id: '2' }
  expect(rows).toEqual([overlap])
})

test('the queries in docs/postgres.md use an index, and a foreign key as in docs/teams.md is accepted', async () => {
  const readStatements = (page: string) => {
    const guide = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
    return [...guide.matchAll(/```sql\n(.*?)```/gs)].flatMap(([, sql = '']) => sql.split(/;.*\n/).filter(Boolean))
  }
  const queries = readStatements('postgres.md')
  expect(queries).toHaveLength(2)
  const client = await pool.connect()
  await client.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off')
  for (const query of queries) {
    const { rows } = await client.query(`EXPLAIN ${query}`)
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toMatch(/Index (?:Only )?Scan.*\n.*Index Cond/)
  }
  await client.query('CREATE TABLE notes (domain_id uuid)')
  for (const statement of readStatements('teams.md')) await client.query(statement)
  await client.query('ROLLBACK')
  client.release()
})
