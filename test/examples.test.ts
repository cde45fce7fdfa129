import { execFile, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify, stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { explainInGerman } from '../examples/messages-in-german.ts'
import { classifyHostname } from '../src/index.ts'
import { openapi } from '../src/openapi/index.ts'
import { compile } from './compile.ts'
import { listen } from './listen.ts'
import { readUntil } from './read-until.ts'
import { readCases } from './vectors/read.ts'

const root = new URL('..', import.meta.url)
const run = promisify(execFile)
const { code: codes } = openapi().components.schemas.InvalidResult.properties as { code: { enum: string[] } }

describe('examples/demo.ts', () => {
  test('prints every status and code, reports success, and exits', async () => {
    const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', 'examples/demo.ts'], { cwd: root })
    expect(stderr.replaceAll(/^ {4}at .+\n/gm, '')).toMatch(
      /^\S+Z domain-registration: synchronizing saved names failed \(create, .*\): Error: The monitor is offline\n$/,
    )
    for (const shown of [
      ...['200: 100 created, 0 existing, 0 invalid', '200: 0 created, 100 existing, 0 invalid'],
      ...codes.enum.filter(code => code !== 'internal_error'),
      ...['401 unauthorized', '403 insufficient_scope', '403 team_suspended', '404 team_not_found'],
      '503 domain_registration_unavailable',
      ...['"suggestion":"shop.example.net"', '"deleted":1', '"next":', 'domain,domainId,createdAt'],
      ...['Every response was as expected.'],
    ]) {
      expect(stdout).toContain(shown)
    }
    expect(stripVTControlCharacters(stdout), 'colour is for terminals').toBe(stdout)
  })

  test('registers a hundred distinct hostnames, some in Unicode', () => {
    const hostnames = readFileSync(new URL('examples/hostnames.txt', root), 'utf8').trim().split('\n')
    expect(new Set(hostnames).size).toBe(100)
    expect(hostnames.filter(hostname => /[^\0-\x7f]/.test(hostname)).length).toBeGreaterThanOrEqual(5)
  })
})

test('examples/messages-in-german.ts explains, in German, every kind of mistake in pasted names', async () => {
  const texts = readCases<[string]>('pasted-names.json').map(([text]) => text)
  const refused = texts.map(text => [text, classifyHostname(text)] as const)
  const sentences = refused.flatMap(([text, hostname]) => (hostname.valid ? [] : [explainInGerman(text, hostname)]))
  expect(sentences.length).toBeGreaterThan(500)
  expect(
    sentences.filter(sentence => /undefined|\b(?:send|contains|is|has)\b "?[a-z]/.test(sentence.replace(/„.*?“/g, ''))),
  ).toEqual([])

  const parameters = [await compile('examples/messages-in-german.ts'), 'https://bücher.de/', 'http://127.0.0.1:3000/']
  const { stdout } = await run(process.execPath, parameters, { cwd: root })
  expect(stdout).toBe(
    '„https://bücher.de/“ ist eine URL und kein Hostname. Gemeint ist wohl „xn--bcher-kva.de“.\n' +
      '„http://127.0.0.1:3000/“ ist eine URL und kein Hostname. ' +
      '„127.0.0.1“ ist die IP-Adresse 127.0.0.1, die keinem öffentlichen Server gehört.\n',
  )
})

test('the program for fetch on the first page of the site registers names', async () => {
  const { default: program } = await import('../examples/landing/fetch.ts')
  const headers = { 'Content-Type': 'application/json' }
  const body = '{"domains":["www.example.com"]}'
  const response = await program.fetch(new Request('http://localhost/v1/domains', { method: 'POST', headers, body }))
  expect(await response.json()).toMatchObject({ data: { totals: { created: 1 } } })
})

test('examples/prove-a-store.mjs passes in Node’s test runner', async () => {
  // Node's test runner sets this variable for its children, which then report in a different format.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const parameters = ['--test', '--test-reporter', 'tap', 'examples/prove-a-store.mjs']
  const { stdout } = await run(process.execPath, parameters, { cwd: root, env })
  expect(stdout).toMatch(/\n# pass [1-9]\d+\n# fail 0\n/)
})

/** Starts a server, waits until it prints a line that matches, and ends it after the callback. */
async function withServer(example: string, awaited: RegExp, use: (printed: string) => Promise<void> | void) {
  const env = { ...process.env, PORT: '0', DATABASE_FILE: ':memory:' }
  // Compiled into one file, this example would import node:sqlite even where Node has none.
  const isWhole = example !== 'documentation.ts'
  const program = isWhole ? [await compile(`examples/${example}`)] : ['--import', 'tsx', `examples/${example}`]
  const server = spawn(process.execPath, program, { cwd: root, env })
  try {
    const printed = await readUntil(server, awaited)
    await use(printed())
    expect(server.exitCode).toBeNull()
  } finally {
    server.kill()
  }
}

describe('the example server', () => {
  // Express gives a failure of `listen` to the callback too, which would print a line as if its port were its own.
  test.each(['first.mjs', 'express.ts', 'own-accounts.ts', 'admin.ts', 'customers.ts'])(
    '%s fails if another program has its port',
    async example => {
      const other = await listen((_request, response) => response.end())
      const env = { ...process.env, PORT: new URL(other.origin).port }
      const program = await compile(`examples/${example}`)
      const ended = await run(process.execPath, [program], { cwd: root, env }).catch(error => error)
      await other.close()
      expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('EADDRINUSE') })
    },
  )

  test('no program of the guides and the examples gives a callback to `app.listen`', () => {
    const guides = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' }).map(file => `docs/${file}`)
    const examples = readdirSync(new URL('examples', root), { recursive: true, encoding: 'utf8' })
    const files = ['README.md', 'AGENTS.md', ...guides, ...examples.map(file => `examples/${file}`)].filter(
      file => /\.(?:md|mjs|ts)$/.test(file) && !file.includes('node_modules'),
    )
    const text = (file: string) => readFileSync(new URL(file, root), 'utf8')
    expect(files.filter(file => text(file).includes('app.listen(')).length).toBeGreaterThan(15)
    expect(files.filter(file => /app\.listen\((?:[^()\n]|\([^()\n]*\))*=>/.test(text(file)))).toEqual([])
  })

  test.each(['express.ts', 'documentation.ts', 'fastify.ts', 'fetch.ts', 'own-accounts.ts'])(
    '%s stays up, and the curl line that it prints works when pasted',
    example =>
      withServer(example, /curl .*\n$/s, async printed => {
        // If Node has SQLite, the example keeps registrations in a file: see test/runtimes/sqlite-start.test.ts.
        if (example === 'documentation.ts' && !process.getBuiltinModule('node:sqlite')) {
          expect(printed).toContain('Registrations are kept in memory and are lost when this process ends: Node v')
          expect(printed).toContain('has no node:sqlite; it needs 22.13 or later')
        }
        const { stdout } = await run('bash', ['-c', printed.slice(printed.indexOf('curl'))])
        expect(JSON.parse(stdout)).toMatchObject({
          data: {
            results: [
              { status: 'created', domain: 'www.example.com' },
              { status: 'created', domain: '*.example.org' },
              { status: 'invalid', code: 'internal_domain' },
            ],
            totals: { created: 2, existing: 0, invalid: 1 },
          },
        })
      }),
  )

  test('admin.ts creates a key without a label if the form sends no label', () =>
    withServer('admin.ts', /http:.*\n$/, async printed => {
      const [address] = /http:\S+/.exec(printed) as [string]
      const made = await (await fetch(new URL('/keys/create', address), { method: 'POST' })).text()
      expect(made).toContain('Copy this key now')
      expect(made).not.toContain('undefined')
    }))

  test('customers.ts serves a page with the element, and only its session may preview and register', () =>
    withServer('customers.ts', /http:.*\n$/, async printed => {
      const [address] = /http:\S+/.exec(printed) as [string]
      const page = await fetch(address)
      const cookie = page.headers.getSetCookie()[0]?.split(';')[0] as string
      const [, script, url] = /src="(.+?)".*<domain-registration url="(.+?)">/s.exec(await page.text()) as string[]
      const module = await fetch(new URL(script as string, address))
      expect(module.headers.get('Content-Type')).toMatch(/^text\/javascript/)
      expect(await module.text()).toBe(readFileSync(new URL('dist/element.js', root), 'utf8'))

      async function call(path: string, headers: Record<string, string>) {
        const response = await fetch(new URL(url + path, address), {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify({ domains: ['www.example.com', 'localhost'] }),
        })
        return [response.status, await response.json()]
      }
      const isNew = [200, { data: { totals: { created: 1, existing: 0, invalid: 1 } } }]
      expect(await call('/preview', { cookie })).toMatchObject(isNew)
      expect(await call('', {})).toMatchObject([401, { error: 'unauthorized' }])
      expect(await call('', { cookie })).toMatchObject(isNew)
      const isHeld = [200, { data: { totals: { created: 0, existing: 1, invalid: 1 } } }]
      expect(await call('/preview', { cookie })).toMatchObject(isHeld)
    }))

  test.each(['express.ts', 'sqlite.ts', 'fastify.ts', 'fetch.ts', 'own-accounts.ts'])(
    '%s can be copied: it imports no other file',
    example => {
      expect(readFileSync(new URL(`examples/${example}`, root), 'utf8')).not.toMatch(/from '\.\.?\//)
    },
  )
})
