import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

const read = path => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The groups of `docs/README.md`, each with the pages to which it links, in reading order. */
function readGroups() {
  const [, ...sections] = read('docs/README.md').split(/^## /m)
  const listed = new Set()
  return sections
    .filter(section => !section.startsWith('By word'))
    .map(section => {
      const links = [...section.matchAll(/\]\(([\w./-]+\.md)/g)].map(([, link]) => posix.join('docs', link))
      const paths = links.filter(path => !listed.has(path) && listed.add(path))
      return [section.split('\n', 1)[0], paths]
    })
}

const { exports } = JSON.parse(read('package.json'))

/** A page for each entry point of package.json. It has the path of the source: `http/express.md`, `store.md`. */
const reference = Object.entries(exports).flatMap(([entry, { import: module }]) => {
  if (!module) return []
  const [, source] = /^\.\/dist\/types\/esm\/(.+?)(?:\/index)?\.d\.ts$/.exec(module.types)
  return [{ path: `site/reference/${source}.md`, text: entry === '.' ? 'domain-registration' : `…${entry.slice(1)}` }]
})

/**
 * Creates the sidebar.
 *
 * @param {(path: string) => string} readTitle Returns the title of a page for the sidebar.
 */
export function createSidebar(readTitle) {
  const groups = readGroups().map(([text, paths]) => ({
    text,
    items: paths.map(path => ({ path, text: readTitle(path) })),
  }))
  const tools = ['docs/README.md', 'site/pages/playground.md'].map(path => ({ path, text: readTitle(path) }))
  return [{ text: 'Find', items: tools }, ...groups, { text: 'Reference', items: reference }]
}
