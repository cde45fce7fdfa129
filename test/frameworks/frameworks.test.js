/**
 * Builds the programs of examples/element, and pages that docs/customers-page.md describes in a line, and uses each in
 * Chromium: a list that a customer has pasted stays through ten renders, and is registered. Run by
 * `npm run test:frameworks`.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import vue from '@vitejs/plugin-vue'
import express from 'express'
import { build } from 'vite'
import solid from 'vite-plugin-solid'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore } from '../../dist/index.js'
import { launchChromium } from '../browser/chromium.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const element = join(root, 'dist/element.js')
const guide = readFileSync(join(root, 'docs/customers-page.md'), 'utf8')
/** Inside this folder, so that the programs find the frameworks. */
const sources = join(import.meta.dirname, '.programs')
const scratch = mkdtempSync(join(tmpdir(), 'frameworks-'))
const session = `let tokens = 0
export const readToken = () => \`token-\${(tokens += 1)}\`
`
let browser

before(async () => {
  browser = await launchChromium(scratch)
})
after(async () => {
  await browser?.close()
  for (const folder of [sources, scratch]) rmSync(folder, { recursive: true, force: true })
})

const isCustomElement = tag => tag === 'domain-registration'
const mount = {
  tsx: "import './program.tsx'",
  ts: "import './program.ts'",
  vue: `import { createApp } from 'vue'
import App from './program.vue'
createApp(App).mount('#app')`,
  svelte: `import { mount } from 'svelte'
import App from './program.svelte'
mount(App, { target: document.getElementById('app') })`,
}
/** How the programs of a page that a server renders begin, in the browser and on the server. */
const hydrate = `import { createElement } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { Domains } from './program.tsx'
hydrateRoot(document.getElementById('app'), createElement(Domains))`
const renderOnServer = `import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { Domains } from './program.tsx'
export const rendered = renderToString(createElement(Domains))`
const react18 = ['react', 'react-dom'].map(name => ({
  find: new RegExp(`^${name}(?=/|$)`),
  replacement: join(import.meta.dirname, `node_modules/${name}-18`),
}))

const react19 = readFiles('react-19.tsx', 'react-19-types.ts')
for (const [name, language, blocks, inPage, plugins] of [
  ['React 19', 'tsx', react19, '<div id="app"></div>', []],
  [
    'Vue 3.5',
    'vue',
    readFiles('vue.vue', 'vue-types.ts'),
    '<div id="app"></div>',
    [vue({ template: { compilerOptions: { isCustomElement } } })],
  ],
  [
    'Svelte 5',
    'svelte',
    readFiles('svelte.svelte', 'svelte-types.ts'),
    '<div id="app"></div>',
    [svelte({ configFile: false })],
  ],
  ['Lit 3', 'ts', readFiles('lit.ts'), '<domains-page></domains-page>', []],
]) {
  test(`${name} keeps the customer's list through ten renders, and hears what is registered`, async () => {
    const folder = writeProgram(name, language, blocks)
    checkTypes(folder, language)
    writeFileSync(join(folder, 'main.js'), mount[language])
    await useProgram(await buildPage(folder, inPage, { plugins }))
  })
}

for (const [version, alias] of [
  [18, react18],
  [19, []],
]) {
  test(`React ${version} sets properties in a page that a server has rendered, before the first call`, async () => {
    const blocks = [...readFiles('react-18.tsx'), ...react19.slice(1)]
    const folder = writeProgram(`hydrated ${version}`, 'tsx', blocks)
    // The types that are installed are those of React 19.
    if (version === 19) checkTypes(folder, 'tsx')
    writeFileSync(join(folder, 'server.js'), renderOnServer)
    const outDir = join(folder, 'server')
    await buildWith(folder, { alias, ssr: { noExternal: true }, build: { ssr: 'server.js', outDir } })
    const { rendered } = await import(join(outDir, 'server.js'))
    writeFileSync(join(folder, 'main.js'), hydrate)
    await useProgram(await buildPage(folder, `<div id="app">${rendered}</div>`, { alias }))
  })
}

test('Solid keeps the list through ten renders, with its properties and events as the page says', async () => {
  assert.match(guide, /`prop:options=\{…\}`.*`on:domains-registered`/)
  const program = `import 'domain-registration/element'
import { createSignal } from 'solid-js'
import { render } from 'solid-js/web'
import { readToken } from './session'
function Domains() {
  const [token, setToken] = createSignal(readToken())
  const [count, setCount] = createSignal(0)
  return (
    <main>
      <button onClick={() => setToken(readToken())}>New token</button>
      <p>{count()} registered</p>
      <domain-registration
        url="/v1/domains"
        prop:options={{ headers: { 'X-CSRF-Token': token() } }}
        on:domains-registered={({ detail }) => setCount(count() + detail.domains.length)}
      />
    </main>
  )
}
render(() => <Domains />, document.getElementById('app'))`
  const folder = writeProgram('Solid', 'jsx', [{ language: 'jsx', text: program }])
  writeFileSync(join(folder, 'main.js'), "import './program.jsx'")
  await useProgram(await buildPage(folder, '<div id="app"></div>', { plugins: [solid()] }))
})

/** Pages whose server sends them anew, as the script of another library puts them in place of what is shown. */
for (const [name, module, attribute, again, done] of [
  ['Turbo', '@hotwired/turbo', 'data-turbo-permanent', '<a href="/">New token</a>', 'turbo:load'],
  [
    'htmx',
    'htmx.org',
    'hx-preserve',
    '<button hx-get="/" hx-select="#page" hx-target="#page" hx-swap="outerHTML">New token</button>',
    'htmx:after:swap',
  ],
]) {
  test(`${name} keeps an element with an id and ${attribute} in ten pages from the server`, async () => {
    assert.ok(guide.includes(`\`${attribute}\``))
    const program = `import '${module}'
import 'domain-registration/element'
import { readToken } from './session'
const setToken = () => {
  document.querySelector('domain-registration').options = { headers: { 'X-CSRF-Token': readToken() } }
}
setToken()
let pages = 0
document.addEventListener('${done}', () => {
  setToken()
  pages += 1
  document.documentElement.dataset.pages = pages
})
document.addEventListener('domains-registered', ({ detail }) => {
  document.querySelector('p').textContent = \`\${detail.domains.length} registered\`
})`
    const folder = writeProgram(name, 'ts', [{ language: 'ts', text: program }])
    writeFileSync(join(folder, 'main.js'), mount.ts)
    const inPage = `<main id="page">${again}<p>0 registered</p>
      <domain-registration id="names" ${attribute} url="/v1/domains"></domain-registration></main>`
    await useProgram(await buildPage(folder, inPage, {}), async (page, turn) => {
      await page.waitForFunction(turns => Number(document.documentElement.dataset.pages) >= turns, turn + 1)
    })
  })
}

/** Files of examples/element, each with its language: a program, and declarations of types. The page links each. */
function readFiles(...files) {
  return files.map(file => {
    assert.ok(guide.includes(`(../examples/element/${file})`), file)
    return { language: extname(file).slice(1), text: readFileSync(join(root, 'examples/element', file), 'utf8') }
  })
}

function writeProgram(name, language, blocks) {
  assert.equal(blocks[0]?.language, language)
  const folder = join(sources, name)
  mkdirSync(folder, { recursive: true })
  for (const [index, { language, text }] of blocks.entries())
    writeFileSync(join(folder, index === 0 ? `program.${language}` : `types.${index}.${language}`), text)
  writeFileSync(join(folder, 'session.ts'), session)
  return folder
}

/** @returns The folder of the page that shows a program. */
async function buildPage(folder, inPage, options) {
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><html lang="en"><title>Names</title><link rel="icon" href="data:,">${inPage}
    <script type="module" src="/main.js"></script>`,
  )
  const outDir = join(folder, 'page')
  await buildWith(folder, { ...options, build: { outDir } })
  return outDir
}

const buildWith = (root, { alias = [], ...options }) =>
  build({
    root,
    configFile: false,
    logLevel: 'warn',
    esbuild: { jsx: 'automatic' },
    resolve: { alias: [{ find: 'domain-registration/element', replacement: element }, ...alias] },
    ...options,
  })

/** Which program checks the types of a language, with its parameters. */
const checkers = {
  tsx: ['../../node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
  ts: ['../../node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
  vue: ['node_modules/vue-tsc/bin/vue-tsc.js', '-p', 'tsconfig.json'],
  svelte: ['node_modules/svelte-check/bin/svelte-check', '--tsconfig', 'tsconfig.json', '--output', 'human'],
}

/** Checks the types of a program, in templates too. */
function checkTypes(folder, language) {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, jsx: 'react-jsx', module: 'esnext', moduleResolution: 'bundler' },
    ...{ target: 'es2022', lib: ['es2023', 'dom'], skipLibCheck: !language.startsWith('ts'), types: [] },
    paths: { 'domain-registration/element': [join(root, 'dist/types/esm/element/index.d.ts')] },
  }
  const include = ['*.tsx', '*.ts', `*.${language}`]
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  const [program, ...parameters] = checkers[language]
  try {
    const command = [join(import.meta.dirname, program), ...parameters]
    execFileSync(process.execPath, command, { cwd: folder, encoding: 'utf8' })
  } catch ({ stdout, stderr }) {
    assert.fail(stdout + stderr)
  }
}

/** @param rendered Waits for the end of a render that takes longer than the click. */
async function useProgram(folder, rendered = async () => {}) {
  const tokens = []
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
  const app = express().use(express.static(folder))
  app.use(
    domainsRouter({
      store,
      operations: ['create', 'preview', 'delete', 'list'],
      authenticate({ raw }) {
        tokens.push(raw.headers['x-csrf-token'])
        return { type: 'team', teamId: '1', scopes: ['domains:create', 'domains:delete', 'domains:read'] }
      },
    }),
  )
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const page = await browser.newPage()
  try {
    const errors = []
    page.on('pageerror', error => errors.push(String(error)))
    await page.goto(`http://localhost:${server.address().port}/`)
    await page.getByLabel(/^Hostnames/).fill('a.example.com\nb.example.com\nhttps://c.example.com/')
    await page.getByRole('button', { name: 'Check names' }).click()
    await page.getByRole('button', { name: 'Use the correction' }).waitFor()
    for (let turn = 0; turn < 10; turn += 1) {
      await page.getByText('New token').click()
      await rendered(page, turn)
    }
    await page.getByRole('button', { name: 'Use the correction' }).click()
    await page.getByRole('button', { name: 'Register 3 names' }).click()
    await page.getByText('3 registered', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Registered names (3)' }).waitFor()
    assert.equal(await store.count({ teamId: '1' }), 3)
    assert.deepEqual(errors, [])
    assert.ok(tokens.every(token => token?.startsWith('token-')))
    const last = Number(tokens.at(-1).replace('token-', ''))
    assert.ok(last > 10, `the last token is ${last}`)
  } finally {
    await page.close()
    server.closeAllConnections()
    server.close()
  }
}
