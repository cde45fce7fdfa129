/**
 * Writes the API reference, a page for each function, from the pages that typedoc has written into `reference/`, and a
 * page for each program of `examples/`. Fails if the doc comment of a public function, class or constant has no example.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { join } from 'node:path/posix'
import { toAnchor } from './.vitepress/links.js'

const reference = new URL('reference/', import.meta.url)
const examples = new URL('examples/', import.meta.url)

/** What nearly every program calls first. Their pages get the types that they share with others. */
const first = [
  'registerDomains',
  'domainsRouter',
  'domainsHandler',
  'createPostgresStore',
  'generateApiKey',
  'startSynchronizing',
  'registerAll',
  'classifyHostname',
]

/**
 * A type of more lines has a page of its own, unless it is a function's options. Other types stand on the page of the
 * first function that uses them.
 */
const LONG = 150
const isType = ({ group }) => /^(?:Interfaces|Type Aliases)$/.test(group)
const isValue = ({ group }) => /^(?:Classes|Functions|Variables)$/.test(group)
const isLong = ({ name, text }) => !name.endsWith('Options') && text.split('\n').length > LONG

/** Numbers equal anchors of a page as VitePress does: `name`, `name-1`. */
function createAnchors() {
  const seen = new Set()
  return heading => {
    const anchor = toAnchor(heading)
    let unique = anchor
    for (let number = 1; seen.has(unique); number += 1) unique = `${anchor}-${number}`
    seen.add(unique)
    return unique
  }
}

/** Calls `change` for each line of Markdown that is a heading, outside code. */
function mapHeadings(lines, change) {
  let isCode = false
  return lines.map(line => {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks, text] = (!isCode && /^(#+) (.+)$/.exec(line)) || []
    return marks ? change(marks.length, text, line) : line
  })
}

/** Splits typedoc's page of an entry point into sections: its functions, classes, constants and types. */
function splitModule(file) {
  const path = file.replace(/\.md$/, '').replace('http/', '')
  const module = path === 'index' ? 'domain-registration' : `domain-registration/${path}`
  const toUnique = createAnchors()
  const sections = []
  let group = ''
  mapHeadings(readFileSync(new URL(file, reference), 'utf8').split('\n'), (depth, text) => {
    // typedoc does not count the title.
    const anchor = depth > 1 ? toUnique(text) : ''
    if (depth === 2) group = text
    if (depth === 3) sections.push({ file, module, group, name: text.replace(/\W/g, ''), anchors: [], lines: [] })
    if (depth > 2) sections.at(-1).anchors.push(anchor)
  })
  const parts = readFileSync(new URL(file, reference), 'utf8')
    .split(/^(?=### )/m)
    .slice(1)
    .map(text => text.replace(/^## (?:Classes|Functions|Interfaces|References|Type Aliases|Variables)\n/gm, ''))
  return sections.map((section, index) => ({ ...section, text: parts[index].replace(/\n\*\*\*\n*$/, '').trimEnd() }))
}

const linkPattern = /\]\(([\w./-]*\.md)?#([\w-]+)\)/g

/** Returns the section to which a link of typedoc leads, and which heading of the section. */
function follow(section, path, anchor, byAnchor) {
  const file = path ? join(section.file, '..', path) : section.file
  const target = byAnchor.get(`${file}#${anchor}`)
  if (!target) throw new Error(`${section.file}: the link to ${file}#${anchor} leads nowhere`)
  if (target.section.group !== 'References') return target
  const [[, to, its]] = target.section.text.matchAll(linkPattern)
  return follow(target.section, to, its, byAnchor)
}

/** Decides which sections stand on which page: a list of sections for each page, of which the first gives its name. */
function arrange(sections, byAnchor) {
  const rank = ({ name }) => (first.includes(name) ? first.indexOf(name) : first.length)
  const values = sections.filter(isValue).sort((a, b) => rank(a) - rank(b))
  const types = sections.filter(isType)
  const own = [...values, ...types.filter(isLong)]
  const placed = new Set(own)
  const pages = []
  for (const root of [...own, ...types.filter(type => !isLong(type))]) {
    if (placed.has(root) && !own.includes(root)) continue
    placed.add(root)
    const page = [root]
    // Types are added behind those that use them, while the loop is running.
    for (const section of page) {
      const used = section.text.replaceAll(/^#+ Extended by\n\n(?:- .*\n)+/gm, '')
      for (const [, path, anchor] of used.matchAll(linkPattern)) {
        const { section: target } = follow(section, path, anchor, byAnchor)
        if (placed.has(target)) continue
        placed.add(target)
        page.push(target)
      }
    }
    pages.push(page)
  }
  return pages
}

/** The first sentence of a section. */
const summarize = text => {
  const paragraph = text.split('\n\n').find(part => /^(?:[A-Z]|`(?!``))/.test(part)) ?? ''
  return paragraph.replaceAll('\n', ' ').replace(/^(.*?)[.:](?: .*)?$/, '$1.')
}

function writeReference(sections) {
  const byAnchor = new Map(
    sections.flatMap(section =>
      section.anchors.map((anchor, index) => [`${section.file}#${anchor}`, { section, index }]),
    ),
  )
  const pages = arrange(sections, byAnchor)

  /** For each section, its page and the anchors of its headings there. */
  const places = new Map()
  for (const page of pages) {
    const toUnique = createAnchors()
    for (const section of page) {
      const anchors = []
      mapHeadings(section.text.split('\n'), (_, text) => anchors.push(toUnique(text)))
      places.set(section, { file: `${page[0].name}.md`, anchors })
    }
  }
  const files = pages.map(([{ name }]) => name.toLowerCase())
  if (new Set(files).size < files.length) throw new Error('Two pages of the reference have one name')

  const names = pages.map(([{ name }]) => name)
  const relink = (section, text) =>
    text
      .replaceAll(linkPattern, (_, path, anchor) => {
        const target = follow(section, path, anchor, byAnchor)
        const { file, anchors } = places.get(target.section)
        return `](${file}#${anchors[target.index]})`
      })
      // A link to an entry point leads to the function of that name, if there is one.
      .replaceAll(/\]\([\w./-]*?(\w+)\.md\)/g, (_, name) => `](${names.includes(name) ? name : 'index'}.md)`)
  for (const page of pages) {
    const [{ name, module }] = page
    const [opening, ...rest] = page.map((section, index) =>
      mapHeadings(
        relink(section, section.text).split('\n'),
        (depth, text) => `${'#'.repeat(depth - (index === 0 ? 2 : 1))} ${text}`,
      ).join('\n'),
    )
    const code = `\`\`\`ts\nimport ${isType(page[0]) ? 'type ' : ''}{ ${name} } from '${module}'\n\`\`\``
    const text = [opening.replace('\n', `\n\n${code}\n`), ...rest].join('\n\n')
    writeFileSync(new URL(`${name}.md`, reference), `---\neditLink: false\n---\n\n${text}\n`)
  }
  writeIndex(pages, section => summarize(relink(section, section.text)))
}

/** Writes the first page of the reference, and the list from which its sidebar is made. */
function writeIndex(pages, describe) {
  const values = pages.filter(([section]) => isValue(section))
  const modules = new Map(pages.map(([{ module }]) => [module, pages.filter(page => page[0].module === module)]))
  const list = pages => ['| | |', '| --- | --- |', ...pages.map(toRow)].join('\n')
  const toRow = ([section]) => `| [\`${section.name}\`](${section.name}.md) | ${describe(section)} |`
  const parts = [
    '---\neditLink: false\n---',
    '# Reference',
    `Made from the doc comments. A page has a function with its options and types. Most programs call these first:`,
    list(values.slice(0, first.length)),
    ...[...modules].map(([module, its]) => `## ${module}\n\n${list(its)}`),
  ]
  writeFileSync(new URL('index.md', reference), `${parts.join('\n\n')}\n`)
  const toItem = ([{ name }]) => ({ path: `site/reference/${name}.md`, text: name })
  const overview = { path: 'site/reference/index.md', text: 'All functions and types' }
  const groups = [...modules].map(([module, its]) => ({
    // Beside one another, `/express` and `/client` are read faster than what they have in common.
    text: module.replace(/^domain-registration(?=\/)/, ''),
    link: `/reference/#${toAnchor(module)}`,
    collapsed: true,
    items: its.map(toItem),
  }))
  const sidebar = [{ text: 'Called first', items: [overview, ...values.slice(0, first.length).map(toItem)] }, ...groups]
  writeFileSync(new URL('pages.json', reference), JSON.stringify(sidebar))
}

function findWithoutExample(sections) {
  return sections
    .filter(isValue)
    .filter(({ text }) => !/^#{4,5} Examples?$/m.test(text))
    .map(({ module, name }) => `${module}: ${name}`)
}

function writeExamples() {
  rmSync(examples, { recursive: true, force: true })
  const folders = ['callers', 'element', 'frameworks']
  for (const folder of folders) mkdirSync(new URL(`${folder}/`, examples), { recursive: true })
  const list = folder => readdirSync(new URL(`../examples/${folder}`, import.meta.url)).filter(name => extname(name))
  for (const file of [...list(''), ...folders.flatMap(folder => list(folder).map(name => `${folder}/${name}`))]) {
    const language = extname(file).slice(1).replace('mjs', 'js')
    const text = `---\neditLink: false\n---\n\n# ${file}\n\n<<< @/examples/${file}{${language}}\n`
    writeFileSync(new URL(file.replace(/\.\w+$/, '.md'), examples), text)
  }
}

// typedoc's own list of entry points is not needed.
rmSync(new URL('README.md', reference))
const modules = readdirSync(reference, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.md'))
if (modules.length < 11) throw new Error(`typedoc wrote ${modules.length} pages, not one for each entry point`)
// The package's own entry point is first.
const sections = modules
  .sort((a, b) => (b === 'index.md') - (a === 'index.md') || a.localeCompare(b))
  .flatMap(splitModule)
const withoutExample = findWithoutExample(sections)
if (withoutExample.length > 0) throw new Error(`No @example in the doc comment:\n${withoutExample.join('\n')}`)
rmSync(reference, { recursive: true })
mkdirSync(reference)
writeReference(sections)
writeExamples()
