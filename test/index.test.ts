import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { packages } from './structure/rules.ts'

const { exports, ...manifest } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The values that each entry point exports, by the table in AGENTS.md. */
const publicNames: ReadonlyMap<string, readonly string[]> = new Map(
  Array.from(
    readFileSync(new URL('../AGENTS.md', import.meta.url), 'utf8').matchAll(
      /^\| `domain-registration(.*)` \| (.*) \|$/gm,
    ),
    ([, path, names = '']) => [`.${path}`, Array.from(names.matchAll(/`(\w+)`/g), ([, name = '']) => name)],
  ),
)

type Formats = Record<'import' | 'require', { default: string }>
const { './package.json': _, ...entryPoints } = exports as Record<string, Formats>

test.each(Object.entries(entryPoints))(
  'the entry point "%s" exports the names that AGENTS.md lists, as an ES module and as CommonJS',
  async (entry, formats) => {
    for (const { default: file } of [formats.import, formats.require]) {
      const module = await import(new URL(`../${file}`, import.meta.url).href)
      const names = Object.keys(module).filter(name => name !== 'default' && name !== 'module.exports')
      expect(names.toSorted()).toEqual(publicNames.get(entry)?.toSorted())
    }
  },
)

test('AGENTS.md lists the entry points of package.json', () => {
  expect([...publicNames.keys()]).toEqual(Object.keys(entryPoints))
})

test('names can be registered in a runtime without `process`', async () => {
  const program = `
    const { createMemoryStore, registerDomains } = await import('domain-registration')
    const { process } = globalThis
    delete globalThis.process
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
    const { data } = await registerDomains(keyContext, { domains: ['www.example.com'] }, store)
    globalThis.process = process
    console.log(data.totals.created)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect(stdout).toBe('1\n')
})

test('names can be registered and described where `new Function` is forbidden, as in Workers', async () => {
  const program = `
    import { createMemoryStore, registerDomains } from 'domain-registration'
    import { openapi } from 'domain-registration/openapi'
    let answer = ''
    try { new Function('') } catch (error) { answer += error.name }
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
    const keyContext = { type: 'organization', organizationId: '10', scopes: ['domains:create'] }
    const { data } = await registerDomains(keyContext, { team_id: '1', domains: ['www.example.com'] }, store)
    console.log(answer, data.totals.created, Object.keys(openapi().paths).length)`
  const options = ['--disallow-code-generation-from-strings', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  expect(stdout).toBe('EvalError 1 1\n')
})

test('package.json has a license, repository, engines and peer dependencies', () => {
  expect(manifest).toMatchObject({
    license: 'MIT',
    type: 'module',
    sideEffects: ['./dist/element.js', './dist/element.cjs'], // their import defines the custom element
    engines: { node: '>=20.19' },
  })
  // `src` imports only types of a framework, so an application installs only its own.
  const frameworks = Object.keys(packages).filter(name => packages[name]?.only && !name.startsWith('node:'))
  expect(Object.keys(manifest.peerDependencies)).toEqual(frameworks)
  expect(manifest.peerDependenciesMeta).toEqual(Object.fromEntries(frameworks.map(name => [name, { optional: true }])))
  expect(Object.keys(manifest.dependencies)).toEqual(['ipaddr.js', 'punycode', 'tldts', 'zod'])
})
