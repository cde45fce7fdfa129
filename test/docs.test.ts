import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import express from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files as pictures } from '../site/pictures.ts'
import { statusByErrorCode } from '../src/errors/api-error.ts'
import { classifyHostname } from '../src/hostname/classify.ts'
import { domainsRouter } from '../src/http/express.ts'
import { createMemoryStore, registerDomains } from '../src/index.ts'
import { openapi } from '../src/openapi/index.ts'
import { counts, sample } from './counts.ts'
import { createKeys, createStore, team1, teams } from './fixtures.ts'
import { listen, type RunningServer } from './listen.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** The codes come from the OpenAPI document, which does not compile if a code is missing. */
const { code } = openapi().components.schemas.InvalidResult.properties as { code: { enum: string[] } }
const invalidCodes = code.enum
const manifest: { files: string[]; description: string; keywords: string[] } = JSON.parse(read('package.json'))
const guides = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'AGENTS.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md'))
    .map(file => `docs/${file}`),
]

/** The anchor that GitHub makes from a heading. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
const anchorsOf = (file: string) =>
  [
    ...read(file)
      .replaceAll(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = '']) => toAnchor(heading))
const linksIn = (text: string) =>
  [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, file = '', anchor]) => ({ file, anchor }))

describe.each(guides)('%s', guide => {
  const text = read(guide)

  test('shows programs from examples/ unchanged', () => {
    for (const [, file = '', program] of text.matchAll(
      /<!-- (examples\/[\w.-]+) -->\n+(?:\*\*.*?\*\*\n+)?```[jt]s\n(.*?)```/gs,
    )) {
      expect(program, file).toBe(read(file))
    }
  })

  test('closes each code block', () => {
    expect([...text.matchAll(/^ *```/gm)].length % 2).toBe(0)
  })

  test('begins no line with a tag, because the site would read the tag as HTML', () => {
    const prose = text.replaceAll(/^ *```.*?^ *```/gms, '')
    expect(prose.match(/^ *<(?!!--).*/gm)).toBeNull()
  })

  test('links only to files of the package, so no link is dead where it is installed', () => {
    const packed = ['README.md', 'LICENSE', 'package.json', ...manifest.files]
    const targets = linksIn(text).map(({ file }) => (file === '' ? guide : join(dirname(guide), file)))
    expect(targets.filter(target => !packed.some(file => target === file || target.startsWith(`${file}/`)))).toEqual([])
  })

  test('links only to existing pages and headings', () => {
    const broken = linksIn(text).filter(({ file, anchor }) => {
      const target = file === '' ? guide : join(dirname(guide), file)
      return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
    })
    expect(broken).toEqual([])
  })
})

/** The program at the beginning of a page, and its output according to its last comment. */
function readOpening(page: string) {
  const [, language = '', program = ''] = /```(\w*)\n(.*?)```/s.exec(read(page)) ?? []
  const [, shown] = /\/\/ (.*)$/.exec(program.trimEnd()) ?? []
  return { page, program, shown: /^[tj]s$/.test(language) ? shown : undefined }
}

describe('the first program on a page prints what its last comment says:', () => {
  const openings = guides.filter(guide => guide.startsWith('docs/')).map(readOpening)
  let service: RunningServer
  const env: NodeJS.ProcessEnv = { ...process.env, PORT: '0', DATABASE_FILE: ':memory:', NO_COLOR: '1' }
  beforeAll(async () => {
    const { keys, issue } = createKeys()
    service = await listen(express().use(domainsRouter({ store: createStore(), keys })))
    env.API_KEY = await issue('team', '1')
    env.DOMAINS_URL = `${service.origin}/v1/domains`
  })
  afterAll(() => service.close())

  test('a page without such a program is an index, is tested elsewhere, or says how it was tested', () => {
    const others = openings.filter(({ shown }) => shown === undefined).map(({ page }) => page)
    const indexes = 'README concepts faq hostnames reasons webhook your-server'
    const elsewhere = 'quick-start runbook customers-page cli postgres citus own-store'
    const tried = `${indexes} ${elsewhere}`.split(' ').map(name => `docs/${name}.md`)
    const says = (page: string) => /\bour tests\b|\bwas not run\b/i.test(read(page))
    expect(others.filter(page => !tried.includes(page) && !says(page))).toEqual([])
  })

  const programs = openings.filter(({ shown }) => shown !== undefined)
  for (const { page, program, shown } of sample(programs, counts.programsOfPages)) {
    const isSqlite = program.includes("'node:sqlite'") && !process.getBuiltinModule('node:sqlite')
    test.skipIf(isSqlite)(isSqlite ? `${page}, but not on Node 20, which has no node:sqlite` : page, async () => {
      const { code } = await transform(program, { loader: 'ts' })
      const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { cwd: root, env })
      let [stdout, stderr] = ['', '']
      child.stderr.on('data', text => {
        stderr += text
      })
      // A server runs until it is killed, so its first output counts as its whole output.
      child.stdout.on('data', text => {
        stdout += text
        if (program.includes('.listen(')) child.kill('SIGKILL')
      })
      await once(child, 'close')
      expect(stdout, stderr).toBe(`${shown}\n`)
    })
  }
})

test('the steps below "Time" in docs/testing.md return what their last comment says', async () => {
  const [, steps = ''] = /^## Time$.*?```ts\n(.*?)```/ms.exec(read('docs/testing.md')) ?? []
  const body = steps.replace(/^(await store\.synchronizePending\(\)) \/\/ (.*)$/m, 'return [$1, $2]')
  const names = ['createMemoryStore', 'registerDomains', 'teams', 'keyContext']
  const runSteps = new Function(...names, `return (async () => {${body}})()`)
  const [result, shown] = await runSteps(createMemoryStore, registerDomains, teams, team1)
  expect(result).toEqual(shown)
  expect(shown).toEqual({ synchronized: 1, failed: 0 })
})

test('each picture is up to date with site/pictures.ts, and a page shows it with a text alternative', () => {
  const shown = guides.flatMap(guide => [...read(guide).matchAll(/!\[([^\]]+)\]\((?:[./\w]*\/)?(\w+\.svg)\)/g)])
  const texts = new Map(shown.map(([, text = '', file = '']) => [file, text]))
  expect(Object.keys(pictures).length).toBeGreaterThan(4)
  for (const [file, picture] of Object.entries(pictures)) {
    expect(read(`docs/pictures/${file}`), 'node --import tsx site/pictures.ts draws it again').toBe(picture)
    expect(texts.get(file)?.length, file).toBeGreaterThan(30)
  }
})

test('each file that is mentioned in CONTRIBUTING.md or SECURITY.md exists', () => {
  const paths = ['CONTRIBUTING.md', 'SECURITY.md'].flatMap(guide =>
    [...read(guide).matchAll(/`((?:src|test|docs|\.github)\/[\w./-]+)`/g)].map(([, path]) => path as string),
  )
  expect(paths.length).toBeGreaterThan(20)
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
})

describe('docs/README.md', () => {
  const index = read('docs/README.md')

  test('links to every other page', () => {
    const linked = linksIn(index).map(({ file }) => join('docs', file))
    const pages = guides.filter(guide => guide.startsWith('docs/') && guide !== 'docs/README.md')
    expect(pages.filter(page => !linked.includes(page))).toEqual([])
  })
})

test('each question of a first month has a heading that answers it', () => {
  const questions: readonly { answers: readonly string[] }[] = JSON.parse(read('test/browser/questions.json'))
  const isMissing = (place: string) => {
    const [page, anchor] = place.split('#')
    const file = `docs/${page}.md`
    return !guides.includes(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
  }
  expect(questions.length).toBeGreaterThan(40)
  expect(questions.flatMap(({ answers }) => answers.filter(isMissing))).toEqual([])
})

describe('README.md', () => {
  const readme = read('README.md')

  test('begins its first section with the two commands for a clone, which .ci/run runs as they are', () => {
    const [, commands = ''] = /^## [^\n]*\n\n```sh\n(.*?)```/ms.exec(readme) ?? []
    expect(commands).toBe(
      `npm ci && npm run demo   # every kind of call, over HTTP
npm ci && npm test       # all checks, two to five minutes
`,
    )
    const lines = read('.ci/run').split('\n')
    for (const [, command] of commands.matchAll(/^(.*?) +#/gm)) expect(lines).toContain(`bash -c '${command}'`)
  })

  test('begins with the sentence by which npm describes the package, and npm finds it by its keywords', () => {
    const [, sentence = ''] = /^# .*?\n\n(.*?\.)\s/s.exec(readme) ?? []
    expect(manifest.description).toBe(sentence.replaceAll(/\s+/g, ' ').replace(/\.$/, ''))
    const sought = ['custom-domains', 'multi-tenant', 'saas', 'verification']
    expect(sought.filter(word => !manifest.keywords.includes(word))).toEqual([])
  })

  test('begins with the program examples/first.mjs', () => {
    const [, program = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
    expect(program).toBe(read('examples/first.mjs'))
  })
})

test('docs/errors.md lists each error with its status, cause and fix, and each code of a result', () => {
  const guide = read('docs/errors.md')
  const sections = [...guide.matchAll(/^## (\d+) `(\w+)`\n\n- Cause: .+?\n- Fix: /gms)]
  expect(Object.fromEntries(sections.map(([, status, code]) => [code, Number(status)]))).toEqual(statusByErrorCode)
  expect(invalidCodes.filter(code => !guide.includes(`| \`${code}\` |`))).toEqual([])
})

test('each message that docs/runbook.md quotes from the package is in its source', () => {
  const [, parts = ''] = /^## Messages in the log$(.*?)^## /ms.exec(read('docs/runbook.md')) ?? []
  const own = parts.replace(/^### From PostgreSQL .*?(?=^### )/ms, '')
  const quotes = [...own.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(.+?)`/g)].map(([, quote = '']) => quote),
  )
  const source = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => read(`src/${file}`))
    .join()
  expect(quotes.length).toBeGreaterThan(25)
  expect(quotes.filter(quote => !source.includes(quote))).toEqual([])
})

describe('the documentation of hostnames', () => {
  const guide = read('docs/hostnames.md')

  test('states correctly how each hostname in the table of docs/hostnames.md is classified', () => {
    const [, table = ''] = /## What counts as a hostname\n(.*?)\n## /s.exec(guide) ?? []
    const rows = [...table.matchAll(/^\| (`.+?) \| (.+?) \| .+ \|$/gm)]
    expect(rows.length).toBeGreaterThan(10)
    const quoted = (cell: string) => [...cell.matchAll(/`(.+?)`/g)].map(([, text]) => JSON.parse(`"${text}"`) as string)
    for (const [, inputs = '', outcome = ''] of rows) {
      const [expected] = quoted(outcome)
      for (const input of quoted(inputs)) {
        const hostname = classifyHostname(input)
        if (expected) expect([input, hostname.valid ? hostname.domain : hostname.code]).toEqual([input, expected])
        else expect([input, hostname.valid]).toEqual([input, true])
      }
    }
  })

  test('shows the output of the program in docs/hostnames.md', async () => {
    const { stdout } = await run(process.execPath, ['examples/classify.mjs'], { cwd: root })
    expect(guide).toContain(`\`\`\`\n${stdout}\`\`\``)
  })
})
