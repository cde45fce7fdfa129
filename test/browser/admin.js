/**
 * Uses the page of `examples/admin.ts` in a real Chromium, as a person would: turns pages; searches, deletes and
 * exports names; creates, rotates and revokes keys.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { beforeEach, test } from 'node:test'
import { hashApiKey } from '../../dist/index.js'
import { startExample } from './example.js'

const example = startExample('admin.ts', { address: /http:\/\/localhost:[0-9]+\// })

let page
let complaints
beforeEach(async () => {
  if (!page) ({ page, complaints } = await example.openPage({ acceptDownloads: true }))
  await page.goto(example.address)
})

const button = name => page.getByRole('button', { name, exact: true })
const readNames = async () => (await page.locator('td label').allInnerTexts()).map(text => text.trim())

test('the names of the team can be read page by page, newest first', async () => {
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

test('a search finds one name or the names below a name, and says why an input is invalid', async () => {
  const search = async (text, how) => {
    await page.getByLabel('Name', { exact: true }).fill(text)
    await page.getByLabel(how).check()
    await button('Search').click()
  }
  await search('HOST-7.example.com', 'only this name')
  assert.deepEqual(await readNames(), ['host-7.example.com'])
  await search('example.org', 'names below it')
  assert.deepEqual(await readNames(), ['*.example.org'])
  await search('"><script>alert(1)</script>', 'names below it')
  assert.match(await page.getByRole('alert').innerText(), /^below must be a hostname/)
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), '"><script>alert(1)</script>')
})

test('an export contains all registered names', async () => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as CSV' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
  assert.equal(lines[0], 'domain,domainId,createdAt')
  assert.match(lines[1], /^host-1\.example\.com,/)
  assert.equal(lines.length, 1 + 61 + 1)
})

test('only the selected names are deleted', async () => {
  for (const name of ['host-60.example.com', 'host-58.example.com']) await page.getByLabel(name).check()
  await button('Delete the selected names').click()
  assert.equal(await page.getByRole('heading').innerText(), 'Delete 2 names?')
  await button('Yes').click()
  assert.equal(await page.getByRole('status').innerText(), '2 deleted')
  assert.deepEqual((await readNames()).slice(0, 3), ['*.example.org', 'host-59.example.com', 'host-57.example.com'])
  await button('Delete the selected names').click()
  assert.equal(await page.getByRole('status').innerText(), '0 deleted')
})

test('a key can be created, rotated and revoked, and is shown only once', async () => {
  const readKeys = async () => {
    const rows = await page.locator('tr:has(td)').all()
    return Promise.all(rows.map(async row => (await row.locator('td').allInnerTexts()).slice(0, 3)))
  }
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByLabel('Label').fill('Import & <more>')
  await button('Create a key').click()
  const first = await page.getByRole('status').locator('code').innerText()
  assert.match(first, /^svc_team_1_/)
  const hintOf = key => `svc_team_1_…${key.slice(-4)}`
  assert.deepEqual(await readKeys(), [['Import & <more>', hintOf(first), 'active']])
  assert.ok((await page.content()).includes(await hashApiKey(first)))

  await button('Rotate').click()
  const second = await page.getByRole('status').locator('code').innerText()
  const [old, fresh] = await readKeys()
  assert.match(old[2], /^until \d{4}-\d\d-\d\d$/)
  assert.deepEqual(fresh, ['Import & <more>', hintOf(second), 'active'])

  await page.goto(`${example.address}keys`)
  assert.ok(!(await page.content()).includes(second))
  await button('Revoke').last().click()
  assert.match(await page.getByRole('heading').innerText(), /^Revoke the key Import & <more> .* permanently\?$/)
  await button('Yes').click()
  assert.match(await page.getByRole('status').innerText(), /^Revoked the key Import/)
  assert.equal((await readKeys())[1][2], 'revoked')
  assert.equal(await button('Revoke').count(), 1)
})

test('names can be added, and the page says why a name is invalid', async () => {
  await page.getByLabel('Names to add').fill('www.example.net\n<b>\nhost-1.example.com')
  await button('Add').click()
  assert.equal(await page.getByRole('status').innerText(), '1 added, 1 already registered, 1 invalid')
  assert.match(await page.getByRole('alert').innerText(), /<b>/)
  assert.equal((await readNames())[0], 'www.example.net')
})

test('buttons are large enough for fingers, and the page has a main element and cannot be framed', async () => {
  assert.equal(await page.getByRole('main').count(), 1)
  for (const box of await Promise.all((await page.getByRole('button').all()).map(each => each.boundingBox())))
    assert.ok(box.height >= 44 && box.width >= 44)
  const policy = (await fetch(example.address)).headers.get('content-security-policy')
  assert.match(policy, /frame-ancestors 'none'/)
})

test('an invalid search or form does not cause a 500', async () => {
  for (const query of ['search[]=x', 'search=a&search=b', 'search=a%20b', 'in=x&after=%00', 'after=1'])
    assert.equal((await fetch(`${example.address}?${query}`)).status, 200, query)
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const many = Array.from({ length: 101 }, (_, index) => `domain=n${index}.com`).join('&')
  for (const [path, body, status] of [
    ['names/delete', `${many}&confirmed=yes`, 400],
    ['names/add', 'domains=', 400],
    ['keys/revoke', 'hash=1', 200],
  ])
    assert.equal((await fetch(example.address + path, { method: 'POST', headers, body })).status, status, path)
})

test('a form on another site can neither delete names nor create keys', async () => {
  for (const [path, sent] of [
    ['names/delete', { 'Sec-Fetch-Site': 'cross-site' }],
    ['keys/create', { 'Sec-Fetch-Site': 'same-site' }],
    ['names/delete', { Origin: 'https://evil.example' }],
    ['keys/create', { Origin: 'null' }],
  ]) {
    const foreign = { ...sent, 'Content-Type': 'application/x-www-form-urlencoded' }
    const response = await fetch(example.address + path, {
      method: 'POST',
      headers: foreign,
      body: 'domain=*.example.org&label=x&confirmed=yes',
    })
    assert.equal(response.status, 403)
  }
  await page.reload()
  assert.ok((await readNames()).includes('*.example.org'))
})

test('the console shows no errors', () => assert.deepEqual(complaints, []))
