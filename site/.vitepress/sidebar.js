import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { toAnchor } from './links.js'

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

/** The pages that matter most. Their group is always open; the others fold. */
const first = ['docs/quick-start.md', 'docs/concepts.md', 'docs/calls.md', 'docs/customers-page.md', 'docs/errors.md']

/**
 * Creates the sidebar of the guides.
 *
 * @param {(path: string) => string} readTitle Returns the title of a page for the sidebar.
 */
export function createSidebar(readTitle) {
  const toItems = paths => paths.map(path => ({ path, text: readTitle(path) }))
  const groups = readGroups().map(([text, paths]) => ({
    text,
    // Without a link, VitePress nests a button in a button.
    link: `/docs/#${toAnchor(text)}`,
    collapsed: true,
    items: toItems(paths.filter(path => !first.includes(path))),
  }))
  const tools = toItems(['docs/README.md', 'site/pages/playground.md'])
  const reference = { path: 'site/reference/index.md', text: 'Reference' }
  return [
    { text: 'Read first', items: toItems(first) },
    ...groups.filter(({ items }) => items.length > 0),
    { text: 'Find', items: [...tools, reference] },
  ]
}
