/**
 * Builds the programs of docs/element-frameworks.md, and uses each in Chromium: a list that a customer has pasted stays
 * through ten renders, and is registered. Run by `npm run test:frameworks`.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import vue from '@vitejs/plugin-vue'
import express from 'express'
import { build } from 'vite'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore } from '../../dist/index.js'
import { launchChromium } from '../browser/chromium.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const guide = readFileSync(join(root, 'docs/element-frameworks.md'), 'utf8')
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
  vue: `import { createApp } from 'vue'
import App from './program.vue'
createApp(App).mount('#app')`,
  svelte: `import { mount } from 'svelte'
import App from './program.svelte'
mount(App, { target: document.getElementById('app') })`,
}

for (const [heading, language, inPage, plugins] of [
  ['React 19', 'tsx', '<div id="app"></div>', []],
  ['Vue 3.5', 'vue', '<div id="app"></div>', [vue({ template: { compilerOptions: { isCustomElement } } })]],
  ['Svelte 5', 'svelte', '<div id="app"></div>', [svelte({ configFile: false })]],
  ['Lit 3', 'tsx', '<domains-page></domains-page>', []],
]) {
  test(`${heading} keeps the customer's list through ten renders, and hears what is registered`, async () => {
    const section = guide.split(/^## /m).find(part => part.startsWith(heading))
    const programs = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    assert.equal(programs[0]?.[1], language)
    const folder = join(sources, heading)
    mkdirSync(folder, { recursive: true })
    for (const [index, [, extension, text]] of programs.entries()) {
      writeFileSync(join(folder, index === 0 ? `program.${extension}` : `types.${index}.${extension}`), text)
    }
    writeFileSync(join(folder, 'session.ts'), session)
    writeFileSync(join(folder, 'main.js'), mount[language] ?? "import './program.tsx'")
    writeFileSync(
      join(folder, 'index.html'),
      `<!doctype html><html lang="en"><title>${heading}</title><link rel="icon" href="data:,">${inPage}
      <script type="module" src="/main.js"></script>`,
    )
    checkTypes(folder)
    const outDir = join(scratch, heading)
    await build({
      root: folder,
      configFile: false,
      logLevel: 'warn',
      plugins,
      esbuild: { jsx: 'automatic' },
      resolve: { alias: { 'domain-registration/element': join(root, 'dist/element.js') } },
      build: { outDir, emptyOutDir: true },
    })
    await useProgram(outDir)
  })
}

/** Compiles the files of a program that TypeScript reads. */
function checkTypes(folder) {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, jsx: 'react-jsx', module: 'esnext', moduleResolution: 'bundler' },
    ...{ target: 'es2022', lib: ['es2023', 'dom'], skipLibCheck: false, types: [] },
    paths: { 'domain-registration/element': [join(root, 'dist/types/esm/element/index.d.ts')] },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.tsx', '*.ts'] }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  try {
    execFileSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  } catch ({ stdout }) {
    assert.fail(stdout)
  }
}

async function useProgram(folder) {
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
    for (let turn = 0; turn < 10; turn += 1) await page.getByRole('button', { name: 'New token' }).click()
    await page.getByRole('button', { name: 'Use the correction' }).click()
    await page.getByRole('button', { name: 'Register 3 names' }).click()
    await page.getByText('3 registered', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Registered names (3)' }).waitFor()
    assert.equal(await store.count({ teamId: '1' }), 3)
    assert.deepEqual(errors, [])
    const last = Number(tokens.at(-1).replace('token-', ''))
    assert.ok(last > 10, `the last token is ${last}`)
  } finally {
    await page.close()
    server.closeAllConnections()
    server.close()
  }
}
