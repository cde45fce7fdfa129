/**
 * Uses the page of `examples/admin.ts` in a real Chromium, as a person would: pages, searches, deletes and exports
 * names; creates, rotates and revokes keys.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launchChromium } from './chromium.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'admin-'))

let server
let browser
let page
let address
const complaints = []
before(async () => {
  server = spawn(process.execPath, ['--import', 'tsx', 'examples/admin.ts'], {
    cwd: root,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(server, 'exit').then(() => {
    throw new Error('The example ended')
  })
  exited.catch(() => {})
  for (let printed = ''; !address; address = /http:\/\/localhost:[0-9]+\//.exec(printed)?.[0])
    printed += (await Promise.race([once(server.stdout, 'data'), exited]))[0]
  browser = await launchChromium(scratch)
  page = await (await browser.newContext({ acceptDownloads: true })).newPage()
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
})
after(async () => {
  await browser?.close()
  server?.kill()
  rmSync(scratch, { recursive: true, force: true })
})
beforeEach(() => page.goto(address))

const button = name => page.getByRole('button', { name, exact: true })
const readNames = async () => (await page.locator('td label').allInnerTexts()).map(text => text.trim())

test('the names of the team are read page by page to the end, the newest first', async () => {
  const seen = [...(await readNames())]
  for (let pages = 1; (await page.getByRole('link', { name: 'More' }).count()) > 0; pages += 1) {
    assert.ok(pages < 10)
    await page.getByRole('link', { name: 'More' }).click()
    await page.waitForLoadState()
    seen.push(...(await readNames()))
  }
  const expected = ['*.example.org', ...Array.from({ length: 60 }, (_, index) => `host-${60 - index}.example.com`)]
  assert.deepEqual(seen, expected)
})

test('a search finds one name, or what is below a name, and says what is wrong', async () => {
  const search = async (text, how) => {
    await page.getByLabel('Name').fill(text)
    await page.getByLabel(how).check()
    await button('Search').click()
  }
  await search('HOST-7.example.com', 'exactly it')
  assert.deepEqual(await readNames(), ['host-7.example.com'])
  await search('example.org', 'below it')
  assert.deepEqual(await readNames(), ['*.example.org'])
  await search('"><script>alert(1)</script>', 'below it')
  assert.match(await page.getByRole('alert').innerText(), /^below must be a hostname/)
  assert.equal(await page.getByLabel('Name').inputValue(), '"><script>alert(1)</script>')
})

test('what is exported is what is registered', async () => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as CSV' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
  assert.equal(lines[0], 'domain,domainId,createdAt')
  assert.match(lines[1], /^host-1\.example\.com,/)
  assert.equal(lines.length, 1 + 61 + 1)
})

test('chosen names are deleted, and no others', async () => {
  for (const name of ['host-60.example.com', 'host-58.example.com']) await page.getByLabel(name).check()
  await button('Delete the chosen ones').click()
  assert.equal(await page.getByRole('status').innerText(), '2 deleted')
  assert.deepEqual((await readNames()).slice(0, 3), ['*.example.org', 'host-59.example.com', 'host-57.example.com'])
  await button('Delete the chosen ones').click()
  assert.equal(await page.getByRole('status').innerText(), '0 deleted')
})

test('a key is created and shown once, rotated and revoked', async () => {
  const readKeys = async () => {
    const rows = await page.locator('tr:has(td)').all()
    return Promise.all(
      rows.map(row =>
        row
          .locator('td')
          .allInnerTexts()
          .then(cells => cells.slice(0, 3)),
      ),
    )
  }
  const works = async key => {
    const { hash } = await hashOf(key)
    return page.content().then(text => text.includes(hash))
  }
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByLabel('Label').fill('Import & <more>')
  await button('Create a key').click()
  const first = await page.getByRole('status').locator('code').innerText()
  assert.match(first, /^svc_team_1_/)
  const hintOf = key => `svc_team_1_…${key.slice(-4)}`
  assert.deepEqual(await readKeys(), [['Import & <more>', hintOf(first), 'active']])
  assert.ok(await works(first))

  await button('Rotate').click()
  const second = await page.getByRole('status').locator('code').innerText()
  const [old, fresh] = await readKeys()
  assert.match(old[2], /^until \d{4}-\d\d-\d\d$/)
  assert.deepEqual(fresh, ['Import & <more>', hintOf(second), 'active'])

  await page.goto(`${address}keys`)
  assert.ok(!(await page.content()).includes(second))
  await button('Revoke').last().click()
  await page.getByText('revoked').waitFor()
  assert.equal((await readKeys())[1][2], 'revoked')
  assert.equal(await button('Revoke').count(), 1)
})

const hashOf = async key => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
  return { hash: Buffer.from(digest).toString('hex') }
}

test('a form on another site can neither delete nor create', async () => {
  const foreign = { 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/x-www-form-urlencoded' }
  for (const path of ['names/delete', 'keys/create']) {
    const response = await fetch(address + path, {
      method: 'POST',
      headers: foreign,
      body: 'domain=*.example.org&label=x',
    })
    assert.equal(response.status, 403)
  }
  await page.reload()
  assert.ok((await readNames()).includes('*.example.org'))
})

test('the console has nothing to complain of', () => assert.deepEqual(complaints, []))
