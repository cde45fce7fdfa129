import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const { exports, ...manifest } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The values that each entry point of package.json exports. */
const publicNames: Readonly<Record<string, string>> = {
  '.': `ApiError MonitorUnavailableError authenticate classifyHostname countTotals
    createMemoryKeyStore createMemoryStore deleteDomains displayHostname
    eachRegistration exportDomains findOwners generateApiKey hashApiKey hostnameSchema
    importDomains isApiError listDomains parseApiKey previewDomains reconcile registerDomains releaseAll
    startSynchronizing suffixList transfer`,
  './store': 'InvalidCursorError createManagedStore createUuidGenerator rangeBelow toKey',
  './http': 'createHandler',
  './express': 'domainsRouter',
  './fastify': 'domainsPlugin',
  './fetch': 'domainsHandler',
  './openapi': 'openapi',
  './client': `CallError DeleteAllError PreviewAllError RegisterAllError SyncAllError
    deleteAll listAll previewAll registerAll syncAll`,
  './element': 'DomainRegistrationElement',
  './webhook': 'MonitorUnavailableError WebhookVerificationError createWebhook verifyWebhook',
  './postgres': 'createPostgresKeyStore createPostgresStore migrate postgresSchema',
  './sqlite': 'createSqliteKeyStore createSqliteStore sqliteSchema',
  './testing': 'domainStoreSuite exploreStore managedStoreFeatures monitorSuite',
}

type Formats = Record<'import' | 'require', { default: string }>
const { './package.json': _, ...entryPoints } = exports as Record<string, Formats>

test.each(Object.entries(entryPoints))(
  'the entry point "%s" exports its public names, as an ES module and as CommonJS, and AGENTS.md lists them',
  async (entry, formats) => {
    const guide = readFileSync(new URL('../AGENTS.md', import.meta.url), 'utf8')
    for (const { default: file } of [formats.import, formats.require]) {
      const module = await import(new URL(`../${file}`, import.meta.url).href)
      const names = Object.keys(module).filter(name => name !== 'default' && name !== 'module.exports')
      expect(names.toSorted().join(' ')).toBe(publicNames[entry]?.replaceAll(/\s+/g, ' '))
      expect(names.filter(name => !guide.includes(`\`${name}\``))).toEqual([])
    }
  },
)

test('package.json exports each entry point that this test lists', () => {
  expect(Object.keys(entryPoints)).toEqual(Object.keys(publicNames))
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
    peerDependenciesMeta: { express: { optional: true }, fastify: { optional: true } },
  })
  expect(Object.keys(manifest.dependencies)).toEqual(['ipaddr.js', 'punycode', 'tldts', 'zod'])
})
