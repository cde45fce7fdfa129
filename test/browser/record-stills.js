/**
 * Takes the pictures `records.png` and `phone.png` of `docs/pictures`: `node --import tsx <this file>`.
 */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { createDnsVerification } from '../../dist/dns-verification.js'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore, createMemoryWaitingStore } from '../../dist/index.js'
import { startDnsServer, txt } from '../dns-verification/dns-server.ts'
import { launchChromium } from './chromium.js'

const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Domains</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <style>body { font-family: sans-serif; max-width: 46rem; margin: 1rem auto; padding: 0 12px }</style>
  <script type="module" src="/element.js"></script></head>
  <body><domain-registration url="/v1/domains"></domain-registration></body></html>`
const module = readFileSync(new URL('../../dist/element.js', import.meta.url))
let service
const server = createServer((request, response) => {
  if (request.url === '/') response.writeHead(200, { 'Content-Type': 'text/html' }).end(html)
  else if (request.url === '/element.js') response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(module)
  else service(request, response)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const address = `http://localhost:${server.address().port}/`
const replies = new Map()
const dns = await startDnsServer(name => replies.get(name) ?? { rcode: 'NXDOMAIN' })
const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const waiting = createMemoryWaitingStore()
const secret = 'the secret of the tests, 32 bytes and more'
const caller = { type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read', 'domains:delete'] }
const serve = () => {
  const { checkNames } = createDnsVerification({ label: '_example-challenge', secret, servers: [dns.address] })
  service = express().use(
    domainsRouter({
      store,
      authenticate: () => caller,
      checkNames,
      waiting,
      operations: ['create', 'preview', 'list', 'delete', 'waiting'],
    }),
  )
}
serve()
const scratch = mkdtempSync(join(tmpdir(), 'stills-'))
const browser = await launchChromium(scratch)
const open = async (width, height) => {
  const page = await (await browser.newContext({ viewport: { width, height } })).newPage()
  await page.goto(address)
  await page.getByLabel(/^Hostnames/).waitFor()
  return page
}
const shoot = (page, name, fullPage) =>
  page.screenshot({ path: fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url)), fullPage })
const list = ['https://shop.example.com/start', 'www.example.com', 'api.example.com', 'localhost', 'bücher.example.de']
const check = async page => {
  await page.getByLabel(/^Hostnames/).fill([...list, 'blog.example.org'].join('\n'))
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Use the correction' }).waitFor()
}
const phone = await open(320, 700)
await check(phone)
await shoot(phone, 'phone', false)

const page = await open(760, 900)
await check(page)
await page.getByRole('button', { name: 'Use the correction' }).click()
await page.getByRole('button', { name: /^Keep 5/ }).click()
await page.getByRole('article').nth(2).waitFor()
await page.getByRole('button', { name: 'Clear the list' }).click()
const card = page.getByRole('article').filter({ hasText: 'example.com' })
const name = '_example-challenge.example.com'
replies.set(name, txt(name, await card.locator('code').last().innerText()))
// A new server remembers no answer of the DNS.
serve()
await card.getByRole('button', { name: 'Check again' }).click()
await page.getByRole('heading', { name: /Registered names \(3\)/ }).waitFor()
await page.evaluate(() => {
  const states = {
    'api.example.com': { text: 'certificate pending', tone: 'waits' },
    'shop.example.com': { text: 'does not point here', tone: 'failed' },
  }
  document.querySelector('domain-registration').renderState = ({ domain }) =>
    states[domain] ?? { text: 'active', tone: 'registered' }
})
await page.getByText('certificate pending').waitFor()
await shoot(page, 'records', true)
await browser.close()
dns.close()
server.closeAllConnections()
server.close()
rmSync(scratch, { recursive: true, force: true })
