import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createPostgresStore } from '../../src/postgres/index.ts'
import { compile } from '../compile.ts'
import { findTeam } from '../sql/two-lists.ts'
import { openDatabase } from './server.ts'

test('examples/move-table.ts moves a table, reports dirty rows, and adds nothing the second time', async () => {
  const server = await openDatabase()
  onTestFinished(() => server.stop())
  const pool = server.createPool()
  await pool.query(`CREATE TABLE customer_domains (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, team_id integer, hostname text,
    created_at timestamptz NOT NULL DEFAULT now())`)
  const dirty = [
    [1, ' WWW.Example.com. '],
    [1, 'https://shop.example.com/cart'],
    [1, 'www.example.com'],
    [2, 'www.example.com'],
    [1, 'localhost'],
    [1, ''],
    [1, '*.example.net'],
    [1, 'a.example.net'],
    [1, null],
    [null, 'example.edu'],
  ] as const
  for (const row of dirty)
    await pool.query('INSERT INTO customer_domains (team_id, hostname) VALUES ($1, $2)', [...row])
  await pool.query(`INSERT INTO customer_domains (team_id, hostname, created_at)
    SELECT 3, 'Host-' || n || '.example.org', '2020-01-02T03:04:05.678Z' FROM generate_series(1, 2500) AS n`)

  async function move() {
    const { user, password, host, port, database } = server.config
    const child = spawn(process.execPath, [await compile('examples/move-table.ts')], {
      cwd: new URL('../..', import.meta.url),
      env: { ...process.env, DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${database}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [lines, summary, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    expect(code).toBe(0)
    return {
      summary,
      rejected: lines
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
    }
  }
  const first = await move()
  expect(first.summary).toBe('2503 moved, 0 moved before, 7 not moved\n')
  expect(first.rejected.map(({ id, code }) => [id, code])).toEqual([
    ['9', 'incomplete'],
    ['10', 'incomplete'],
    ['3', 'domain_has_another_id'],
    ['4', 'domain_already_licensed'],
    ['5', 'internal_domain'],
    ['6', 'empty_domain'],
    ['8', 'wildcard_conflict'],
  ])
  const second = await move()
  expect(second).toEqual({ ...first, summary: '0 moved, 2503 moved before, 7 not moved\n' })

  const store = createPostgresStore({ database: pool, findTeam })
  expect(await store.count()).toBe(2503)
  const [listed] = await store.list({ teamId: '3', limit: 1 })
  const { rows } = await pool.query(`SELECT id, hostname, created_at FROM customer_domains WHERE domain_id = $1`, [
    listed?.domainId,
  ])
  expect(rows[0].hostname.toLowerCase()).toBe(listed?.domain)
  expect(listed?.createdAt).toEqual(rows[0].created_at)
  const names = (await store.list({ teamId: '1' })).map(({ domain }) => domain)
  expect(names.toSorted()).toEqual(['*.example.net', 'shop.example.com', 'www.example.com'])
})
