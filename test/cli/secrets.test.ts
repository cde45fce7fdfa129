import { describe, expect, test } from 'vitest'
import { run } from './program.ts'

/** A password with common characters that have a special meaning in a URL. */
const password = 'se:cr/et@wo#r?d%&1'
const encoded = encodeURIComponent(password)

/** An address without a listener. */
const server = '127.0.0.1:1/none'

describe('doctor does not show the password in', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['an address', ['--database', `postgres://me:${encoded}@${server}`], {}],
    ['an address after "--database="', [`--database=postgres://me:${encoded}@${server}`], {}],
    ['an address in an environment variable', [], { DATABASE_URL: `postgresql://me:${encoded}@${server}` }],
    ['an address in which the password is not encoded', [], { DATABASE_URL: `postgres://me:${password}@${server}` }],
    ['an address whose scheme is in capital letters', [], { DATABASE_URL: `POSTGRES://me:${password}@${server}` }],
    ['the address of an unsupported database', [], { DATABASE_URL: `mysql://me:${password}@${server}` }],
    ['an address without a user', [], { DATABASE_URL: `postgres://:${password}@${server}` }],
    ['an address without slashes', [], { DATABASE_URL: `postgres:me:${password}@${server}` }],
    ['an address after a space', [], { DATABASE_URL: ` postgres://me:${encoded}@${server}` }],
    ['an address in quotes', [], { DATABASE_URL: `"postgres://me:${password}@${server}"` }],
    ['the parameters of an address', [], { DATABASE_URL: `postgres://${server}?user=me&password=${encoded}` }],
    ['an address of a Unix socket', [], { DATABASE_URL: `postgres://me:${encoded}@%2Fno%2Fsocket/none` }],
    ['a keyword/value string of libpq', [], { DATABASE_URL: `host=127.0.0.1 port=1 user=me password=${password}` }],
    [
      'a quoted value in a keyword/value string of libpq',
      [],
      { DATABASE_URL: `host=127.0.0.1 password = '${password} x'` },
    ],
    ['the environment variable PGPASSWORD', [], { DATABASE_URL: `postgres://me@${server}`, PGPASSWORD: password }],
    [
      'an address that follows the name of its variable',
      ['--database', `DATABASE_URL=postgres://me:${password}@${server}`],
      {},
    ],
  ])('%s', async (_, parameters, env) => {
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await run(['doctor', ...parameters, ...flags], { env })
      expect([1, 2], stdout + stderr).toContain(code)
      expect(stdout + stderr).not.toBe('')
      // JSON may escape the password.
      for (const part of [password, encoded, 'cr/et', 'wo#r']) expect(stdout + stderr).not.toContain(part)
    }
  })
})

test('doctor rejects a password with an unencoded slash, because part of it would be shown as the host', async () => {
  const { code, stderr } = await run(['doctor', '--database', `postgres://me:a@hidden/b@${server}`])
  expect(code).toBe(2)
  expect(stderr).toContain('%2F')
  expect(stderr).not.toContain('hidden')
})
