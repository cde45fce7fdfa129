/**
 * Uses the page of `examples/admin.ts` in a real Chromium, as a person would: adds, searches, deletes and exports
 * names; creates, rotates and revokes keys.
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

test('names can be added, searched and deleted with the element, and exported', async () => {
  await page.getByRole('heading', { name: 'Registered names (61)' }).waitFor()
  await page.getByLabel(/^Hostnames/).fill('www.example.net')
  await button('Check names').click()
  await button('Register 1 name').click()
  await page.getByRole('heading', { name: 'Registered names (62)' }).waitFor()
  await page.getByRole('searchbox').fill('host-60')
  await page.getByRole('checkbox', { name: 'host-60.example.com' }).check()
  await button('Delete 1 name').click()
  await button('Delete').click()
  await page.getByRole('heading', { name: 'Registered names (0 of 61)' }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export as CSV' }).click(),
  ])
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
  assert.equal(lines[0], 'domain,domainId,createdAt')
  assert.match(lines[1], /^host-1\.example\.com,/)
  assert.equal(lines.length, 1 + 61 + 1)
})

test('a key can be created, rotated and revoked, and is shown only once', async () => {
  const readKeys = async () => {
    await page.waitForLoadState()
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
  await page.getByRole('cell', { name: /^until / }).waitFor()
  const second = await page.getByRole('status').locator('code').innerText()
  const [old, fresh] = await readKeys()
  assert.match(old[2], /^until \d{4}-\d\d-\d\d$/)
  assert.deepEqual(fresh, ['Import & <more>', hintOf(second), 'active'])

  await page.goto(`${example.address}keys`)
  assert.ok(!(await page.content()).includes(second))
  await button('Revoke').last().click()
  await page.getByRole('heading', { name: /^Revoke the key Import & <more> .* permanently\?$/ }).waitFor()
  await button('Yes').click()
  await page.getByRole('status').filter({ hasText: 'Revoked the key Import' }).waitFor()
  assert.equal((await readKeys())[1][2], 'revoked')
  assert.equal(await button('Revoke').count(), 1)
})

test('buttons are large enough for fingers, and the page has a main element and cannot be framed', async () => {
  assert.equal(await page.getByRole('main').count(), 1)
  await page.getByRole('checkbox', { name: '*.example.org' }).waitFor()
  const sizes = await page
    .getByRole('button')
    .evaluateAll(buttons =>
      buttons.map(each => each.getBoundingClientRect()).map(({ width, height }) => [width, height]),
    )
  assert.ok(sizes.length > 3)
  for (const [width, height] of sizes) assert.ok(height >= 44 && width >= 44, `${width} × ${height}`)
  const policy = (await fetch(example.address)).headers.get('content-security-policy')
  assert.match(policy, /frame-ancestors 'none'/)
})

test('a form with the hash of no key does not cause a 500', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const response = await fetch(`${example.address}keys/revoke`, { method: 'POST', headers, body: 'hash=1' })
  assert.equal(response.status, 200)
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
  await page.getByRole('checkbox', { name: '*.example.org' }).waitFor()
})

test('the console shows no errors', () => assert.deepEqual(complaints, []))
