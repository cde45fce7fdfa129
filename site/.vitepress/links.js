/** Maps files of the repository to pages of the site, and adapts the links and anchors in their text. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path/posix'

/**
 * Finds the page of the site that shows a file.
 *
 * @param {string} path The path of the file in the repository.
 * @returns {string} The path of the page on the site, with `.md`.
 */
export function toPage(path) {
  if (path.startsWith('examples/')) return path.replace(/\.\w+$/, '.md')
  return path
    .replace(/^site\/(?:pages\/)?/, '')
    .replace(/^docs\/README\.md$/, 'docs/index.md')
    .replace(/^(README|SECURITY|CHANGELOG|AGENTS|CONTRIBUTING)\.md$/, (_, name) => `${name.toLowerCase()}.md`)
}

/**
 * Turns a heading into its anchor, in the same way as GitHub.
 *
 * @param {string} heading
 */
export function toAnchor(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/**
 * Adapts Markdown that was written for GitHub to the site.
 *
 * @param md The parser.
 * @param {string} root The folder of the repository.
 */
export function adaptMarkdown(md, root) {
  md.core.ruler.push('repository', ({ tokens, env }) => {
    const source = relative(root, env.realPath ?? env.path)
    for (const token of tokens) {
      resolveLinks(token, source)
      describePictures(token, source, root)
    }
    if (/^docs\/(?:errors|results|reasons[\w-]*)\.md$/.test(source)) addCodeAnchors(tokens)
  })
  // Without v-pre, Vue evaluates {{ }} in code as an expression, and the page stays empty.
  md.renderer.rules.code_inline = (tokens, index) => `<code v-pre>${md.utils.escapeHtml(tokens[index].content)}</code>`
}

/** Turns links between files of the repository into links between pages of the site. */
function resolveLinks({ children }, source) {
  for (const link of children ?? []) {
    const href = link.type === 'link_open' ? link.attrGet('href') : null
    if (href === null || /^(?:[a-z]+:|#|\/)/.test(href)) continue
    const [path, anchor] = href.split('#')
    link.attrSet('href', `/${toPage(join(dirname(source), path))}${anchor ? `#${anchor}` : ''}`)
  }
}

/** Gives each picture its size, so that its place is kept, and each screenshot its twin for the dark theme. */
function describePictures(token, source, root) {
  token.children = token.children?.flatMap(child => {
    if (child.type !== 'image') return [child]
    const file = join(dirname(source), child.attrGet('src'))
    for (const [name, value] of Object.entries(readSize(join(root, file)))) child.attrSet(name, value)
    const dark = `site/dark/${basename(file)}`
    if (!existsSync(join(root, dark))) return [child]
    const twin = Object.assign(Object.create(Object.getPrototypeOf(child)), child, {
      attrs: child.attrs.map(pair => [...pair]),
    })
    twin.attrSet('src', relative(dirname(source), dark))
    twin.attrJoin('class', 'on-dark')
    child.attrJoin('class', 'on-light')
    return [child, twin]
  })
}

/** Reads the size of a PNG, from its first chunk, or of an SVG, from its first tag. */
function readSize(file) {
  const bytes = readFileSync(file)
  if (file.endsWith('.png')) return { width: `${bytes.readUInt32BE(16)}`, height: `${bytes.readUInt32BE(20)}` }
  const [, width, height] = /^<svg [^>]*width="(\d+)" height="(\d+)"/.exec(bytes.toString())
  return { width, height }
}

/**
 * Headings such as `## 403 \`team_suspended\`` and table rows that begin with a code get the code as their anchor:
 * `docs/errors#team_suspended`.
 */
function addCodeAnchors(tokens) {
  const seen = new Set()
  for (const [index, { type, tag, children }] of tokens.entries()) {
    const opening = tokens[index - 1]
    const isHeading = opening?.tag === 'h2'
    const isFirstCell = opening?.tag === 'td' && tokens[index - 2]?.tag === 'tr'
    if (type !== 'inline' || tag !== '' || !(isHeading || isFirstCell)) continue
    const code = children.find(child => child.type === 'code_inline')?.content
    if (code === undefined || !/^\w+$/.test(code) || seen.has(code)) continue
    seen.add(code)
    const anchor = new opening.constructor('html_inline', '', 0)
    anchor.content = `<span id="${code}"></span>`
    children.unshift(anchor)
  }
}
