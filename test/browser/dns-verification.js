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
import { createMemoryStore, createMemoryWaitingStore, retryWaiting, startRetrying } from '../../dist/index.js'
import { createPostgresStore, createPostgresWaitingStore, migrate } from '../../dist/postgres.js'
import { createSqliteStore, createSqliteWaitingStore } from '../../dist/sqlite.js'
import { startDnsServer, txt } from '../dns-verification/dns-server.ts'
import { startServer } from '../postgres/server.ts'
import { openDatabase } from '../sqlite/open-database.ts'
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
let waiting
let checkNames
let settled
let now
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
const findTeam = () => ({ id: '1', organizationId: '10', state: 'active' })

beforeEach(() => {
  replies = new Map()
  settled = []
  now = Date.now()
  store = createMemoryStore({ teams: [findTeam()] })
  waiting = createMemoryWaitingStore({ now: () => now })
  serve()
})

/** A service that has just started: it remembers no answer of the DNS. */
function serve({ keeps = true } = {}) {
  const secret = 'the secret of the tests, 32 bytes and more'
  ;({ checkNames } = createDnsVerification({ label: '_example-challenge', secret, servers: [dns.address] }))
  const authenticate = () => ({
    type: 'team',
    teamId: '1',
    scopes: ['domains:create', 'domains:read', 'domains:delete'],
  })
  const operations = ['create', 'preview', 'list', 'delete']
  const options = keeps ? { waiting, operations: [...operations, 'waiting'] } : { operations }
  service = express().use(domainsRouter({ store, authenticate, checkNames, ...options }))
}

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

/** Names of two zones wait in the service. */
async function keep(page) {
  await check(page, [...Array.from({ length: 17 }, (_, index) => `n${index}.example.com`), 'a.org'])
  await page.locator('p.status', { hasText: '0 names can be registered, 18 cannot be registered yet' }).waitFor()
  assert.equal(await cards(page).count(), 0)
  await page.getByRole('button', { name: 'Keep 18 names until registered' }).click()
  await page.locator('p.status', { hasText: 'Done: 0 names registered, 18 still wait.' }).waitFor()
  const card = cards(page).filter({ hasText: 'example.com: 17 names wait for this DNS record' })
  await card.waitFor()
  await cards(page).nth(1).waitFor()
  assert.equal(await cards(page).count(), 2)
  return card
}

test('paste, keep, copy, close, publish the record: the names are registered, and the page shows it', async () => {
  let record
  await visit(
    async page => {
      const card = await keep(page)
      await card.getByText('Add this record where example.com is managed, and leave it there.').waitFor()
      await card.getByText('In full: _example-challenge.example.com').waitFor()
      await card.getByText(/^Looked .* looks again /).waitFor()
      const copied = async (name, said, label = 'Copied') => {
        await card.getByRole('button', { name }).click()
        await card.getByText(label).waitFor()
        await page.locator('.spoken').filter({ hasText: said }).waitFor()
        return page.evaluate(() => navigator.clipboard.readText())
      }
      const host = await copied('Copy the name', 'Copied the name')
      const value = await copied('Copy the value', 'Copied the value')
      assert.equal(await copied('Copy all', 'Copied the record'), `_example-challenge.example.com TXT "${value}"`)
      await card.getByText('Copied').waitFor({ state: 'detached' })
      await card.getByText(value, { exact: true }).click()
      await card.getByText('Copied').waitFor()
      record = { name: `${host}.example.com`, value }
    },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  )
  // Nobody looks at the page. The customer adds the record to the zone, and a day goes by.
  replies.set(record.name, txt(record.name, record.value))
  now += 86_400_000
  serve()
  await retryWaiting({ store, waiting, checkNames, onSettled: names => settled.push(...names) })
  assert.equal(settled.filter(({ status }) => status === 'registered').length, 17)
  await visit(async page => {
    await page.getByRole('heading', { name: 'Registered names (17), 1 waiting' }).waitFor()
    assert.equal(await cards(page).count(), 1)
    const rows = page.getByRole('list', { name: /^Registered names/ }).getByRole('listitem')
    await rows.first().filter({ hasText: 'a.org' }).filter({ hasText: 'Waits' }).waitFor()
  })
})

test('PostgreSQL: paste, close, publish the record: the loop registers, and tells all', async () => {
  const database = await startServer()
  const pool = database.createPool()
  try {
    await migrate({ database: pool })
    const watched = []
    const synchronize = changes => void watched.push(...changes.map(({ kind, domain }) => `${kind} ${domain}`))
    store = createPostgresStore({ database: pool, findTeam, synchronize })
    waiting = createPostgresWaitingStore({ database: pool })
    serve()
    let record
    await visit(async page => {
      await check(page, ['www.example.com', 'shop.example.com'])
      await page.getByRole('button', { name: 'Keep 2 names until registered' }).click()
      const card = cards(page)
      await card.waitFor()
      const name = '_example-challenge.example.com'
      record = [name, txt(name, await card.getByText(/^[0-9a-f]{32}$/).innerText())]
    })
    replies.set(...record)
    // The next day. The service has been restarted, with its loop.
    const times = ['since', 'until', 'last_tried', 'due'].map(time => `${time} = ${time} - interval '1 day'`)
    await pool.query(`UPDATE domain_registration.waiting SET ${times}`)
    serve()
    const onSettled = names => void settled.push(...names.map(({ domain, status }) => `${status} ${domain}`))
    const retrying = startRetrying({ store, waiting, checkNames, onSettled, interval: 100 })
    try {
      const isOver = async () => settled.length === 2 && (await waiting.list('1')).length === 0
      while (!(await isOver())) await new Promise(resolve => setTimeout(resolve, 50))
    } finally {
      await retrying.stop()
    }
    assert.deepEqual(settled.sort(), ['registered shop.example.com', 'registered www.example.com'])
    assert.deepEqual(watched.sort(), settled)
    await visit(async page => {
      await page.getByRole('heading', { name: 'Registered names (2)' }).waitFor()
      assert.equal(await cards(page).count(), 0)
    })
  } finally {
    await database.stop()
  }
})

test('an open page sees what the service registers by itself, and says so', async () => {
  await visit(async page => {
    await page.clock.install()
    const card = await keep(page)
    const name = '_example-challenge.example.com'
    replies.set(name, txt(name, await card.locator('code').last().innerText()))
    now += 86_400_000
    serve()
    await retryWaiting({ store, waiting, checkNames })
    await page.clock.runFor(25_000)
    await page.getByRole('heading', { name: 'Registered names (17), 1 waiting' }).waitFor()
    await page.locator('.spoken').filter({ hasText: '17 names are registered now.' }).waitFor()
    await card.waitFor({ state: 'detached' })
  })
})

test('"Check again" looks for the record at once', async () => {
  await visit(async page => {
    const card = await keep(page)
    await card.getByRole('button', { name: 'Check again' }).click()
    await page.locator('.spoken').filter({ hasText: 'The DNS record of example.com was not found yet' }).waitFor()
    const name = '_example-challenge.example.com'
    replies.set(name, txt(name, await card.locator('code').last().innerText()))
    serve()
    await card.getByRole('button', { name: 'Check again' }).click()
    await page.getByRole('heading', { name: 'Registered names (17), 1 waiting' }).waitFor()
    assert.equal(await store.count({ teamId: '1' }), 17)
  })
})

test('a service that keeps nothing shows the cards above, and checks again by a preview', async () => {
  serve({ keeps: false })
  await visit(async page => {
    await check(page, ['a.example.com', 'b.example.com'])
    const card = cards(page).filter({ hasText: 'example.com: 2 names wait for this DNS record' })
    const name = '_example-challenge.example.com'
    replies.set(name, txt(name, await card.locator('code').last().innerText()))
    serve({ keeps: false })
    await card.getByRole('button', { name: 'Check again' }).click()
    await card.waitFor({ state: 'detached' })
    const found = 'The DNS record of example.com was found; 2 names can be registered'
    await page.locator('p.status', { hasText: found }).waitFor()
    await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement?.id === 'add-status')
    await page.getByRole('button', { name: 'Register 2 names' }).click()
    await page.locator('p.status', { hasText: 'Done: 2 names registered' }).waitFor()
  })
})

const stores = {
  async SQLite() {
    const database = openDatabase()
    const stores = { store: createSqliteStore({ database, findTeam }), waiting: createSqliteWaitingStore({ database }) }
    return { ...stores, stop: () => database.close() }
  },
  async PostgreSQL() {
    const server = await startServer()
    const database = server.createPool()
    await migrate({ database })
    const waiting = createPostgresWaitingStore({ database })
    return { store: createPostgresStore({ database, findTeam }), waiting, stop: () => server.stop() }
  },
}
for (const [name, open] of Object.entries(stores))
  test(`${name}: from a dirty list to registered names, with each mistake on the way`, async () => {
    const opened = await open()
    ;({ store, waiting } = opened)
    serve()
    try {
      await visit(async page => {
        await check(page, ['Shop.Example.com.', '', '  www.example.com ', 'www.example.com', 'api.example.com'])
        await page.getByRole('button', { name: 'Keep 3 names until registered' }).click()
        const card = cards(page)
        await card.waitFor()
        const value = await card.getByText(/^[0-9a-f]{32}$/).innerText()
        const label = '_example-challenge'
        const at = `${label}.example.com`
        const other = 'v=spf1 -all'
        const mistakes = {
          'resolvers may remember': {},
          'your DNS provider adds "example.com" by itself': { [`${at}.example.com`]: txt(at, value) },
          'The value is at example.com:': { 'example.com': txt(at, value) },
          'The value is at example-challenge.example.com:': { 'example-challenge.example.com': txt(at, value) },
          'is an alias (CNAME)': { [at]: { answers: [{ type: 'CNAME', name: at, data: `${value}.example.com` }] } },
          'from a record for all names': { [at]: txt(at, other), [`${value}.example.com`]: txt(at, other) },
          [`There is "${value.slice(1)}"; add yours`]: { [at]: txt(at, value.slice(1)) },
          'ask your DNS provider': { [at]: { rcode: 'SERVFAIL' } },
        }
        const again = async records => {
          replies = new Map(Object.entries(records))
          serve()
          await card.getByRole('button', { name: 'Check again' }).click()
        }
        for (const [sentence, records] of Object.entries(mistakes)) {
          await again(records)
          await card.getByText(sentence).waitFor()
        }
        await again({ [at]: txt(at, `token=${value} expiry=never`) })
        await card.waitFor({ state: 'detached' })
        await page.getByRole('heading', { name: 'Registered names (3)' }).waitFor()
        assert.equal(await store.count({ teamId: '1' }), 3)
      })
    } finally {
      await opened.stop()
    }
  })

test('many records are one file, and the first ones have cards', async () => {
  await visit(async page => {
    await check(
      page,
      Array.from({ length: 23 }, (_, index) => `n.d${index}.com`),
    )
    await page.getByRole('button', { name: 'Keep 23 names until registered' }).click()
    await page.getByText('3 more are in this file.').waitFor()
    assert.equal(await cards(page).count(), 20)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'All 23 records as CSV' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
    assert.equal(lines[0], '"zone","type","host","name","value"')
    assert.match(lines[23], /^"d9.com","TXT","_example-challenge","_example-challenge.d9.com","[0-9a-f]{32}"$/)
    assert.equal(lines.length, 25)
  })
})

test('where copying is not allowed, the text is selected', async () => {
  await visit(async page => {
    await check(page, ['a.org'])
    await page.getByRole('button', { name: 'Keep 1 name until registered' }).click()
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.getByRole('button', { name: 'Copy the value' }).click()
    await page.locator('.spoken').filter({ hasText: 'Selected; copy it with the keyboard' }).waitFor()
    const selected = await page.evaluate(() => String(globalThis.getSelection()))
    assert.match(selected, /^[0-9a-f]{32}$/)
  })
})

test('axe finds no serious violation in a card, and a phone shows everything', async () => {
  await visit(
    async page => {
      await check(page, ['a.org', 'b.example.com'])
      await page.getByRole('button', { name: 'Keep 2 names until registered' }).click()
      await page
        .getByText(/^Looked/)
        .first()
        .waitFor()
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
