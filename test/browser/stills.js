/**
 * Takes the screenshots in `docs/pictures`: of `examples/customers.ts`, and of the playground on the built site.
 * Run `npm run docs:build`, then `node --test test/browser/stills.js`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startExample } from './example.js'

const example = startExample('customers.ts', { address: /http:\/\/localhost:[0-9]+\// })
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

test('takes a screenshot of the page for customers', async () => {
  const { page } = await example.openPage({ viewport: { width: 760, height: 1000 }, deviceScaleFactor: 1.25 })
  await page.goto(example.address)
  const field = page.getByLabel(/^Hostnames/)
  const names = Array.from({ length: 36 }, (_, index) => `host-${index + 1}.example.com`)
  await field.fill(['bücher.example.de', '*.example.org', ...names].join('\n'))
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Register 38 names' }).click()
  await page.getByRole('heading', { name: 'Registered names (38)' }).waitFor()
  await page.getByRole('button', { name: 'Clear the list' }).click()
  await field.fill(
    ['https://shop.example.net/start', 'www.example.con', ...names.map(name => `new-${name}`)].join('\n'),
  )
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Use all 2 corrections' }).waitFor()
  await page.locator('body').click({ position: { x: 1, y: 1 } })
  await page.screenshot({ path: toPicture('customers') })
})

test('takes a screenshot of the playground', async () => {
  const { page } = await example.openPage({ viewport: { width: 640, height: 560 } })
  await page.goto(`http://localhost:${server.address().port}/playground.html`)
  await page.getByRole('list', { name: 'Results' }).getByRole('listitem').first().waitFor()
  await page.getByRole('heading', { name: 'Paste hostnames' }).scrollIntoViewIfNeeded()
  await page.getByRole('list', { name: 'Results' }).screenshot({ path: toPicture('playground') })
})
