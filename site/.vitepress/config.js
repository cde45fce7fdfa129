/**
 * Configures the site, which has the unchanged pages of `docs/` and `site/pages`, and those that `generate.js` writes.
 * Neither the build nor a page loads anything from another host.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { adaptMarkdown, toAnchor, toPage } from './links.js'
import { createSidebar } from './sidebar.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const read = path => readFileSync(join(root, path), 'utf8')
const titles = { 'README.md': 'Start', 'docs/README.md': 'Index' }
const readTitle = path => titles[path] ?? /^# (.+)$/m.exec(read(path))[1].replaceAll('`', '')
const sidebar = createSidebar(readTitle)
const pages = sidebar.flatMap(({ items }) => items)
const toLink = path => `/${toPage(path).replace(/(?:index)?\.md$/, '')}`
const base = process.env.SITE_BASE ?? '/'
const description = JSON.parse(read('package.json')).description

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#3451b2"/>' +
  '<path d="M4.5 8.5l2.5 2.5 4.5-5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>'

const exclude = (folder, pages) =>
  readdirSync(join(root, folder))
    .filter(name => !pages.includes(name))
    .flatMap(name => [`${folder}${name}`, `${folder}${name}/**`])

/** For language models: a list of the pages, and one file that contains all guides. */
function writeForPrograms(folder) {
  const list = pages.map(({ path, text }) => `- [${text}](${base}${toLink(path).slice(1)})`).join('\n')
  writeFileSync(join(folder, 'llms.txt'), `# domain-registration\n\n> ${description}\n\n${list}\n`)
  writeFileSync(join(folder, 'llms-full.txt'), pages.map(({ path }) => read(path)).join('\n\n'))
}

/**
 * Lets VitePress resolve `vue` when it renders pages on Node. `vue` is in the `node_modules` of `site/`, where imports
 * in pages outside `site/` are not looked up.
 */
const vueOfTheSite = {
  name: 'vue of the site',
  enforce: 'pre',
  resolveId: (id, _, { ssr }) => (ssr && /^vue(?:\/server-renderer)?$/.test(id) ? { id, external: true } : undefined),
}

export default defineConfig({
  title: 'domain-registration',
  description,
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: '..',
  // VitePress turns every Markdown file below `srcDir` into a page, unless the file is excluded.
  srcExclude: [
    ...exclude('', [
      'docs',
      'site',
      'README.md',
      'SECURITY.md',
      'CHANGELOG.md',
      'AGENTS.md',
      'CONTRIBUTING.md',
      'examples',
    ]),
    ...exclude('examples/', ['production']),
    ...exclude('examples/production/', ['README.md']),
    ...exclude('site/', ['pages', 'reference', 'examples']),
  ],
  rewrites: toPage,
  vite: {
    plugins: [vueOfTheSite],
    resolve: {
      alias: {
        'domain-registration/fetch': join(root, 'dist/fetch.js'),
        'domain-registration': join(root, 'dist/index.js'),
      },
    },
  },
  markdown: {
    // In the default themes of VitePress, comments and keywords have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: toAnchor },
    config: md => adaptMarkdown(md, root),
  },
  buildEnd: ({ outDir }) => writeForPrograms(outDir),
  themeConfig: {
    nav: [
      { text: 'Start', link: '/readme' },
      { text: 'Playground', link: '/playground' },
      { text: 'Index', link: '/docs/' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: sidebar.map(group => ({
      ...group,
      items: group.items.map(({ path, text }) => ({ text, link: toLink(path) })),
    })),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // Search results list the guides first, then the pages for maintainers, then the examples. The reference is
          // last, because it repeats many words of the guides.
          searchOptions: {
            boostDocument: id =>
              id.includes('/reference/')
                ? 0.2
                : id.includes('/examples/')
                  ? 0.4
                  : id.includes('/contributing')
                    ? 0.7
                    : 1,
          },
        },
      },
    },
  },
})
