import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { save } from '../../src/testing/calls.ts'
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

  test('`release --all` releases registrations only if their number is typed to confirm', async () => {
    const release = ['release', '--team', '1', '--all']
    expect(await database.run([...release, '--dry-run'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('3'),
    })
    expect(await database.run(release, { input: '2\n' })).toMatchObject({ code: 2 })
    expect(await database.run(release, { input: '' })).toMatchObject({ code: 2 })
    expect(await countOf('1')).toBe(3)
    expect(await database.run(release, { input: '3\n' })).toMatchObject({ code: 0 })
    expect(await countOf('1')).toBe(0)
  })

  test('`release` reads names from standard input, and asks for no confirmation with --all --yes', async () => {
    const dry = await database.run(['release', '--team', '1', '--dry-run'], { input: 'a.com\nx.com\n' })
    expect(dry.stdout).toContain('Would release 1 registration of team 1.\na.com')
    expect(await countOf('1')).toBe(3)
    await database.run(['release', '--team', '1'], { input: 'a.com\nx.com\n' })
    expect(await countOf('1')).toBe(2)
    await database.run(['release', '--team', '1', '--all', '--yes'])
    expect(await countOf('1')).toBe(0)
  })

  test('`transfer` moves given names, or all, to another team, and records pending changes', async () => {
    const transfer = ['transfer', '--from', '1', '--to', '2']
    expect((await database.run([...transfer, '--all', '--dry-run'])).stdout).toContain('Would transfer 3')
    expect((await database.run([...transfer, '--dry-run', 'a.com'])).stdout).toContain('Would transfer 1')
    expect(await countOf('1')).toBe(3)
    expect((await database.run([...transfer, 'a.com'])).stdout).toMatch(/^Transferred 1 .*\na\.com {2}\S+ {2}\S+\n$/)
    expect(await database.run([...transfer, 'a.com'])).toMatchObject({ code: 1 })
    expect(await database.run([...transfer, '--all'])).toMatchObject({ code: 0 })
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
      const changed = stdout.replace('2099-01-01T00:00:00.000Z', '12')
      expect(await other.run(['keys', 'import'], { input: changed })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('Line 1 is not a key record'),
      })
    } finally {
      await other.close()
    }
  })

  test.each([
    'release --team 1 --all a.com',
    'release --team 1 --yes a.com',
    'transfer --from 1 --to 1 --all',
    'transfer --from 1 a.com',
  ])('`%s` is a usage error', async command => {
    expect(await database.run(command.split(' '))).toMatchObject({ code: 2 })
  })
})
