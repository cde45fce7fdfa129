import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registerDomains } from '../../src/index.ts'
import { databases, type TestDatabase } from './databases.ts'
import { run } from './program.ts'

/** In the guide, this hash stands for the hash of the key that was just created. */
const HASH = 'b7c1d0a94e5f62837b1c0d9a4e5f62837b1c0d9a4e5f62837b1c0d9a4e5f6283'

const guide = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
const examples = [...guide.matchAll(/```console\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map(text => {
      const end = text.indexOf('\n')
      return { command: text.slice(0, end).replaceAll('npx domain-registration ', ''), output: text.slice(end + 1) }
    }),
)

/** Replaces values that differ from run to run with fixed values of the same width. */
const normalize = (output: string) =>
  output
    .replaceAll(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, '<id>')
    .replaceAll(/\b(?!2099|2100)\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/svc_team_1_[\da-f]{64}/g, '<key>')
    .replaceAll(/svc_team_1_…[\da-f]{4}/g, '<hint>')
    .replaceAll(/\b[\da-f]{64}\b/g, '<hash>')
    .replaceAll(/(PostgreSQL|SQLite|tldts) [\d.]+\d\b/g, '$1 <version>')
    .replaceAll(/(tldts <version>, published) .* ago/g, '$1 <date>')
    .replaceAll('\r\n', '\n')
    .replaceAll(/\d+ minutes?/g, '<age>')
    .replaceAll(/database "\w+"/g, 'database "<name>"')
    // With an old suffix list, doctor reports this check as a note.
    .replaceAll(/^(?:ok|note) +suffix list .*\n(?: +->.*\n)?/gm, '<suffix list>\n')
    .replaceAll(/^(?:All is well|Nothing is wrong, .*)\.$/gm, '<verdict>')

/** Splits a command into words, as a shell does. To start one would take longer than most commands. */
const split = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare = '']) => double ?? single ?? bare)

async function register({ withStore }: TestDatabase): Promise<void> {
  await withStore(async store => {
    for (const [teamId, domain] of [
      ['1', 'www.example.com'],
      ['1', '*.example.org'],
      ['2', 'www.example.net'],
    ] as const) {
      const call = registerDomains({ type: 'team', teamId, scopes: ['domains:create'] }, { domains: [domain] }, store)
      await expect(call).rejects.toMatchObject({ code: 'domain_registration_unavailable' })
    }
  })
}

test('docs/cli.md names each command', async () => {
  const { stdout: usage } = await run(['--help'])
  const commands = [...usage.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map(([, name = '']) => name)
  expect(commands.length).toBeGreaterThan(15)
  const isNamed = (name: string) => new RegExp(`(?:\`|npx domain-registration )${name}\\b`).test(guide)
  expect(commands.filter(name => !isNamed(name))).toEqual([])
})

describe.each(databases)('on %s', (name, create) => {
  let database: TestDatabase
  let hash = ''
  beforeAll(async () => {
    database = await create()
  })
  afterAll(() => database.close())

  const ofThis = examples.filter(
    ({ command }) => !/^doctor/.test(command) || command.includes('registrations.db') === name.includes('SQLite'),
  )
  test.each(ofThis.map(each => [each.command, each.output] as const))(
    'the output of `%s` matches the guide',
    async (command, output) => {
      if (command.startsWith('list')) await register(database)
      const [first = '', second] = command.split(' | ')
      if (second !== undefined) {
        const { stdout: input } = await database.run(split(first))
        const { stdout } = await database.run(split(second), { input })
        expect(stdout).toBe(output)
        return
      }
      const parameters = split(command).map(word => word.replace(HASH, hash))
      const { stdout, stderr } = await database.run(parameters)
      hash = /Its hash is (\w+)/.exec(stdout)?.[1] ?? hash
      expect(normalize(stdout + stderr)).toBe(normalize(output))
    },
  )
})
