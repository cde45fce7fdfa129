/**
 * Takes the screenshots of `examples/customers.ts` in `docs/pictures` and `site/dark`, and makes the social card of the
 * site, `site/card.png`, from `site/card.svg`: `node --test test/browser/stills.js`.
 */
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startExample } from './example.js'

const example = startExample('customers.ts', { address: /http:\/\/localhost:[0-9]+\// })

test('takes a screenshot of the page for customers, in both schemes', async () => {
  const { page } = await example.openPage({ viewport: { width: 760, height: 1240 }, deviceScaleFactor: 1.25 })
  await page.goto(example.address)
  const field = page.getByLabel(/^Hostnames/)
  const names = Array.from({ length: 36 }, (_, index) => `host-${index + 1}.example.com`)
  await field.fill(['bücher.example.de', '*.example.org', ...names].join('\n'))
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Register 38 names' }).click()
  await page.getByRole('heading', { name: 'Registered names (38)' }).waitFor()
  await page.getByRole('button', { name: 'Clear the list' }).click()
  await field.fill(
    ['https://shop.example.net/start', 'blog.example.net:443', 'localhost', ...names.map(name => `new-${name}`)].join(
      '\n',
    ),
  )
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Use all 2 corrections' }).waitFor()
  await page.locator('body').click({ position: { x: 1, y: 1 } })
  for (const [colorScheme, path] of [
    ['light', '../../docs/pictures/customers.png'],
    ['dark', '../../site/dark/customers.png'],
  ]) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: fileURLToPath(new URL(path, import.meta.url)) })
  }
})

test('takes a screenshot of the social card', async () => {
  const { page } = await example.openPage({ viewport: { width: 1200, height: 630 } })
  await page.setContent(
    `<body style="margin:0">${readFileSync(new URL('../../site/card.svg', import.meta.url), 'utf8')}`,
  )
  await page.screenshot({ path: fileURLToPath(new URL('../../site/card.png', import.meta.url)) })
})
