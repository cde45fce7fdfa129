import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import yaml from 'yaml'
import { files as pictures } from '../site/pictures.ts'
import { statusByErrorCode } from '../src/errors/api-error.ts'
import { classifyHostname } from '../src/hostname/classify.ts'
import { createMemoryStore, registerDomains } from '../src/index.ts'
import { openapi } from '../src/openapi/index.ts'
import { team1, teams } from './fixtures.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** The codes come from the OpenAPI document, which does not compile if a code is missing. */
const { code } = openapi().components.schemas.InvalidResult.properties as { code: { enum: string[] } }
const invalidCodes = code.enum
const manifest: { files: string[]; description: string; keywords: string[]; scripts: Record<string, string> } =
  JSON.parse(read('package.json'))
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
    for (const [, file = '', program] of text.matchAll(/<!-- (examples\/[\w.-]+) -->\n+```[jt]s\n(.*?)```/gs)) {
      expect(program, file).toBe(read(file))
    }
  })

  test('shows only JSON and YAML that can be read', () => {
    for (const [, language, block = ''] of text.matchAll(/^ *```(json|yaml)\n(.*?)^ *```$/gms)) {
      expect(() => (language === 'json' ? JSON.parse(block) : yaml.parse(block))).not.toThrow()
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

// test/package/blocks.js runs these programs, with the packed package, and compares what they print.
test('each page begins with a program whose last comment says what it prints, or says how it was tested', () => {
  const others = guides.filter(guide => {
    const [, language = '', program = ''] = /```(\w*)\n(.*?)```/s.exec(read(guide)) ?? []
    return guide.startsWith('docs/') && !(/^[tj]s$/.test(language) && /\/\/ .*$/.test(program.trimEnd()))
  })
  const indexes = 'README concepts faq hostnames reasons reasons-list webhook your-server'
  const elsewhere = 'quick-start runbook customers-page cli postgres citus own-store'
  const tried = `${indexes} ${elsewhere}`.split(' ').map(name => `docs/${name}.md`)
  const says = (page: string) => /\bour tests\b|\bwas not run\b/i.test(read(page))
  expect(others.filter(page => !tried.includes(page) && !says(page))).toEqual([])
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

test('the pod in docs/production.md asks paths of examples/production, and waits until its server has stopped', () => {
  const [, manifest = ''] = /```yaml\n(.*?)```/s.exec(read('docs/production.md')) ?? []
  const { terminationGracePeriodSeconds: seconds, containers } = yaml.parse(manifest)
  const server = read('examples/production/server.ts')
  const { readinessProbe, livenessProbe, ports } = containers[0]
  for (const { httpGet } of [readinessProbe, livenessProbe]) {
    expect(server).toContain(`'${httpGet.path}'`)
    expect(httpGet.port).toBe(ports[0].containerPort)
  }
  const [, port, drain] = /PORT = '(\d+)'.*?DRAIN = '(\d+)'/s.exec(server) ?? []
  expect(Number(port)).toBe(ports[0].containerPort)
  expect(seconds * 1000).toBeGreaterThan(Number(drain) + 12_000)
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

describe('the questions of test/browser/questions.json', () => {
  const questions: readonly { question: string; answers: readonly string[]; says?: string }[] = JSON.parse(
    read('test/browser/questions.json'),
  )
  /** The text of a place, such as `stores#options`: from its heading to the next one of this level; or of a page. */
  function findText(place: string): string | undefined {
    const [page, anchor] = place.split('#')
    const file = `docs/${page}.md`
    if (!guides.includes(file)) return undefined
    if (anchor === undefined) return read(file)
    return read(file)
      .split(/^(?=## )|^(?=### )/m)
      .find(part => toAnchor(/^#+ (.+)$/m.exec(part)?.[1] ?? '') === anchor)
  }

  test('each have headings that answer them', () => {
    expect(questions.length).toBeGreaterThan(70)
    const places = questions.flatMap(({ answers }) => answers)
    expect(places.filter(place => findText(place) === undefined)).toEqual([])
  })

  test('of people with a stack of their own are answered in each of these places', () => {
    const ofStacks = questions.filter(({ says }) => says !== undefined)
    expect(ofStacks.length).toBeGreaterThan(29)
    const missing = ofStacks.flatMap(({ question, answers, says = '' }) =>
      answers
        .filter(place => !findText(place)?.replaceAll(/\s+/g, ' ').includes(says))
        .map(place => `${question} ${place} does not say: ${says}`),
    )
    expect(missing).toEqual([])
  })
})

describe('README.md', () => {
  const readme = read('README.md')

  test('begins its first section with the two commands for a clone, whose parts .ci/run runs, each once', () => {
    const [, commands = ''] = /^## [^\n]*\n\n```sh\n(.*?)```/ms.exec(readme) ?? []
    expect(commands).toBe(
      `npm ci && npm run demo   # every kind of call, over HTTP
npm ci && npm test       # the tests of all rules, two to five minutes
`,
    )
    const scripts = (name: string) => manifest.scripts[name]?.replace('node test/nothing-left.js ', '').split(' ')
    const parts = [...commands.matchAll(/^(.*?) +#/gm)].flatMap(([, command = '']) => command.split(' && '))
    expect(new Set(parts)).toEqual(new Set(['npm ci', 'npm run demo', 'npm test']))
    expect(read('.ci/run')).toMatch(/^npm ci\nnpm run demo$.*^npm run test:all /ms)
    // `test:long` runs the tests of `test:short`, and others, more often.
    expect(scripts('test')).toEqual(['build', 'check', 'test:short'])
    expect(scripts('test:all')?.slice(0, 4)).toEqual(['build', 'check', '--then', 'test:long'])
    expect(manifest.scripts['test:long']).toBe('vitest run --mode long')
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
  const [, parts = ''] = read('docs/runbook.md').split('\n## Messages in the log\n')
  const own = parts.replace(/^### From PostgreSQL .*?(?=^### )/ms, '')
  const quotes = [...own.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(.+?)`/g)].map(([, quote = '']) => quote),
  )
  const source = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => read(`src/${file}`))
    .join()
  expect(quotes.length).toBeGreaterThan(20)
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
