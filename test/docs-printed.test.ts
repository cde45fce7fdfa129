import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { type Figure, insertTable, toCells } from '../bench/table.ts'
import { german } from '../examples/messages-in-german.ts'
import { classifyHostname } from '../src/index.ts'
import { readCases } from './vectors/read.ts'

/**
 * What the package knows is printed into the pages from its one source: between `<!-- printed: … -->` and
 * `<!-- end -->` of a page. `npx vitest run test/docs-printed.test.ts --update` prints it again.
 */
const read = (path: string) => readFileSync(path, 'utf8')
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts'))
  .map(path => ts.createSourceFile(path, read(`src/${path}`), ts.ScriptTarget.Latest, true))

interface Option {
  readonly name: string
  readonly preset: string
  readonly text: string
}

const toCell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

/** Returns the options of an interface, from its doc comments. */
function readOptions(name: string): Option[] {
  const [declared] = sources.flatMap(source =>
    source.statements.filter(each => ts.isInterfaceDeclaration(each) && each.name.text === name),
  )
  if (!declared || !ts.isInterfaceDeclaration(declared)) throw new Error(`There is no interface ${name}`)
  return declared.members.flatMap(member => {
    const [doc] = ts.getJSDocCommentsAndTags(member)
    if (!doc || !ts.isJSDoc(doc)) return []
    const comment = ts.getTextOfJSDocComment(doc.comment) ?? ''
    const [text = ''] = comment.replaceAll(/\{@link\s+([^}]+?)\s*\}/g, '`$1`').split('\n\n')
    const pattern = /\s*\bDefault\s+(?:`'?([^`]*?)'?`|(\d[\d,]*\d|\d+)(?: \([^)]*\))?)\.?/
    const [, code, number] = pattern.exec(text) ?? []
    const preset = number ?? (code === undefined ? '' : `\`${code}\``)
    return [
      {
        name: member.name?.getText() ?? '',
        preset: member.questionToken ? preset : 'required',
        text: toCell(text.replace(pattern, '')),
      },
    ]
  })
}

/** Prints each kind of what the package knows. Gets what the page itself has there now. */
const printers: Readonly<Record<string, (names: readonly string[], printed: string) => string>> = {
  options(names) {
    const rows = names.flatMap(readOptions).map(({ name, preset, text }) => `| \`${name}\` | ${preset} | ${text} |`)
    return ['| option | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')
  },

  metrics() {
    const pattern =
      /(?:name: '|gauge\(')(?:domain_registration_)?(\w+)',\s+(?:help: )?'(.*?)'(?:,\s+labelNames: \[(.*?)])?/g
    const rows = [...read('examples/production/prometheus.ts').matchAll(pattern)].map(
      ([, name, help, labels = '']) => `| \`domain_registration_${name}\` | ${labels.replaceAll("'", '`')} | ${help} |`,
    )
    return ['| metric | labels | meaning |', '| --- | --- | --- |', ...rows].join('\n')
  },

  /** The page chooses examples of each reason; the package says the rest. */
  reasons(_, printed) {
    const rows = [...printed.matchAll(/^\| `\w+` \| `(.+?)` \|/gm)].map(([, cell = '']) => {
      const hostname = classifyHostname(toInput(cell))
      if (hostname.valid) throw new Error(`${cell} is accepted`)
      const fields = [...(fieldsByReason.get(hostname.reason) ?? [])].sort().map(field => `\`${field}\``)
      const { reason, suggestion, certain, message } = hostname
      const kind = suggestion === undefined ? '' : certain ? 'certain' : 'a guess'
      return `| \`${reason}\` | \`${cell}\` | ${kind} | ${fields.join(', ')} | ${toMessage(message)} |`
    })
    const table = ['| `reason` | example | suggestion | fields | message |', '| --- | --- | --- | --- | --- |', ...rows]
    return table.map(row => row.replaceAll(/\| {2}(?=\|)/g, '| ')).join('\n')
  },
}

/** Leaves out the input at the beginning and the suggestion at the end, and escapes what Markdown would format. */
const toMessage = (message: string) =>
  toCell(
    message
      .replace(/^".*?" (?=[a-z])/s, '… ')
      .replace(/ Did you mean ".*?"\?/, '')
      .replaceAll(/[*_[\]<&\\]/g, '\\$&'),
  )

/** In an example, `a{64}` and `(a.){3}` stand for repeated text, and `\\u200d` for a character. */
const toInput = (cell: string) =>
  cell
    .replaceAll('\\|', '|')
    .replaceAll(/\\u([\da-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/(?:\((.+?)\)|(\w))\{(\d+)\}/g, (_, group = '', letter = '', count = '') =>
      `${group}${letter}`.repeat(Number(count)),
    )

/** The fields that a rejection may have, of all that the vectors provoke. */
const fieldsByReason = new Map<string, Set<string>>()
for (const [text] of readCases<[string]>('pasted-names.json')) {
  const hostname = classifyHostname(text)
  if (hostname.valid) continue
  const { valid: _, code, reason, message, suggestion, certain, hosts, aLabels, rest, source, ...details } = hostname
  fieldsByReason.set(reason, new Set([...(fieldsByReason.get(reason) ?? []), ...Object.keys(details)]))
}

const print = (page: string) =>
  page.replaceAll(
    /^<!-- printed: (\w+)([^\n]*) -->\n\n(?:(.*?)\n\n)??<!-- end -->$/gms,
    (_, kind: string, names: string, printed = '') => {
      const text = printers[kind]?.(names.split(' ').filter(Boolean), printed)
      return `<!-- printed: ${kind}${names} -->\n\n${text}\n\n<!-- end -->`
    },
  )

const pages = readdirSync('docs').filter(file => file.endsWith('.md') && read(`docs/${file}`).includes('<!-- printed:'))

test.each(pages)('docs/%s says what the package says', async page => {
  await expect(print(read(`docs/${page}`))).toMatchFileSnapshot(`../docs/${page}`)
})

test('bench/RESULTS.md has the figures, and says which are older than the code that they measure', async () => {
  const figures = JSON.parse(read('bench/figures.json'))
  await expect(insertTable(read('bench/RESULTS.md'), figures)).toMatchFileSnapshot('../bench/RESULTS.md')
  const figure: Figure = { starts: [1], where: 'here', code: 'earlier' }
  expect(toCells('postgres', figure)).toContain('here, **older than its code**')
})

test('every kind of list is printed', () => {
  const kinds = pages.flatMap(page =>
    [...read(`docs/${page}`).matchAll(/<!-- printed: (\w+)/g)].map(([, kind]) => kind),
  )
  expect([...new Set(kinds)].sort()).toEqual(Object.keys(printers).sort())
})

test('docs/reasons-list.md has every reason', () => {
  const listed = [...read('docs/reasons-list.md').matchAll(/^\| `(\w+)` \| `/gm)].map(([, reason]) => reason)
  // The compiler checks that this catalog lacks no reason. Over HTTP, nothing but a string becomes a hostname.
  const others = ['not_a_string', 'wildcard_conflict', 'subdomain_conflict', 'domain_already_licensed']
  expect([...new Set(listed)].sort()).toEqual(
    Object.keys(german)
      .filter(reason => !others.includes(reason))
      .sort(),
  )
})
