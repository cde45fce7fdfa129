import { describe, expect, test } from 'vitest'
import { explainError } from '../../src/cli/database-address.ts'
import { run } from './program.ts'

/** A password with common characters that have a special meaning in a URL. */
const password = 'se:cr/et@wo#r?d%&1'
const encoded = encodeURIComponent(password)
const plain = 'secret-word'

/** An address without a listener. */
const server = '127.0.0.1:1/none'

describe('doctor does not show the password in', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['an address', ['--database', `postgres://me:${encoded}@${server}`], {}],
    ['an address after "--database="', [`--database=postgres://me:${encoded}@${server}`], {}],
    ['an address in an environment variable', [], { DATABASE_URL: `postgresql://me:${encoded}@${server}` }],
    ['an address in which the password is not encoded', [], { DATABASE_URL: `postgres://me:${password}@${server}` }],
    ['an address without a user', [], { DATABASE_URL: `postgres://:${password}@${server}` }],
    ['the parameters of an address', [], { DATABASE_URL: `postgres://${server}?user=me&password=${encoded}` }],
    ['an address of a Unix socket', [], { DATABASE_URL: `postgres://me:${encoded}@%2Fno%2Fsocket/none` }],
    ['the environment variable PGPASSWORD', [], { DATABASE_URL: `postgres://me@${server}`, PGPASSWORD: password }],
  ])('%s', async (_, parameters, env) => {
    await expectHidden(parameters, env, [1, 2])
  })

  // These would otherwise be read as the path of a SQLite file, and shown.
  test.each([
    ['an address whose scheme is in capital letters', `POSTGRES://me:${password}@${server}`],
    ['the address of an unsupported database', `mysql://me:${password}@${server}`],
    ['an address without slashes', `postgres:me:${password}@${server}`],
    ['an address without a colon', `postgres//me:${password}@${server}`],
    ['an address without a scheme', `user1:${password}@${server}`],
    ['an address after a space', ` postgres://me:${encoded}@${server}`],
    ['an address in quotes', `"postgres://me:${password}@${server}"`],
    ['a keyword/value string of libpq', `host=127.0.0.1 port=1 user=me password=${plain}`],
    ['a keyword/value string of libpq in capital letters', `HOST=db PASSWORD=${plain}`],
    ['a quoted value in a keyword/value string of libpq', `password = '${plain} x' dbname=x`],
    ['such a value with special characters', `password = '${password} x' dbname=x`],
    ['an address that follows the name of its variable', `DATABASE_URL=postgres://me:${password}@${server}`],
  ])('%s, which it rejects', async (_, address) => {
    const { stdout, stderr } = await expectHidden(['--database', address], {}, [2])
    expect([stdout, stderr]).toEqual(['', expect.stringContaining('must be an address that begins with "postgres://"')])
  })
})

async function expectHidden(parameters: string[], env: Record<string, string>, codes: readonly number[]) {
  await examine([...parameters, '--json'])
  return examine(parameters)

  async function examine(parameters: string[]) {
    const { code, stdout, stderr } = await run(['doctor', ...parameters], { env })
    expect(codes, stdout + stderr).toContain(code)
    expect(stdout + stderr).not.toBe('')
    // JSON may escape the password.
    for (const part of [password, encoded, 'cr/et', 'wo#r', plain]) expect(stdout + stderr).not.toContain(part)
    return { stdout, stderr }
  }
}

test('the program hides a password in an address, even if the password contains an unencoded "@"', async () => {
  for (const password of ['hidden@secret', 'hidden:secret', 'hidden/secret@secret'])
    for (const address of [`postgres://me:${password}@127.0.0.1:1/none`, `mysql://me:${password}@127.0.0.1/x`]) {
      const { code, stdout, stderr } = await run(['count', '--database', address, `--${address}`])
      expect(code).toBeGreaterThan(0)
      expect(stdout + stderr).not.toMatch(/hidden(?!\))|secret/)
    }
})

test('doctor rejects a password with an unencoded slash, because part of it would be shown as the host', async () => {
  const { code, stderr } = await run(['doctor', '--database', `postgres://me:a@hidden/b@${server}`])
  expect(code).toBe(2)
  expect(stderr).toContain('%2F')
  expect(stderr).not.toContain('hidden')
})

test('a failure is explained by its messages and those of its causes, each once, without passwords', () => {
  const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' })
  const cause = new Error('postgres://me:hidden@db is away', { cause: new AggregateError([refused]) })
  expect(explainError(new Error('No tables', { cause }), [])).toBe('No tables: postgres://db is away: ECONNREFUSED')
  expect(explainError(new Error('No tables', { cause: new Error('No tables') }), [])).toBe('No tables')
  expect(explainError('a text', [])).toBe('a text')
  expect(explainError(undefined, [])).toBe('unknown failure')
})
