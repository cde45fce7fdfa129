/**
 * Takes the screenshots in `docs/pictures`: of `examples/admin.ts`, and of the playground on the built site.
 * Run `npm run docs:build`, then `node --test test/browser/stills.js`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startExample } from './example.js'

const example = startExample('admin.ts', { address: /http:\/\/localhost:[0-9]+\// })
const toPicture = name => fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url))
const site = new URL('../../site/.vitepress/dist/', import.meta.url)
const types = { css: 'text/css', html: 'text/html', js: 'text/javascript', svg: 'image/svg+xml' }
const server = createServer((request, response) => {
  const file = new URL(`.${request.url.split('?')[0]}`, site)
  if (!existsSync(file)) return response.writeHead(404).end()
  response.writeHead(200, { 'Content-Type': types[file.pathname.split('.').at(-1)] }).end(readFileSync(file))
})

before(() => new Promise(resolve => server.listen(0, '127.0.0.1', resolve)))
after(() => {
  server.close()
  server.closeAllConnections()
})

test('takes a screenshot of the admin page', async () => {
  const { page } = await example.openPage({ viewport: { width: 640, height: 480 } })
  await page.goto(example.address)
  await page.screenshot({ path: toPicture('admin') })
})

test('takes a screenshot of the playground', async () => {
  const { page } = await example.openPage({ viewport: { width: 640, height: 560 } })
  await page.goto(`http://localhost:${server.address().port}/playground.html`)
  await page.getByRole('list', { name: 'Results' }).getByRole('listitem').first().waitFor()
  await page.getByRole('heading', { name: 'Paste hostnames' }).scrollIntoViewIfNeeded()
  await page.getByRole('list', { name: 'Results' }).screenshot({ path: toPicture('playground') })
})
