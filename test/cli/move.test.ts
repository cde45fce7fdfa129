import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createUuidGenerator } from '../../src/store/index.ts'
import { manyDomains } from '../../src/testing/calls.ts'
import { createPostgres, createSqlite, databases, type TestDatabase } from './databases.ts'
import { bundleProgram } from './program.ts'

const createId = createUuidGenerator()
const rows = manyDomains(5500).map((domain, index) => ({
  domainId: createId(),
  domain,
  registrableDomain: domain,
  teamId: String(1 + (index % 3)),
  synchronized: index % 10 !== 0,
  createdAt: new Date(1_767_000_000_000 + index).toISOString(),
}))
const toLines = (all: readonly object[]) => all.map(each => `${JSON.stringify(each)}\n`).join('')
const all = toLines([...rows, { end: true, registrations: rows.length }])

const count = async (database: TestDatabase) => Number((await database.run(['count'])).stdout)

// SQLite in WebAssembly creates a folder as its lock. If the process is killed, the folder remains.
const killable = databases.filter(([name]) => !name.includes('wasm'))

describe.each(killable)('on %s', (_, create) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await create()
    await database.run(['migrate'])
  })
  afterAll(() => database.close())

  test('if an import is killed, repeating it imports the rest', async () => {
    const { file, remove } = await bundleProgram()
    onTestFinished(remove)
    const parameters = ['--no-warnings', file, 'import', '--database', database.address]
    const child = spawn(process.execPath, parameters, { cwd: database.folder, stdio: ['pipe', 'ignore', 'inherit'] })
    const exit = once(child, 'exit')
    // The input does not end, so neither does the import.
    child.stdin.on('error', () => {}).write(toLines(rows))
    while ((await count(database)) === 0);
    child.kill('SIGKILL')
    await exit
    const saved = await count(database)
    expect(saved % 1000).toBe(0)
    const imported = await database.run(['import', '--json'], { input: all })
    expect(JSON.parse(imported.stdout)).toEqual({
      imported: rows.length - saved,
      existing: saved,
      rejected: [],
      waiting: 0,
      isWhole: true,
    })
    const exported = (await database.run(['export'])).stdout.trimEnd().split('\n')
    expect(exported.map(line => JSON.parse(line))).toEqual([...rows, { end: true, registrations: rows.length }])
  })
})

describe.each([
  ['SQLite', createSqlite, 'PostgreSQL', createPostgres],
  ['PostgreSQL', createPostgres, 'SQLite', createSqlite],
] as const)('from %s', (_, createOld, name, createNew) => {
  let old: TestDatabase
  let next: TestDatabase
  beforeAll(async () => {
    ;[old, next] = [await createOld(), await createNew()]
    for (const database of [old, next]) await database.run(['migrate'])
    await old.run(['import'], { input: all })
  })
  afterAll(async () => {
    await old.close()
    await next.close()
  })

  test(`an export is imported into ${name} unchanged`, async () => {
    const { stdout } = await old.run(['export'])
    const first = await next.run(['import'], { input: stdout })
    expect(first).toMatchObject({ code: 0, stdout: 'Imported 5500 registrations; 0 existed already.\n' })
    expect((await next.run(['export'])).stdout).toBe(stdout)
    const again = await next.run(['import'], { input: stdout })
    expect(again).toMatchObject({ code: 0, stdout: 'Imported 0 registrations; 5500 existed already.\n' })
  })

  test(`names that wait are imported into ${name}, and wait until the same time`, async () => {
    const refusal = { code: 'invalid_domain', reason: 'not_verified', message: 'Add a record.' }
    const until = new Date(Date.now() + 86_400_000).toISOString()
    const waiting = { waits: true, teamId: '1', domain: 'waits.example.com', registrableDomain: 'example.com', refusal }
    const input = toLines([
      { ...waiting, until },
      { end: true, registrations: 0, waiting: 1 },
    ])
    const first = await old.run(['import'], { input })
    expect(first).toMatchObject({ code: 0, stdout: 'Imported 0 registrations; 0 existed already.\n1 name waits.\n' })
    const { stdout } = await old.run(['export'])
    await next.run(['import'], { input: stdout })
    const moved = (await next.run(['export'])).stdout.split('\n').find(line => line.includes('"waits"')) ?? ''
    const { until: end, ...name } = JSON.parse(moved)
    expect(name).toEqual(waiting)
    expect(Math.abs(Date.parse(end) - Date.parse(until))).toBeLessThan(60_000)
    const shown = await next.run(['waiting', '--team', '1'])
    expect(shown.stdout).toMatch(/^Waiting: 1 name waits, .*\nwaits\.example\.com +1 +.*Add a record\.\n$/s)
    const cut = await next.run(['import'], { input: toLines([{ end: true, registrations: 0, waiting: 1 }]) })
    expect(cut).toMatchObject({ code: 1, stdout: expect.stringContaining('Import the whole output again.') })
  })

  test('an import with missing, rejected or invalid lines exits 1', async () => {
    const cut = await next.run(['import'], { input: toLines(rows.slice(0, 3)) })
    expect(cut).toMatchObject({ code: 1, stdout: expect.stringContaining('Import the whole output again.') })
    const input = toLines([
      { ...rows[0], teamId: '2' },
      { end: true, registrations: 1 },
    ])
    const rejected = await next.run(['import'], { input })
    expect(rejected).toMatchObject({ code: 1, stdout: expect.stringMatching(/n0\.com +2 .*domain_already_licensed/) })
    const wrong = await next.run(['import'], { input: `${toLines(rows.slice(0, 1))}\n{"domainId":` })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('Line 3 is not JSON') })
  })

  test('`export` fails while a release is pending', async () => {
    await next.run(['release', '--team', '1', 'n0.com'])
    const { code, stdout, stderr } = await next.run(['export'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('The release of "n0.com" is still pending')
  })
})
