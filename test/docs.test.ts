import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { statusByErrorCode } from '../src/errors.ts'
import { classifyHostname } from '../src/hostname/classify.ts'
import type { InvalidCode } from '../src/wire/response.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** One that is missing, or that there is not, does not compile. */
const invalidCodes = Object.keys({
  empty_domain: 0,
  invalid_domain: 0,
  public_suffix_domain: 0,
  internal_domain: 0,
  reserved_ip: 0,
  wildcard_conflict: 0,
  subdomain_conflict: 0,
  domain_already_licensed: 0,
  internal_error: 0,
} satisfies Record<InvalidCode, 0>)
const guides = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs')).map(file => `docs/${file}`),
]

describe.each(guides)('%s', guide => {
  const text = read(guide)

  test('shows the programs of examples/ as they are', () => {
    for (const [, file = '', program] of text.matchAll(/<!-- (examples\/[\w.-]+) -->\n+```[jt]s\n(.*?)```/gs)) {
      expect(program, file).toBe(read(file))
    }
  })

  test('links to files that there are', () => {
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      expect([target, existsSync(join(root, dirname(guide), target))]).toEqual([target, true])
    }
  })
})

test('CONTRIBUTING.md and SECURITY.md name files that there are', () => {
  const paths = ['CONTRIBUTING.md', 'SECURITY.md'].flatMap(guide =>
    [...read(guide).matchAll(/`((?:src|test|docs|\.github)\/[\w./-]+)`/g)].map(([, path]) => path as string),
  )
  expect(paths.length).toBeGreaterThan(20)
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
})

describe('README.md', () => {
  const readme = read('README.md')

  test('has at most 1,000 words', () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1000)
  })

  test('begins with a program of at most 15 lines', () => {
    const [, program = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
    expect(program).toBe(read('examples/first.mjs'))
    expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
  })

  test.each(['each result’s', 'each error’s'])('has %s code', which => {
    const codes = which === 'each error’s' ? Object.keys(statusByErrorCode) : invalidCodes
    expect(codes.filter(code => !readme.includes(`\`${code}\``))).toEqual([])
  })
})

test('docs/errors.md has each error with its status, cause and fix, and each code of a result', () => {
  const guide = read('docs/errors.md')
  const sections = [...guide.matchAll(/^## (\d+) `(\w+)`\n\n- Cause: .+?\n- Fix: /gms)]
  expect(Object.fromEntries(sections.map(([, status, code]) => [code, Number(status)]))).toEqual(statusByErrorCode)
  expect(invalidCodes.filter(code => !guide.includes(`| \`${code}\` |`))).toEqual([])
})

describe('docs/hostnames.md', () => {
  const guide = read('docs/hostnames.md')

  test('tells of each kind of hostname what the library does with it', () => {
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

  test('shows what its program prints', async () => {
    const { stdout } = await run(process.execPath, ['examples/classify.mjs'], { cwd: root })
    expect(guide).toContain(`\`\`\`\n${stdout}\`\`\``)
  })
})
