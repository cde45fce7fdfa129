import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { save, toDomains } from '../../src/testing/calls.ts'
import { databases, type TestDatabase } from './databases.ts'

describe.each(databases)('on %s', (_, create) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await create()
  })
  beforeEach(() =>
    database.withStore(async store => {
      for (const teamId of ['1', '2'])
        await store.release(
          teamId,
          (await store.list({ teamId })).map(each => each.domain),
        )
      await save(store, '1', ['a.com', 'b.com', '*.c.com'])
    }),
  )
  afterAll(() => database.close())

  const countOf = async (team: string) => Number((await database.run(['count', '--team', team])).stdout)

  test('`release --all` releases registrations only if their number is typed to confirm, or with --yes', async () => {
    const release = ['release', '--team', '1', '--all']
    for (const input of ['2\n', '']) expect(await database.run(release, { input })).toMatchObject({ code: 2 })
    expect(await countOf('1')).toBe(3)
    expect(await database.run(release, { input: '3\n' })).toMatchObject({ code: 0 })
    expect(await countOf('1')).toBe(0)
    await database.withStore(async store => void (await save(store, '1', ['a.com'])))
    expect(await database.run([...release, '--yes'])).toMatchObject({ code: 0 })
    expect(await countOf('1')).toBe(0)
  })

  test('`release` reads names and IDs from standard input, and exits 1 if the team has none of them', async () => {
    const { domains } = JSON.parse((await database.run(['list', '--team', '1', '--json'])).stdout)
    const input = `A.com\n${domains.at(-1).domainId}\nx.c.com\nnone.com\n`
    expect(await database.run(['release', '--team', '2'], { input })).toMatchObject({ code: 1 })
    const { stdout } = await database.run(['release', '--team', '1', '--json'], { input })
    expect(toDomains(JSON.parse(stdout).released).sort()).toEqual(['*.c.com', 'a.com'])
    expect(await countOf('1')).toBe(1)
  })

  test('`transfer` moves given names, or all, to another team, and records pending changes', async () => {
    const transfer = ['transfer', '--from', '1', '--to', '2']
    expect((await database.run([...transfer, '--yes', 'a.com'])).stdout).toMatch(
      /^Transferred 1 .*\na\.com {2}\S+ {2}\S+\n$/,
    )
    expect(await database.run([...transfer, 'a.com'])).toMatchObject({ code: 1 })
    expect(await database.run([...transfer, '--all'], { input: '3\n' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('This transfers 2 registrations from team 1 to team 2. To confirm, type 2'),
    })
    expect(await database.run([...transfer, '--all'], { input: '2\n' })).toMatchObject({ code: 0 })
    expect([await countOf('1'), await countOf('2')]).toEqual([0, 3])
    const { changes } = JSON.parse((await database.run(['pending', '--team', '2', '--json'])).stdout)
    expect(changes.filter(({ kind }: { kind: string }) => kind === 'registered')).toHaveLength(3)
  })

  test('`keys export` and `keys import` move complete key records', async () => {
    await database.run(['keys', 'create', '--team', '1', '--label', 'deploy', '--expires', '2099-01-01'])
    const { stdout } = await database.run(['keys', 'export'])
    const other = await create()
    try {
      await other.withStore(async () => {})
      expect((await other.run(['keys', 'import'], { input: stdout })).stdout).toMatch(/^Added 1 key; 0 existed/)
      expect((await other.run(['keys', 'import'], { input: stdout })).stdout).toMatch(/^Added 0 keys; 1 existed/)
      expect((await other.run(['keys', 'export'])).stdout).toBe(stdout)
      const { hash } = JSON.parse(stdout)
      const revoked = stdout.replace('"revokedAt":null', '"revokedAt":"2026-01-01T00:00:00.000Z"')
      expect((await other.run(['keys', 'import'], { input: revoked })).stdout).toMatch(/^Added 0 keys; 1 existed/)
      expect((await other.run(['keys', 'who', hash])).stdout).toMatch(/ revoked 20/)
      await other.run(['keys', 'import'], { input: stdout })
      expect((await other.run(['keys', 'who', hash])).stdout).toMatch(/ revoked 20/)
      const changed = `\n${stdout.replace('2099-01-01T00:00:00.000Z', '12')}`
      expect(await other.run(['keys', 'import'], { input: changed })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Line 2 is not a key record'),
      })
    } finally {
      await other.close()
    }
  })

  test('`transfer` asks before it moves names to a team that has nothing yet', async () => {
    const transfer = ['transfer', '--from', '1', '--to', '7777']
    const asked = await database.run([...transfer, 'a.com', 'b.com'], { input: 'yes\n' })
    expect(asked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('7777 has no registrations and no API keys'),
    })
    const piped = await database.run(transfer, { input: 'a.com\n' })
    expect(piped).toMatchObject({ code: 2, stderr: expect.stringMatching(/Team 7777 has no .* pass --yes/) })
    expect([await countOf('1'), await countOf('7777')]).toEqual([3, 0])
    expect(await database.run([...transfer, 'a.com', 'b.com'], { input: '2\n' })).toMatchObject({ code: 0 })
    // Now the team is known.
    expect(await database.run([...transfer, '*.c.com'])).toMatchObject({ code: 0 })
    await database.run(['keys', 'create', '--team', '8888'])
    const back = ['transfer', '--from', '7777', '--to', '8888']
    expect(await database.run(back, { input: 'a.com\n' })).toMatchObject({ code: 0 })
    expect([await countOf('1'), await countOf('7777'), await countOf('8888')]).toEqual([0, 2, 1])
    for (const [team, names] of [
      ['7777', ['b.com', '*.c.com']],
      ['8888', ['a.com']],
    ] as const)
      await database.withStore(async store => void (await store.release(team, names)))
  })
})

const commands = [
  'status',
  'pending',
  'pending --retry',
  'keys create --team 1',
  'keys list',
  'keys list --team 1',
  `keys who ${'a'.repeat(64)}`,
  `keys rotate ${'a'.repeat(64)}`,
  `keys expire ${'a'.repeat(64)} --at never`,
  `keys revoke ${'a'.repeat(64)}`,
  'keys revoke --team 1 --all',
  'keys export',
  'keys import',
  'list',
  'find a.com 01a1fdc4-24dc-7291-9bdf-caca67ce70da',
  'count',
  'release --team 1 a.com',
  'release --team 1 --all',
  'transfer --from 1 --to 2 a.com',
  'export',
  'import',
]
/** SQLite's tables are looked for when the file is opened, for all commands alike. */
const ofSqlite = ['status', 'keys list', 'import']

describe.each(databases)('without tables on %s', (name, create) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await create()
  })
  afterAll(() => database.close())

  // No command creates tables, so all of them get the same database.
  test.each(name === 'PostgreSQL' ? commands : ofSqlite)('`%s` says that migrate creates them', async command => {
    const row = '{"hash":"a"}'
    const key = {
      hash: 'a'.repeat(64),
      type: 'team',
      ownerId: '1',
      scopes: [],
      label: null,
      hint: null,
      createdAt: null,
    }
    const input = command === 'keys import' ? JSON.stringify(key) : command === 'import' ? toImport : row
    const { code, stdout, stderr } = await database.run(command.split(' '), { input })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/: run "domain-registration migrate|check the path.* run "domain-registration migrate/)
  })
})

/** A line of `export`. */
const toImport = `${JSON.stringify({
  domainId: '01a1fdc4-24dc-7291-9bdf-caca67ce70da',
  domain: 'a.com',
  registrableDomain: 'a.com',
  teamId: '1',
  synchronized: true,
  createdAt: '2026-01-01T00:00:00.000Z',
})}
`
