/**
 * A customer's way from a pasted list to registered names, where the service wants a DNS record: in a real Chromium,
 * with a real service, and a name server with real packets.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { createDnsVerification } from '../../dist/dns-verification.js'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore } from '../../dist/index.js'
import { startDnsServer, txt } from '../dns-verification/dns-server.ts'
import { launchChromium } from './chromium.js'

const axe = fileURLToPath(new URL('node_modules/axe-core/axe.min.js', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'dns-verification-'))
const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Names</title>
  <meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
  <script type="module" src="/element.js"></script></head>
  <body><main><h1>Names</h1><domain-registration url="/v1/domains"></domain-registration></main></body></html>`
const files = {
  '/': ['text/html', html],
  '/element.js': ['text/javascript', readFileSync(new URL('../../dist/element.js', import.meta.url))],
}
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'"

let browser
let dns
let replies
let store
let service
let address
const server = createServer((request, response) => {
  const [type, body] = files[request.url] ?? []
  if (type) response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body)
  else service(request, response)
})

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  address = `http://localhost:${server.address().port}/`
  dns = await startDnsServer(name => replies.get(name) ?? { rcode: 'NXDOMAIN' })
  browser = await launchChromium(scratch)
})
after(async () => {
  await browser?.close()
  dns.close()
  server.closeAllConnections()
  server.close()
  rmSync(scratch, { recursive: true, force: true })
})
beforeEach(() => {
  replies = new Map()
  store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
  const secret = 'the secret of the tests, 32 bytes and more'
  const { checkNames } = createDnsVerification({ label: '_example-challenge', secret, servers: [dns.address] })
  const authenticate = () => ({
    type: 'team',
    teamId: '1',
    scopes: ['domains:create', 'domains:read', 'domains:delete'],
  })
  service = express().use(
    domainsRouter({ store, operations: ['create', 'preview', 'list', 'delete'], authenticate, checkNames }),
  )
})

async function visit(use, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 1400 }, ...options })
  const page = await context.newPage()
  const complaints = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  await page.goto(address)
  await use(page)
  assert.deepEqual(complaints, [])
  await context.close()
}

async function check(page, names) {
  await page.getByLabel(/^Hostnames/).fill(names.join('\n'))
  await page.getByRole('button', { name: 'Check names' }).click()
}
const cards = page => page.getByRole('article')
const status = page => page.locator('#add-status')

test('paste, card, copy, record added, "Check again", registered', async () => {
  await visit(
    async page => {
      await check(page, [...Array.from({ length: 17 }, (_, index) => `n${index}.example.com`), 'a.org'])
      await page.locator('p.status', { hasText: '0 names can be registered, 18 wait for a DNS record' }).waitFor()
      const card = cards(page).filter({ hasText: 'example.com: 17 names wait for this DNS record' })
      await card.waitFor()
      assert.equal(await cards(page).count(), 2)
      await card.getByText('In full: _example-challenge.example.com').waitFor()

      await card.getByRole('button', { name: 'Check again' }).click()
      await card.getByText(/^\d+:\d\d:\d\d [AP]M Not found yet$/).waitFor()
      assert.match(await page.getByRole('status').innerText(), /record of example\.com was not found yet/)
      replies.set('_example-challenge.example.com', { rcode: 'SERVFAIL' })
      await card.getByRole('button', { name: 'Check again' }).click()
      await card.getByText(/The DNS did not answer$/).waitFor()
      assert.equal(await card.getByRole('listitem').count(), 2)

      const copied = async name => {
        await card.getByRole('button', { name }).click()
        await card.getByText('Copied').waitFor()
        return page.evaluate(() => navigator.clipboard.readText())
      }
      const host = await copied('Copy the name')
      assert.equal(await page.getByRole('status').innerText(), 'Copied')
      const value = await copied('Copy the value')
      // The customer adds the record to the zone.
      const name = `${host}.example.com`
      replies.set(name, txt(name, value))
      await card.getByRole('button', { name: 'Check again' }).click()
      await card.waitFor({ state: 'detached' })
      const found = 'The DNS record of example.com was found; 17 names can be registered'
      assert.equal(await status(page).innerText(), found)
      assert.equal(await page.getByRole('status').innerText(), found)
      assert.equal(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id), 'add-status')

      await page.getByRole('button', { name: 'Register 17 names' }).click()
      await page.locator('p.status', { hasText: 'Done: 17 names registered' }).waitFor()
      assert.equal(await store.count({ teamId: '1' }), 17)
      assert.equal(await cards(page).count(), 1)
    },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  )
})

test('many records are one file, and the first ones have cards', async () => {
  await visit(async page => {
    await check(
      page,
      Array.from({ length: 23 }, (_, index) => `n.d${index}.com`),
    )
    await page.getByText('3 more are in this file.').waitFor()
    assert.equal(await cards(page).count(), 20)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'All 23 records as CSV' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
    assert.equal(lines[0], '"zone","type","host","name","value"')
    assert.match(lines[23], /^"d22.com","TXT","_example-challenge","_example-challenge.d22.com","[0-9a-f]{32}"$/)
    assert.equal(lines.length, 25)
  })
})

test('where copying is not allowed, the text is selected', async () => {
  await visit(async page => {
    await check(page, ['a.org'])
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.getByRole('button', { name: 'Copy the value' }).click()
    await page.getByRole('status').filter({ hasText: 'Selected; copy it with the keyboard' }).waitFor()
    const selected = await page.evaluate(() => String(globalThis.getSelection()))
    assert.match(selected, /^[0-9a-f]{32}$/)
  })
})

test('axe finds no serious violation in a card, and a phone shows everything', async () => {
  await visit(
    async page => {
      await check(page, ['a.org', 'b.example.com'])
      await cards(page).first().getByRole('button', { name: 'Check again' }).click()
      await page.getByText(/Not found yet$/).waitFor()
      await page.addScriptTag({ path: axe })
      const { violations, passes } = await page.evaluate(() => globalThis.axe.run())
      assert.deepEqual(
        violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id, nodes }) => [id, nodes]),
        [],
      )
      assert.ok(passes.length > 10)
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
    },
    { viewport: { width: 320, height: 700 }, bypassCSP: true },
  )
})
