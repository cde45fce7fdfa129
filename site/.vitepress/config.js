/**
 * Configures the site, which has the unchanged pages of `docs/` and `site/pages`, and those that `generate.js` writes.
 * Neither the build nor a page loads anything from another host.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { adaptMarkdown, toAnchor, toPage } from './links.js'
import { createSidebar } from './sidebar.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const read = path => readFileSync(join(root, path), 'utf8')
const titles = { 'README.md': 'README', 'docs/README.md': 'All pages' }
const readTitle = path => titles[path] ?? /^# (.+)$/m.exec(read(path))[1].replaceAll('`', '')
const sidebar = createSidebar(readTitle)
const pages = sidebar.flatMap(({ items }) => items)
const reference = JSON.parse(read('site/reference/pages.json'))
const toLink = path => `/${toPage(path).replace(/(?:index)?\.md$/, '')}`
const base = process.env.SITE_BASE ?? '/'
const { description, version } = JSON.parse(read('package.json'))
const isReleased = !read('CHANGELOG.md').includes(`## ${version} (unreleased)`)

/** `<owner>/<name>` on GitHub, where the workflow sets it. A site that is built elsewhere has no links to the source. */
const repository = process.env.GITHUB_REPOSITORY
const [owner] = repository?.split('/') ?? []

const icon = `data:image/svg+xml,${encodeURIComponent(read('site/mark.svg'))}`
/** Social networks load a card only by a whole URL. */
const card = `${owner ? `https://${owner}.github.io` : ''}${base}card.png`
const metas = {
  'og:title': 'domain-registration',
  'og:description': description,
  'og:type': 'website',
  'og:image': card,
}

const toSidebarGroup = ({ items, ...group }) => ({
  ...group,
  items: items.map(({ path, text }) => ({ text, link: toLink(path) })),
})

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
  head: [
    ['link', { rel: 'icon', href: icon }],
    ...Object.entries(metas).map(([property, content]) => ['meta', { property, content }]),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ],
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
    ...exclude('examples/', ['production', 'nextjs']),
    ...exclude('examples/production/', ['README.md']),
    ...exclude('examples/nextjs/', ['README.md']),
    ...exclude('site/', ['pages', 'reference', 'examples']),
  ],
  rewrites: toPage,
  vite: {
    plugins: [vueOfTheSite],
    resolve: {
      alias: {
        'domain-registration/element': join(root, 'dist/element.js'),
        'domain-registration/fetch': join(root, 'dist/fetch.js'),
        'domain-registration': join(root, 'dist/index.js'),
      },
    },
  },
  vue: { template: { compilerOptions: { isCustomElement: name => name === 'domain-registration' } } },
  markdown: {
    // In the default themes of VitePress, comments and keywords have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: toAnchor },
    config: md => adaptMarkdown(md, root),
  },
  buildEnd({ outDir }) {
    writeForPrograms(outDir)
    copyFileSync(join(root, 'site/card.png'), join(outDir, 'card.png'))
  },
  themeConfig: {
    version,
    repository,
    isReleased,
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Playground', link: '/playground' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: { '/reference/': reference.map(toSidebarGroup), '/': sidebar.map(toSidebarGroup) },
    editLink: repository && { pattern: `https://github.com/${repository}/edit/main/:path`, text: 'Edit this page' },
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        miniSearch: {
          // Search results list the guides first, then the pages for maintainers, then the examples. The changelog and
          // the reference are last, because they repeat many words of the guides.
          searchOptions: {
            boostDocument: id =>
              /\/(?:reference\/|changelog)/.test(id)
                ? 0.1
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
