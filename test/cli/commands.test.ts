import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { toTable } from '../../src/cli/text.ts'
import { authenticate, hashApiKey } from '../../src/index.ts'
import { createPostgresKeyStore } from '../../src/postgres/index.ts'
import type { Registration } from '../../src/rules/registration.ts'
import { save, toDomains } from '../../src/testing/calls.ts'
import { openDatabase } from '../postgres/server.ts'
import { AUTHENTICATED, createPostgres, type TestDatabase } from './databases.ts'
import { bundleProgram, createProject, createSqliteProject, run, toUrl } from './program.ts'

describe('the program exits 2, says what to do, and changes nothing if the command line has', () => {
  const address = 'postgres://me:secret-word@127.0.0.1:1/none'
  test.each<[string, string[], RegExp]>([
    ['no command', ['--json'], /There is no command "--json"/],
    ['an unknown command', ['transfr'], /There is no command "transfr". Did you mean "transfer"\?/],
    ['an unknown command of a group', ['keys', 'rotat'], /Did you mean "keys rotate"\?/],
    ...['satus', 'sttatus', 'statis', 'stauts', 'status!'].map((word): [string, string[], RegExp] => [
      `the command "${word}"`,
      [word],
      /Did you mean "status"\?/,
    ]),
    ['an option with a missing letter', ['list', '--eam', '1'], /Did you mean "--team"\?/],
    ['a command that resembles no other', ['register'], /There is no command "register"\n/],
    ['an unknown option', ['list', '--tea', '1'], /There is no option "--tea". Did you mean "--team"\?/],
    ['one argument too many', ['count', '1'], /takes only options/],
    ['one argument too few', ['find'], /expects <hostname-or-id...>/],
    ['no owner', ['keys', 'create', '--database', address], /--team ID or --organization ID/],
    ['two owners', ['keys', 'list', '--team', '1', '--organization', '2', '--database', address], /--team ID or/],
    ['both --retry and --team', ['pending', '--retry', '--team', '1'], /cannot be combined with --team/],
    [
      'an owner that is not a number',
      ['keys', 'create', '--team', 'a', '--database', address],
      /ID of digits or a UUID.*docs\/authentication\.md/,
    ],
    ['an invalid date', ['keys', 'create', '--team', '1', '--expires', 'soon'], /must be a date/],
    ['a date that does not exist', ['keys', 'create', '--team', '1', '--expires', '2030-02-31'], /must be a date/],
    ['a time without a zone', ['keys', 'expire', 'x', '--at', '2030-12-31T12:00'], /must be a date/],
    ['an option given twice', ['list', '--team', '1', '--team', '2'], /Pass --team only once/],
    ['a date in the past', ['keys', 'create', '--team', '1', '--expires', '2020-01-01'], /in the past/],
    ['an invalid prefix', ['keys', 'create', '--team', '1', '--prefix', 'a_b'], /ASCII letters/],
    ['an unknown scope', ['keys', 'create', '--team', '1', '--scopes', 'domain:create'], /domains:create/],
    ['an invalid hash', ['keys', 'revoke', 'abc'], /must have 64 hex digits/],
    ['an invalid limit', ['list', '--limit', 'many'], /--limit must be an integer from 1/],
    ['no team', ['release', 'a.com', '--database', address], /Pass --team/],
    ['no hash', ['keys', 'revoke'], /either the hash of a key, or --all and its owner/],
    ['a team without --all', ['keys', 'revoke', '--team', '1'], /either the hash of a key, or --all and its owner/],
    ['--all without an owner', ['keys', 'revoke', '--all'], /either the hash of a key, or --all and its owner/],
    ['a hash and a team', ['keys', 'revoke', 'a'.repeat(64), '--team', '1', '--all'], /either the hash of a key/],
    ['a hash with --all', ['keys', 'revoke', 'a'.repeat(64), '--all'], /either the hash of a key/],
    ['names beside --all', ['release', '--team', '1', '--all', 'a.com'], /no names with --all/],
    ['one team as both', ['transfer', '--from', '1', '--to', '1', '--all'], /different teams/],
    ['only one team', ['transfer', '--from', '1', 'a.com'], /Pass --to/],
    ['no database', ['count'], /Pass --database/],
    ['an unsupported database', ['count', '--database', 'mysql://127.0.0.1/x'], /begins with "postgres/],
    ['a schema for SQLite', ['count', '--database', 'a.db', '--schema', 'x'], /SQLite has no schemas/],
  ])('%s', async (_, parameters, message) => {
    const { code, stdout, stderr } = await run(parameters)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('secret-word')
  })

  test('a key instead of its hash, and does not repeat the key', async () => {
    const { code, stdout, stderr } = await run(['keys', 'revoke', 'svc_team_1_topsecret'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('This is a key')
    expect((await run(['keys', 'svc_team_1_topsecret'])).stderr).not.toContain('topsecret')
    expect((await run(['list', '--svc_team_1_topsecret'])).stderr).not.toContain('topsecret')
    expect(stderr).not.toContain('topsecret')
  })
})

test('the program lists all commands in groups, and exits 0 if asked for help and 2 without a command', async () => {
  const [bare, ...asked] = await Promise.all([[], ['--help'], ['-h'], ['help']].map(parameters => run(parameters)))
  expect([bare?.code, ...asked.map(({ code }) => code)]).toEqual([2, 0, 0, 0])
  for (const { stdout } of asked) expect(stdout).toBe(bare?.stdout)
  expect(bare?.stdout).toMatch(/\nAPI keys:\n {2}keys create +makes a key and prints it once\n/)
  const keys = await run(['keys'])
  expect([keys.code, keys.stdout]).toEqual([0, expect.stringContaining('keys rotate')])
  expect(keys.stdout).not.toContain('transfer')
})

describe('each command has help that explains it:', async () => {
  const commands = [...(await run(['--help'])).stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map(
    ([, name]) => `${name}`,
  )

  test('there are some', () => {
    expect(commands.length).toBeGreaterThan(15)
  })

  test.each(commands)('%s', async name => {
    const words = name.split(' ')
    const [first, ...others] = await Promise.all(
      [
        [...words, '--help'],
        [...words, '-h'],
        ['help', ...words],
      ].map(parameters => run(parameters)),
    )
    for (const other of others) expect(other).toEqual(first)
    expect([first?.code, first?.stderr]).toEqual([0, ''])
    expect(first?.stdout).toMatch(new RegExp(`^domain-registration ${name}.* \\[options\\]\n\n[A-Z]`))
    // An example that the parser accepts does not fail as a usage error, but because there is no database.
    const [, example = ''] = /\nExample: npx domain-registration (.+)\n$/.exec(first?.stdout ?? '') ?? []
    expect(example.startsWith(name)).toBe(true)
    const parameters = example
      .replace(/ [<>].*| "(.*?)"/g, (_, quoted = '') => quoted && ' x')
      .split(' ')
      .filter(Boolean)
    const { stderr } = await run(parameters)
    if (name !== 'classify')
      expect(stderr).toMatch(/Pass --database|SQLite needs the package|Standard input must contain/)
  })
})

test('help, errors and doctor name pages that the package contains', async () => {
  const sources = readdirSync('src/cli').map(file => readFileSync(join('src/cli', file), 'utf8'))
  const pages = sources.flatMap(source => [...source.matchAll(/\bpage\('(.+?)'\)/g)].map(([, name]) => `${name}`))
  expect(pages.length).toBeGreaterThan(4)
  for (const name of pages) expect([name, existsSync(join('docs', name))]).toEqual([name, true])
  for (const source of sources) expect(source).not.toMatch(/[^/]\bdocs\/\w+\.md/)
  expect((await run(['--help'])).stdout).toContain('node_modules/domain-registration/docs/cli.md')
})

describe('if a driver is missing, the error shows the command that installs it:', () => {
  test.each([
    ['pg', 'postgres://me:secret-word@127.0.0.1:1/none', 'npm install pg'],
    ...(process.getBuiltinModule('node:sqlite') ? [] : [['better-sqlite3', 'a.db', 'npm install better-sqlite3']]),
  ])('%s', async (_, address = '', line) => {
    const { folder, remove } = createProject()
    writeFileSync(join(folder, 'a.db'), '')
    for (const command of ['count', 'doctor']) {
      const { code, stdout, stderr } = await run([command, '--database', address], { cwd: folder })
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(line as string)])
      expect(stdout + stderr).not.toContain('secret-word')
    }
    remove()
  })
})

test('a command does not create a file if the path of the SQLite file is mistyped', async () => {
  const { folder, remove } = createSqliteProject()
  const { code, stderr } = await run(['count', '--database', 'typo.db'], { cwd: folder })
  expect([code, stderr, existsSync(join(folder, 'typo.db'))]).toEqual([
    1,
    expect.stringMatching(/The file "typo\.db" does not exist: check the path.* migrate --database typo\.db"/),
    false,
  ])
  remove()
})

test('`migrate --print` prints the SQL for PostgreSQL, or for a file, without a database or a driver', async () => {
  const { folder, remove } = createProject()
  const print = (...parameters: string[]) => run(['migrate', '--print', ...parameters], { cwd: folder })
  const ofSchema = { code: 0, stdout: expect.stringContaining('CREATE SCHEMA IF NOT EXISTS "mine"') }
  expect(await print('--schema', 'mine')).toMatchObject(ofSchema)
  expect(await print('--database', 'postgres://127.0.0.1/x', '--schema', 'mine')).toMatchObject(ofSchema)
  const { stdout } = await print('--database', 'a.db')
  remove()
  expect(stdout).toContain('CREATE TABLE IF NOT EXISTS domain_registration_names')
})

test('a table may have more rows than a function takes arguments', () => {
  const rows = Array.from({ length: 200_000 }, () => ['x'])
  expect(toTable(['HEAD'], rows, '').slice(0, 9)).toBe('HEAD\nx\nx\n')
})

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('`classify` reads hostnames from standard input, and exits 1 if one cannot be registered', async () => {
  const good = await run(['classify'], { input: 'a.example.com\r\n\n*.example.org\n' })
  expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^name +a\.example\.com\nwildcard +\*/) })
  const bad = await run(['classify', '--json', 'dev'])
  expect([bad.code, JSON.parse(bad.stdout)]).toMatchObject([
    1,
    [{ input: 'dev', valid: false, code: 'public_suffix_domain' }],
  ])
})

// docs.test.ts checks on both databases that each command does what docs/cli.md shows.
describe('on PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createPostgres()
    await database.run(['migrate'])
  })
  afterAll(() => database.close())

  test('`keys revoke` reads a key from standard input, revokes it, and does not repeat it', async () => {
    const made = await database.run(['keys', 'create', '--organization', '10', '--json', '--scopes', 'domains:read'])
    const { key, hash } = JSON.parse(made.stdout) as { key: string; hash: string }
    expect(hash).toBe(await hashApiKey(key))
    const ofTwo = await database.run(['keys', 'revoke', '-'], { input: `${key}\n${key}\n` })
    expect(ofTwo).toMatchObject({ code: 2, stderr: expect.stringContaining('exactly one API key') })
    const revoked = await database.run(['keys', 'revoke', '-'], { input: `${key}\n` })
    expect(revoked).toMatchObject({ code: 0, stdout: 'The key is revoked.\n' })
    const listed = await database.run(['keys', 'list', '--organization', '10', '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject([{ hash, scopes: ['domains:read'], revokedAt: expect.any(String) }])
    expect(listed.stdout + revoked.stdout + revoked.stderr).not.toContain(key.slice(-20))
  })

  test('`keys rotate` copies owner, scopes, label and prefix, and does not extend the old key’s life', async () => {
    const create = ['keys', 'create', '--team', '8', '--prefix', 'acme', '--label', 'Import', '--json']
    const end = new Date(Date.now() + 86_400_000).toISOString()
    const made = await database.run([...create, '--scopes', 'domains:read,domains:create', '--expires', end])
    const old = JSON.parse(made.stdout)
    const rotated = await database.run(['keys', 'rotate', '-', '--json'], { input: `${old.key}\n` })
    const { hash, hint, scopes, old: end_, ...next } = JSON.parse(rotated.stdout)
    expect(next).toMatchObject({ key: expect.stringMatching(/^acme_team_8_/), label: 'Import', expiresAt: null })
    expect([scopes, end_]).toEqual([old.scopes, { hash: old.hash, hint: old.hint, expiresAt: end }])
    const listed = JSON.parse((await database.run(['keys', 'list', '--team', '8', '--json'])).stdout)
    expect(listed).toMatchObject([
      { hash: old.hash, expiresAt: end },
      { hash, hint, expiresAt: null },
    ])
  })

  test('`keys rotate` rejects a revoked or unknown key', async () => {
    const { hash } = JSON.parse((await database.run(['keys', 'create', '--team', '9', '--json'])).stdout)
    await database.run(['keys', 'revoke', hash])
    const rotated = await database.run(['keys', 'rotate', hash])
    expect(rotated).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('The key is revoked') })
    expect(await database.run(['keys', 'rotate', 'a'.repeat(64)])).toMatchObject({ code: 1 })
    expect(JSON.parse((await database.run(['keys', 'list', '--team', '9', '--json'])).stdout)).toHaveLength(1)
  })

  test('`keys who` reads a key from standard input, and shows its owner', async () => {
    const { key, hash } = JSON.parse(
      (await database.run(['keys', 'create', '--organization', '11', '--json', '--label', 'found'])).stdout,
    )
    const who = await database.run(['keys', 'who', '-', '--json'], { input: `${key}\n` })
    expect(JSON.parse(who.stdout)).toMatchObject({ hash, type: 'organization', ownerId: '11', label: 'found' })
    const other = await database.run(['keys', 'who', '-'], { input: `${key}x\n` })
    expect(other).toMatchObject({ code: 1, stdout: 'There is no key with this hash.\n' })
  })

  test('`keys list` lists all keys, organizations first, and shorter IDs before longer ones', async () => {
    for (const owner of ['--team 100', '--team 20', '--organization 12'])
      await database.run(['keys', 'create', ...owner.split(' ')])
    const keys = JSON.parse((await database.run(['keys', 'list', '--json'])).stdout) as {
      type: string
      ownerId: string
    }[]
    const owners = keys.map(({ type, ownerId }) => `${type} ${ownerId}`)
    const expected = ['organization 12', 'team 20', 'team 100']
    expect(owners.filter(owner => expected.includes(owner))).toEqual(expected)
  })

  test('`keys create` makes a key for a team whose ID is a UUID, and authenticates its digits', async () => {
    const uuid = '0197C0DE-0000-7000-8000-000000000042'
    const { key } = JSON.parse((await database.run(['keys', 'create', '--team', uuid, '--json'])).stdout)
    const digits = String(BigInt(`0x${uuid.replaceAll('-', '')}`))
    const pool = new Pool({ connectionString: database.address })
    const keyContext = await authenticate(`Bearer ${key}`, createPostgresKeyStore({ database: pool }))
    await pool.end()
    expect(keyContext).toMatchObject({ type: 'team', teamId: digits })
    expect(JSON.parse((await database.run(['keys', 'list', '--team', uuid, '--json'])).stdout)).toHaveLength(1)
  })

  test('`keys revoke --all` revokes all keys of one owner, once their number is typed', async () => {
    for (const owner of ['--team 61', '--team 61', '--team 62', '--organization 61'])
      await database.run(['keys', 'create', ...owner.split(' ')])
    const revoke = ['keys', 'revoke', '--team', '61', '--all']
    expect(await database.run(revoke, { input: '3\n' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('This revokes 2 keys of team 61. To confirm, type 2'),
    })
    expect(await database.run(revoke, { input: '2\n' })).toMatchObject({
      code: 0,
      stdout: 'Revoked 2 keys of team 61.\n',
    })
    const states = async (...owner: string[]) =>
      (
        JSON.parse((await database.run(['keys', 'list', ...owner, '--json'])).stdout) as { revokedAt: string | null }[]
      ).map(({ revokedAt }) => revokedAt !== null)
    expect(await states('--team', '61')).toEqual([true, true])
    expect([await states('--team', '62'), await states('--organization', '61')]).toEqual([[false], [false]])
    await database.run(['keys', 'revoke', '--organization', '61', '--all', '--yes'])
    expect(await states('--organization', '61')).toEqual([true])
  })

  test('`keys rotate` shows the new key even if the old key cannot be changed', async () => {
    const { hash, key: secret } = JSON.parse((await database.run(['keys', 'create', '--team', '63', '--json'])).stdout)
    await database.execute(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no changes today for ${secret}'; END $$;
      CREATE TRIGGER fail BEFORE UPDATE ON domain_registration.keys FOR EACH ROW EXECUTE FUNCTION fail()`)
    const { code, stdout } = await database.run(['keys', 'rotate', hash])
    await database.execute('DROP TRIGGER fail ON domain_registration.keys')
    const [, key = '', newHash] = /^(\S+)\n.* hash is (\w+)/s.exec(stdout) ?? []
    expect([code, await hashApiKey(key)]).toEqual([1, newHash])
    expect(stdout).not.toContain(secret)
    expect(stdout).toMatch(new RegExp(`no changes today.*\ndomain-registration keys expire ${hash} --at \\d{4}-`))
    expect(await database.run(['keys', 'who', newHash ?? ''])).toMatchObject({ code: 0 })
  })

  test('`keys rotate` says so if the old key has vanished in the meantime', async () => {
    const { hash } = JSON.parse((await database.run(['keys', 'create', '--team', '64', '--json'])).stdout)
    await database.execute(`CREATE FUNCTION vanish() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN DELETE FROM domain_registration.keys WHERE hash = '${hash}'; RETURN NULL; END $$;
      CREATE TRIGGER vanish AFTER INSERT ON domain_registration.keys FOR EACH ROW EXECUTE FUNCTION vanish()`)
    const { code, stdout } = await database.run(['keys', 'rotate', hash])
    await database.execute('DROP TRIGGER vanish ON domain_registration.keys')
    expect(code).toBe(1)
    expect(stdout).toContain('could not be changed (it is no longer in the database)')
  })

  test('`keys list` escapes terminal control characters in a label, both in the table and in JSON', async () => {
    const label = '\u009b31mred\u{e0001}\u2028\u001b[0m'
    await database.run(['keys', 'create', '--team', '7', '--label', label])
    const list = ['keys', 'list', '--team', '7']
    expect((await database.run(list)).stdout).toContain('\\u{9b}31mred\\u{e0001}\\u{2028}\\u{1b}[0m')
    const { stdout } = await database.run([...list, '--json'])
    expect(stdout).toContain('\\u009b31mred\\udb40\\udc01\\u2028\\u001b[0m')
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ label }))
  })

  test('`release` records a pending change, or exits 1 if the name is not registered', async () => {
    await database.withStore(async store => void (await save(store, '1', ['a.example.com'])))
    const release = ['release', '--team', '1', 'a.example.com']
    expect(await database.run(release)).toMatchObject({ code: 0 })
    const { changes } = JSON.parse((await database.run(['pending', '--json'])).stdout)
    expect(changes).toMatchObject([{ kind: 'released', domain: 'a.example.com' }])
    expect(await database.run(release)).toMatchObject({ code: 1 })
  })

  test('`pending --retry` makes all failed changes due, or only those with the given IDs', async () => {
    const domains = ['r1.example.net', 'r2.example.net', 'r3.example.net']
    await database.withStore(async store => {
      const saved = await save(store, '6', domains)
      await Promise.resolve(store.synchronize?.(saved)).catch(() => {})
    })
    const { changes } = JSON.parse((await database.run(['pending', '--json'])).stdout)
    const failed = changes.filter((change: { lastFailure: string | null }) => change.lastFailure !== null)
    expect(toDomains(failed)).toEqual(domains)
    const one = await database.run(['pending', '--retry', failed[1].domainId])
    expect(one).toMatchObject({ code: 0, stdout: '1 change is due for the next sweep.\n' })
    const all = await database.run(['pending', '--retry', '--json'])
    expect(JSON.parse(all.stdout)).toEqual({ retried: 2 })
    expect((await database.run(['pending', failed[1].domainId])).code).toBe(2)
  })

  test('`pending` names what was refused longest, and `pending --settle` ends only the given changes', async () => {
    await database.withStore(async store => {
      const saved = await save(store, '71', ['s1.example.net', 's2.example.net'])
      await Promise.resolve(store.synchronize?.(saved)).catch(() => {})
    })
    await database.execute(
      `UPDATE domain_registration.changes SET since = '2026-01-01' WHERE domain = 's2.example.net'`,
    )
    const show = async () => JSON.parse((await database.run(['pending', '--json', '--team', '71'])).stdout)
    const { changes, longestRefused } = await show()
    expect([toDomains(changes), longestRefused.domain]).toEqual([
      ['s1.example.net', 's2.example.net'],
      's2.example.net',
    ])
    expect((await database.run(['pending'])).stdout).toMatch(
      /\nRefused longest: s2\.example\.net of team 71, .* 1 time: /,
    )
    expect((await database.run(['doctor'])).stdout).toMatch(/refused longest: s2\.example\.net of team 71/)
    const settle = ['pending', '--settle', longestRefused.domainId]
    expect(await database.run(settle)).toMatchObject({ code: 0, stdout: '1 change counts as delivered.\n' })
    expect(await database.run(settle)).toMatchObject({ code: 1, stdout: '0 changes count as delivered.\n' })
    expect(toDomains((await show()).changes)).toEqual(['s1.example.net'])
    expect(await database.run(['pending', '--settle'])).toMatchObject({ code: 2 })
    expect(await database.run([...settle, '--retry'])).toMatchObject({ code: 2 })
    await database.run(['pending', '--settle', changes[0].domainId])
  })

  test('`list` returns the ID after which the next page begins', async () => {
    const registered = ['b.example.net', 'c.example.net', 'd.example.net']
    await database.withStore(async store => void (await save(store, '5', registered)))
    const list = ['list', '--team', '5', '--limit', '2', '--json']
    const { domains, next } = JSON.parse((await database.run(list)).stdout)
    const rest = JSON.parse((await database.run([...list, '--after', next])).stdout)
    expect(toDomains([...domains, ...rest.domains])).toEqual(registered)
    expect(rest.next).toBeNull()
    expect(await database.run(['list', '--after', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"after"/),
    })
  })

  test('`find` shows the registration with an ID, and explains an unknown ID and an invalid hostname', async () => {
    const saved: Registration[] = []
    await database.withStore(async store => void saved.push(...(await save(store, '51', ['xn--bcher-kva.de']))))
    const [domainId = ''] = saved.map(registration => registration.domainId)
    const found = await database.run(['find', domainId.toUpperCase(), 'Bücher.de'])
    const expected = new RegExp(`xn--bcher-kva\\.de \\(bücher\\.de\\) +51 +${domainId}\\n`, 'g')
    expect([found.code, found.stdout.match(expected)?.length]).toEqual([0, 2])
    const ids = ['00000000-0000-0000-0000-000000000000', domainId.replace(/.$/, last => (last === '0' ? '1' : '0'))]
    const unknown = await database.run(['find', '--json', ...ids, 'a b'])
    expect([unknown.code, JSON.parse(unknown.stdout)]).toEqual([
      1,
      [...ids, 'a b'].map(hostname => ({
        hostname,
        domain: null,
        teamId: null,
        domainId: null,
        message: hostname === 'a b' ? expect.stringContaining('"a b"') : null,
      })),
    ])
  })

  test('`pending` shows refusals, last failures and next attempts, and filters by --team and --refused', async () => {
    await database.withStore(async store => {
      await save(store, '31', ['new.example.org'])
      const saved = await save(store, '32', ['one.example.org', 'two.example.org'])
      await Promise.resolve(store.synchronize?.(saved)).catch(() => {})
    })
    const show = async (...options: string[]) => {
      const { changes, next } = JSON.parse((await database.run(['pending', '--json', ...options])).stdout)
      return { domains: toDomains(changes), changes, next }
    }
    expect((await show('--team', '31')).domains).toEqual(['new.example.org'])
    expect((await show('--team', '31', '--refused')).domains).toEqual([])
    const { domains, changes } = await show('--team', '32', '--refused')
    expect(domains).toEqual(['one.example.org', 'two.example.org'])
    expect(changes[0]).toMatchObject({ refusals: 1, lastFailure: 'Error: The monitor is offline' })
    expect(Date.parse(changes[0].nextAttempt)).toBeGreaterThan(Date.parse(changes[0].at))
    const first = await show('--team', '32', '--limit', '1')
    expect([first.domains, first.next]).toEqual([['one.example.org'], changes[0].domainId])
    const rest = await show('--team', '32', '--after', first.next)
    expect([rest.domains, rest.next]).toEqual([['two.example.org'], null])
  })
})

test('a key created by the program authenticates its owner', async () => {
  const server = await openDatabase()
  const env = { DATABASE_URL: toUrl(server.config) }
  await run(['migrate', '--schema', 'mine'], { env })
  const { stdout } = await run(['keys', 'create', '--team', '42', '--schema', 'mine'], { env })
  const [key] = stdout.split('\n')
  const keys = createPostgresKeyStore({ database: server.createPool(), schema: 'mine' })
  expect(await authenticate(`Bearer ${key}`, keys)).toMatchObject({ type: 'team', scopes: ['domains:create'] })
  await server.stop()
})

test('the program exits without an error if its reader closes the output early', async () => {
  const { file, remove } = await bundleProgram()
  onTestFinished(remove)
  // The output is larger than a pipe's buffer.
  const command = `printf 'a.example.com\\n%.0s' {1..20000} | ${process.execPath} ${file} classify | head -1`
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', `set -o pipefail; ${command}`])
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^name +a\.example\.com\n$/), ''])
})

test.each([
  ['closes each connection immediately', (socket: Socket) => socket.destroy(), /write EPIPE/],
  [
    'closes each connection during its first statement',
    (socket: Socket) => {
      socket.once('data', () => {
        socket.write(AUTHENTICATED)
        socket.once('data', () => socket.destroy())
      })
    },
    /Connection terminated/,
  ],
])('commands fail and say why if the database %s', async (_, serve, why) => {
  const folder = mkdtempSync(join(tmpdir(), 'domain-registration-cli-'))
  const server = createServer(serve).listen(join(folder, '.s.PGSQL.5432'))
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const env = { DATABASE_URL: `postgres://me:secret-word@/db?host=${folder}` }
  for (const command of [['migrate'], ['count'], ['status'], ['doctor'], ['release', '--team', '1', 'example.com']]) {
    const { code, stdout, stderr } = await run(command, { env })
    expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(why)])
  }
})

test('each line of help fits into 80 columns', async () => {
  const overview = await run(['--help'])
  const names = [...overview.stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map(([, name]) => `${name}`)
  const helps = await Promise.all(names.map(name => run([...name.split(' '), '--help'])))
  const lines = [overview, ...helps].flatMap(({ stdout }) => stdout.split('\n'))
  expect(lines.length).toBeGreaterThan(200)
  expect(lines.filter(line => line.length > 80)).toEqual([])
})

test('no text from outside reaches the terminal raw, neither on standard output nor on standard error', async () => {
  const raw = '\x1b]0;owned\x07\x9b31m\u202e'
  const database = await createPostgres()
  onTestFinished(() => database.close())
  await database.run(['migrate'])
  const record = { hash: 'a'.repeat(64), type: 'team', ownerId: '1', scopes: [], createdAt: new Date() }
  const lines = [
    { ...record, [raw]: 1 },
    { ...record, type: raw },
  ].map(line => JSON.stringify(line))
  const outcomes = await Promise.all([
    ...lines.map(input => database.run(['keys', 'import'], { input })),
    database.run([raw]),
    database.run(['count', `--${raw}`]),
    database.run(['count', '--schema', raw]),
    database.run(['find', raw]),
    database.run(['classify', raw]),
    database.run(['release', '--team', raw, 'a.com']),
    database.run(['release', '--team', raw, '--all', '--yes']),
    database.run(['transfer', '--from', '1', '--to', raw, 'a.com']),
    database.run(['list', '--order', raw]),
    database.run(['migrate', '--print', '--schema', raw]),
    database.run(['import'], { input: JSON.stringify({ domain: raw }) }),
    database.run(['doctor', '--schema', raw]),
  ])
  for (const { stdout, stderr } of outcomes) {
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
    expect(stdout + stderr).toMatch(/\S/)
  }
  expect(outcomes[0]).toMatchObject({ code: 2, stderr: expect.stringContaining('\\u{1b}]0;owned\\u{7}\\u{9b}') })
})

test('keys import names the line of a record that it cannot add, and keeps the records before it', async () => {
  const database = await createPostgres()
  onTestFinished(() => database.close())
  await database.run(['migrate'])
  const toRecord = (letter: string) => ({
    ...{ hash: letter.repeat(64), type: 'team', ownerId: '1', scopes: [], createdAt: new Date() },
    ...{ label: null, hint: null, revokedAt: null, expiresAt: null },
  })
  const lines = [toRecord('a'), { ...toRecord('b'), type: 'person' }, toRecord('c')].map(each => JSON.stringify(each))
  expect(await database.run(['keys', 'import'], { input: lines.join('\n') })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Line 2: The field "type" must be'),
  })
  const { stdout } = await database.run(['keys', 'list', '--json'])
  expect(JSON.parse(stdout)).toMatchObject([{ hash: 'a'.repeat(64) }])
})

test('an option that is passed without a value is a wrong option, and selects no team named ""', async () => {
  for (const command of ['list', 'count', 'pending', 'keys list', 'release'])
    expect(await run([...command.split(' '), '--team', ''])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--team must not be empty'),
    })
  expect(await run(['count', '--database='])).toMatchObject({ code: 2 })
})

test.each([
  ['little-endian, with a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['little-endian', (text: string) => Buffer.from(text, 'utf16le')],
  ['big-endian', (text: string) => Buffer.from(text, 'utf16le').swap16()],
])('input in UTF-16 (%s) is called UTF-16', async (_, encode) => {
  const { folder, remove } = createSqliteProject()
  onTestFinished(remove)
  const surroundings = { cwd: folder, env: { DATABASE_URL: 'a.db' } }
  await run(['migrate'], surroundings)
  for (const command of ['import', 'keys import', 'classify', 'release --team 1'])
    expect(await run(command.split(' '), { ...surroundings, input: encode('{"domain":"a.com"}\n') })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('in UTF-16'),
    })
})

test.each([
  ['count', 2],
  ['count --database postgres://me:x@127.0.0.1:1/none', 1],
  ['classify a.com', 0],
])('`%s` exits with %i even if standard error is closed', async (command, code) => {
  const { file, remove } = await bundleProgram()
  onTestFinished(remove)
  const child = spawn(process.execPath, [file, ...command.split(' ')], { env: { PATH: process.env.PATH } })
  child.stderr.destroy()
  child.stdout.resume()
  expect(await once(child, 'exit')).toEqual([code, null])
})
