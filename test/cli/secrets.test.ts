import { describe, expect, test } from 'vitest'
import { run } from './program.ts'

/** With what people put into passwords, and what an address has another meaning for. */
const password = 'se:cr/et@wo#r?d%&1'
const encoded = encodeURIComponent(password)

/** Nothing listens there. */
const server = '127.0.0.1:1/none'

describe('doctor shows no password of', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['an address', ['--database', `postgres://me:${encoded}@${server}`], {}],
    ['an address behind "="', [`--database=postgres://me:${encoded}@${server}`], {}],
    ['an address in the environment', [], { DATABASE_URL: `postgresql://me:${encoded}@${server}` }],
    ['an address that is not encoded', [], { DATABASE_URL: `postgres://me:${password}@${server}` }],
    ['an address in capital letters', [], { DATABASE_URL: `POSTGRES://me:${password}@${server}` }],
    ['an address of another database', [], { DATABASE_URL: `mysql://me:${password}@${server}` }],
    ['an address without a user', [], { DATABASE_URL: `postgres://:${password}@${server}` }],
    ['an address without slashes', [], { DATABASE_URL: `postgres:me:${password}@${server}` }],
    ['an address behind a space', [], { DATABASE_URL: ` postgres://me:${encoded}@${server}` }],
    ['an address in quotes', [], { DATABASE_URL: `"postgres://me:${password}@${server}"` }],
    ['parameters of an address', [], { DATABASE_URL: `postgres://${server}?user=me&password=${encoded}` }],
    ['an address with a socket', [], { DATABASE_URL: `postgres://me:${encoded}@%2Fno%2Fsocket/none` }],
    ['key words', [], { DATABASE_URL: `host=127.0.0.1 port=1 user=me password=${password}` }],
    ['key words in quotes', [], { DATABASE_URL: `host=127.0.0.1 password = '${password} x'` }],
    ['the environment of libpq', [], { DATABASE_URL: `postgres://me@${server}`, PGPASSWORD: password }],
    ['a variable that is passed with its name', ['--database', `DATABASE_URL=postgres://me:${password}@${server}`], {}],
  ])('%s', async (_, parameters, env) => {
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await run(['doctor', ...parameters, ...flags], { env })
      expect([1, 2], stdout + stderr).toContain(code)
      expect(stdout + stderr).not.toBe('')
      // What JSON escapes is the same password.
      for (const part of [password, encoded, 'cr/et', 'wo#r']) expect(stdout + stderr).not.toContain(part)
    }
  })
})

test('a slash in a password is a mistake, since what comes before it would be shown as the machine', async () => {
  const { code, stderr } = await run(['doctor', '--database', `postgres://me:a@hidden/b@${server}`])
  expect(code).toBe(2)
  expect(stderr).toContain('%2F')
  expect(stderr).not.toContain('hidden')
})
