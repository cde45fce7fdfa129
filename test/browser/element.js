/**
 * Uses the element `<domain-registration>` in a real Chromium, as a customer would, with a real service behind it and a
 * page whose Content-Security-Policy allows nothing inline.
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
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore, registerDomains } from '../../dist/index.js'
import { launchChromium } from './chromium.js'

const axe = fileURLToPath(new URL('node_modules/axe-core/axe.min.js', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'element-'))
const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Names</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
  <script type="module" src="/element.js"></script></head>
  <body><main><h1>Names</h1><domain-registration url="/v1/domains"></domain-registration></main>
  <footer>The end of the page</footer></body></html>`
const files = {
  '/': ['text/html', html],
  '/style.css': [
    'text/css',
    ':root { color-scheme: light dark; font-family: sans-serif } body { margin: 12px; background: Canvas }' +
      'domain-registration:not(:defined) { display: block; min-height: 60rem }',
  ],
  '/element.js': ['text/javascript', readFileSync(new URL('../../dist/element.js', import.meta.url))],
}
const createPolicy = () =>
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${otherOrigin}; img-src data:; ` +
  "require-trusted-types-for 'script'"

let store
let service
let intercept
let calls
let otherOrigin
let browser
let address

/** A fresh service for a test. */
function serve({ operations = ['create', 'preview', 'delete', 'list'], maxDomains, checkNames } = {}) {
  store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active', maxDomains }] })
  const scopes = ['domains:create', 'domains:delete', 'domains:read']
  const authenticate = () => ({ type: 'team', teamId: '1', scopes })
  service = express().use(domainsRouter({ store, operations, authenticate, checkNames, onError: () => {} }))
}
const answer = (response, status, body, headers = {}) =>
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))

const server = createServer((request, response) => {
  const [type, body] = files[request.url] ?? []
  if (type)
    return response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': createPolicy() }).end(body)
  calls.push(`${request.method} ${request.url.split('?')[0]}`)
  if (!intercept?.(request, response)) service(request, response)
})

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  address = `http://localhost:${server.address().port}/`
  browser = await launchChromium(scratch)
})
after(async () => {
  await browser?.close()
  server.closeAllConnections()
  server.close()
  rmSync(scratch, { recursive: true, force: true })
})
beforeEach(() => {
  intercept = undefined
  calls = []
  otherOrigin = ''
  serve()
})

/** Opens the page in a fresh profile, and passes it to a function. Errors on its console fail the test. */
async function visit(use, { expected = /^$/, ...options } = {}) {
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 900 }, ...options })).newPage()
  const complaints = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    const text = message.text()
    if (['error', 'warning'].includes(message.type()) && !expected.test(text)) complaints.push(text)
  })
  await page.goto(address)
  await page.getByLabel(/^Hostnames/).waitFor()
  await use(page)
  assert.deepEqual(complaints, [])
  await page.context().close()
}

const button = (page, name) => page.getByRole('button', { name })
const status = page => page.locator('#add-status')
/** Pastes text as the clipboard does. */
const paste = (page, text) =>
  page.getByLabel(/^Hostnames/).evaluate((field, pasted) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', pasted)
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)
const waitFor = (page, text) => page.locator('p.status', { hasText: text }).waitFor()
/** The texts of a list's rows, after the next frame, in which the list is drawn. */
async function readRows(page, name = 'Names in your list') {
  await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve))))
  return page.getByRole('list', { name }).getByRole('listitem').allInnerTexts()
}
async function save(domains) {
  for (let index = 0; index < domains.length; index += 100) {
    const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create'] }
    await registerDomains(keyContext, { domains: domains.slice(index, index + 100) }, store)
  }
}
const countNames = () => store.count({ teamId: '1' })

/**
 * 300 rows as they come from a spreadsheet: 280 names, 30 of them to correct; 9 useless rows, a line of punctuation,
 * and 10 repetitions.
 */
function createDirtyList() {
  const right = Array.from({ length: 250 }, (_, index) => `host-${index}.example.com`)
  const wrong = Array.from({ length: 30 }, (_, index) => `https://Shop-${index}.example.org/start?from=${index}`)
  const repeated = right.slice(0, 10).map((name, index) => (index % 2 ? name : `${name.toUpperCase()}.`))
  const useless = [
    'localhost',
    '10.0.0.1',
    'co.uk',
    'intranet',
    'a_b.com',
    'printer.home.arpa',
    'n/a',
    '-',
    '127.1',
    'db.local',
  ]
  return [...right, ...wrong, ...repeated, ...useless]
}

test('a dirty list of 300 rows becomes 280 registered names in three clicks', async () => {
  await visit(async page => {
    await paste(page, createDirtyList().join('\n'))
    await waitFor(
      page,
      '250 names can be registered, 30 need a correction, 9 cannot be registered, 10 repeated rows left out',
    )
    await page.locator('button.primary:visible').and(button(page, 'Use all 30 corrections')).waitFor()
    await button(page, 'Use all 30 corrections').click()
    await waitFor(page, '280 names can be registered, 9 cannot be registered')
    await button(page, 'Register 280 names').click()
    await waitFor(page, 'Done: 280 names registered, 9 cannot be registered.')
    assert.equal(await countNames(), 280)
    await page.getByRole('heading', { name: 'Registered names (280)' }).waitFor()
    assert.match((await readRows(page))[0], /host-0\.example\.com\s+Registered/)
  })
})

test('each row shows the name as people read it, what is wrong, and the correction as a button', async () => {
  await visit(async page => {
    await paste(page, ' BÜCHER.de\nhttps://www.example.com/a\nxn--pple-43d.com\nkäse.de\n<img src=x onerror=alert(1)>')
    await waitFor(page, '3 names can be registered, 1 needs a correction, 1 cannot be registered')
    await button(page, 'All 5').click()
    const rows = await readRows(page)
    assert.match(rows[0], /bücher\.de\s*from BÜCHER\.de\s+Ready/)
    assert.match(rows[1], /A web address.*Use www\.example\.com/s)
    // A look-alike of apple.com is shown as A-labels.
    assert.match(rows[2], /xn--pple-43d\.com\s+Ready/)
    assert.match(rows[3], /^\W*käse\.de\s+Ready/)
    assert.match(rows[4], /<img src=x onerror=alert\(1\)>/)
    await button(page, 'Use www.example.com').click()
    await waitFor(page, '4 names can be registered, 1 cannot')
    await button(page, /^Edit </).click()
    await page.getByRole('textbox', { name: /^Edit </ }).press('Escape')
    await button(page, /^Edit </).click()
    await page.getByRole('textbox', { name: /^Edit </ }).fill('img.example.com')
    await page.keyboard.press('Enter')
    await waitFor(page, '5 names can be registered')
    await page.getByText('from <img src=x onerror=alert(1)>').waitFor()
  })
})

test('a text with several hostnames is replaced by all of them with one click', async () => {
  await visit(async page => {
    await paste(page, 'a.example.com|bücher.example.com|c.example.com\nd.example.com\ne.example.com & f.example.com')
    await waitFor(page, '1 name can be registered, 2 need a correction')
    await button(page, /^All 3$/).click()
    await button(page, 'Add both: e.example.com, f.example.com').click()
    await waitFor(page, '3 names can be registered, 1 needs a correction')
    const all = button(page, 'Add all 3: a.example.com, bücher.example.com, c.example.com')
    assert.equal(await all.innerText(), 'Add all 3')
    await all.click()
    await waitFor(page, '6 names can be registered')
    assert.match((await readRows(page)).at(-1), /c\.example\.com\s*from a\.example\.com\|bücher/)
    await button(page, 'Register 6 names').click()
    await waitFor(page, 'Done: 6 names registered.')
    assert.equal(await countNames(), 6)
  })
})

test('a typed list, a dropped CSV file and cells of a spreadsheet are read, and the column can be chosen', async () => {
  await visit(async page => {
    await page.getByLabel(/^Hostnames/).fill('a.example.com, b.example.com')
    await button(page, 'Check names').click()
    await waitFor(page, '2 names can be registered')
    const csv = 'Nr;Alt;Neu\r\n1;c.example.com;d.example.com\r\n2;;e.example.com\r\n'
    await page
      .locator('section')
      .last()
      .evaluate((section, text) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['f.example.com'], 'first.txt', { type: 'text/plain' }))
        dataTransfer.items.add(new File([text], 'list.csv', { type: 'text/csv' }))
        // Without this, the browser would open the file in place of the page.
        const over = new DragEvent('dragover', { dataTransfer, bubbles: true, composed: true, cancelable: true })
        const drop = new DragEvent('drop', { dataTransfer, bubbles: true, composed: true, cancelable: true })
        for (const event of [over, drop])
          if (section.dispatchEvent(event)) throw new Error(`${event.type} is the page's`)
      }, csv)
    const column = page.getByLabel('Column with the hostnames')
    await column.waitFor()
    assert.deepEqual(await column.locator('option').allInnerTexts(), [
      'Nr (1)',
      'Alt (c.example.com)',
      'Neu (d.example.com)',
    ])
    assert.equal(await column.inputValue(), '2')
    await button(page, 'Check names').click()
    await waitFor(page, '5 names can be registered')
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.xlsx', mimeType: '', buffer: Buffer.from('PK\0\0') })
    await page.getByRole('alert').getByText('Save the sheet as CSV').waitFor()
    await button(page, 'Register 5 names').waitFor()
  })
})

test('registering can be stopped, goes on where it stopped, and no name is lost', async () => {
  await visit(async page => {
    await paste(page, Array.from({ length: 1000 }, (_, index) => `n${index}.example.com`).join('\n'))
    await button(page, 'Register 1,000 names').waitFor()
    let held
    let posts = 0
    intercept = (request, response) => {
      if (request.url !== '/v1/domains' || request.method !== 'POST') return false
      posts += 1
      // The first call is answered; the others are carried out only after the stop.
      if (posts === 1) return false
      held ??= []
      held.push(() => service(request, response))
      return true
    }
    await button(page, 'Register 1,000 names').click()
    await waitFor(page, 'Registered 100 of 1,000 names')
    await button(page, 'Stop').click()
    await waitFor(page, 'Stopped. 900 names are left')
    intercept = undefined
    for (const carryOut of held) carryOut()
    await button(page, 'Continue').click()
    await waitFor(page, 'Done: 1,000 names registered.')
    assert.equal(await countNames(), 1000)
  })
})

test('of 10,000 rows, only those that are seen are drawn, wherever the list is scrolled to', async () => {
  await visit(async page => {
    await paste(
      page,
      Array.from({ length: 10_000 }, (_, index) => `n${index}.example.com${index % 3 ? '' : '/x'}`).join('\n'),
    )
    await page.locator('p.status', { hasText: '6,666 names can be registered' }).waitFor({ timeout: 60_000 })
    await button(page, 'All 10,000').click()
    const list = page.getByRole('list', { name: 'Names in your list' })
    const seen = await list.evaluate(async box => {
      const frame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
      let most = 0
      for (let part = 1; part <= 40; part += 1) {
        box.scrollTop = (box.scrollHeight * part) / 40
        await frame()
        most = Math.max(most, box.querySelectorAll('[role=listitem]').length)
      }
      const last = [...box.querySelectorAll('[role=listitem]')].at(-1)
      return { most, last: last.getAttribute('aria-posinset'), size: last.getAttribute('aria-setsize') }
    })
    assert.ok(seen.most > 5 && seen.most < 80, `${seen.most} rows are drawn`)
    assert.deepEqual([seen.last, seen.size], ['10000', '10000'])
  })
})

test('the registered names can be searched and deleted after a question', async () => {
  await visit(async page => {
    await paste(page, 'a.example.com\nb.example.com\nbücher.example.org')
    await button(page, 'Register 3 names').click()
    await page.getByRole('heading', { name: 'Registered names (3)' }).waitFor()
    await page.getByRole('searchbox').fill('büch')
    await page.getByRole('heading', { name: 'Registered names (1 of 3)' }).waitFor()
    const names = await readRows(page, /^Registered names/)
    assert.equal(names.length, 1)
    assert.match(names[0], /bücher\.example\.org/)
    await page.getByRole('checkbox', { name: 'bücher.example.org' }).check()
    await button(page, 'Delete 1 name').click()
    await button(page, 'Keep').click()
    assert.equal(await countNames(), 3)
    await button(page, 'Delete 1 name').click()
    await button(page, /^Delete$/).click()
    await page.getByRole('heading', { name: 'Registered names (0 of 2)' }).waitFor()
    assert.equal(await countNames(), 2)
  })
})

test('a registered wildcard or IP address is found, and what is no hostname is not', async () => {
  await visit(
    async page => {
      await paste(page, '*.example.com\n8.8.8.8\na.example.org')
      await button(page, 'Register 3 names').click()
      await page.getByRole('heading', { name: 'Registered names (3)' }).waitFor()
      for (const question of ['*.example.com', '8.8.8.8']) {
        await page.getByRole('searchbox').fill(question)
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'Registered names (1 of 3)' }).waitFor()
        await page.getByRole('checkbox', { name: question }).waitFor()
        await page.getByRole('searchbox').fill('')
        await page.getByRole('heading', { name: 'Registered names (3)' }).waitFor()
      }
      await page.getByRole('searchbox').fill('a b')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Registered names (0 of 3)' }).waitFor()
      await page.getByText('No registered name matches.').waitFor()
    },
    { expected: /status of 400/ },
  )
})

for (const [what, operations, present, absent] of [
  ['only registering', ['create'], [], ['search', 'checkbox']],
  ['no deleting', ['create', 'preview', 'list'], ['search'], ['checkbox']],
]) {
  test(`a service that offers ${what} is used as far as it goes`, async () => {
    serve({ operations })
    await visit(
      async page => {
        await paste(page, 'a.example.com\nb.example.com/x')
        await button(page, /^Register [12] names?$/).click()
        await waitFor(page, /1 name registered, 1 (still to correct|cannot be registered)/)
        await page
          .getByText(/has a path|path/)
          .first()
          .waitFor()
        for (const role of present) await page.getByRole(role).first().waitFor()
        for (const role of absent) assert.equal(await page.getByRole(role).count(), 0, role)
      },
      { expected: /404/ },
    )
  })
}

for (const [status, error, headers, sentence] of [
  [401, 'unauthorized', {}, /Sign in again/],
  [403, 'domain_limit_reached', {}, /Your limit is reached.*At most 3/],
  [429, 'too_many_requests', { 'Retry-After': '60' }, /Too many requests/],
  [503, 'domain_registration_unavailable', { 'Retry-After': '60' }, /saved, but monitoring has not begun/],
]) {
  test(`after a ${status} ${error}, the page says what to do, and goes on where it stopped`, async () => {
    await visit(
      async page => {
        await paste(page, 'a.example.com\nb.example.com')
        await button(page, 'Register 2 names').waitFor()
        intercept = (request, response) =>
          request.method === 'POST' && answer(response, status, { error, message: 'At most 3 names.' }, headers)
        await button(page, 'Register 2 names').click()
        await page.getByRole('alert').getByText(sentence).waitFor()
        assert.equal(await countNames(), 0)
        intercept = undefined
        // No name has room, so nothing can be continued until there is.
        if (status === 403) await button(page, 'Check again').click()
        await button(page, status === 403 ? 'Register 2 names' : 'Continue').click()
        await waitFor(page, 'Done: 2 names registered.')
        assert.equal(await countNames(), 2)
      },
      { expected: new RegExp(`status of ${status}`) },
    )
  })
}

test('a service on another origin is called with its cookie, if the page says so', async () => {
  const origin = new URL(address).origin
  const other = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', origin)
    response.setHeader('Access-Control-Allow-Credentials', 'true')
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type')
    if (request.method === 'OPTIONS') response.end()
    else if (request.headers.cookie === 'session=of-team-1') service(request, response)
    else answer(response, 401, { error: 'unauthorized', message: 'Log in.' })
  })
  await once(other.listen(0, '127.0.0.1'), 'listening')
  otherOrigin = `http://localhost:${other.address().port}`
  try {
    await visit(
      async page => {
        await page.context().addCookies([{ name: 'session', value: 'of-team-1', url: otherOrigin }])
        const open = options =>
          page.locator('domain-registration').evaluate((element, given) => Object.assign(element, given), options)
        await open({ url: `${otherOrigin}/v1/domains` })
        await page.getByRole('alert').getByText('Sign in again').waitFor()
        await open({ options: { credentials: 'include' } })
        await button(page, 'Try again').click()
        await paste(page, 'a.example.com\nb.example.com')
        await button(page, 'Register 2 names').click()
        await page.getByRole('heading', { name: 'Registered names (2)' }).waitFor()
        assert.equal(await countNames(), 2)
      },
      { expected: /status of 401/ },
    )
  } finally {
    other.closeAllConnections()
    other.close()
  }
})

test('as many of the pasted names can be registered as the limit has room for, and the check is one call', async () => {
  serve({ maxDomains: 2 })
  await visit(async page => {
    await paste(page, Array.from({ length: 100 }, (_, index) => `n${index}.example.com`).join('\n'))
    await waitFor(page, '2 names can be registered, your limit leaves no room for 98')
    assert.equal(calls.filter(call => call.endsWith('/preview')).length, 1)
    await button(page, 'Register 2 names').click()
    await waitFor(page, 'Done: 2 names registered')
    assert.deepEqual(
      (await store.list()).map(({ domain }) => domain),
      ['n0.example.com', 'n1.example.com'],
    )
  })
})

test('the application says in its own words which names are not allowed, with and without previews', async () => {
  const message = 'Write to us if this is your brand.'
  const checkNames = names => names.map(() => ({ code: 'domain_already_licensed', message }))
  for (const operations of [['create', 'preview'], ['create']]) {
    serve({ operations, checkNames })
    await visit(
      async page => {
        await paste(page, 'a.example.com\nb.example.com')
        if (operations.length === 1) await button(page, 'Register 2 names').click()
        await page.getByText(message).nth(1).waitFor()
      },
      { expected: /status of 404/ },
    )
  }
})

test('after names are deleted, the list above forgets them and checks what they stood in the way of', async () => {
  serve({ maxDomains: 2 })
  await visit(
    async page => {
      await paste(page, 'a.example.com\nb.example.com')
      await button(page, 'Register 2 names').click()
      await waitFor(page, 'Done: 2 names registered')
      await paste(page, '*.example.com\nc.example.org')
      await page.locator('.state', { hasText: 'No room' }).waitFor()
      await page.getByText('would cover names that you have registered; delete these first').waitFor()
      await button(page, 'Select all').click()
      await button(page, 'Delete 2 names').click()
      // The first response is lost, so the names are deleted, and missing in the second response.
      intercept = (request, response) => {
        if (request.url === '/v1/domains/delete') response.end = () => response.destroy()
        intercept = undefined
      }
      await button(page, /^Delete$/).click()
      await button(page, 'Register 2 names').click()
      await waitFor(page, 'Done: 2 names registered')
      await page.getByRole('heading', { name: 'Registered names (2)' }).waitFor()
      assert.equal((await readRows(page)).length, 2)
    },
    { expected: /ERR_EMPTY_RESPONSE/ },
  )
})

test('names that are pasted during a check are checked after it', async () => {
  await visit(async page => {
    let carryOut
    intercept = (request, response) => {
      if (request.url !== '/v1/domains/preview' || carryOut) return false
      carryOut = () => service(request, response)
      return true
    }
    await paste(page, 'a.example.com\nb.example.com')
    await button(page, 'Stop').waitFor()
    await paste(page, 'c.example.com\nb.example.com')
    await page.getByRole('listitem').getByText('c.example.com').waitFor()
    while (!carryOut) await page.evaluate(() => new Promise(requestAnimationFrame))
    carryOut()
    await waitFor(page, '3 names can be registered, 1 repeated row left out')
  })
})

test('the registered names are paged, and a page that comes after a new search is not shown', async () => {
  await save(Array.from({ length: 1500 }, (_, index) => `n${index}.example.com`))
  await visit(async page => {
    await page.getByRole('heading', { name: 'Registered names (1,000+)' }).waitFor()
    let carryOut
    intercept = (request, response) => {
      if (request.method !== 'GET' || carryOut) return false
      carryOut = () => {
        service(request, response)
        return once(response, 'finish')
      }
      return true
    }
    await button(page, 'Show more').click()
    while (!carryOut) await page.evaluate(() => new Promise(requestAnimationFrame))
    await page.getByRole('searchbox').fill('n7.example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Registered names \(1\)$/ }).waitFor()
    await carryOut()
    // A later response of the same server, and what follows it, comes after the late page.
    await page.evaluate(() => fetch('/style.css').then(response => response.text()))
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    assert.equal(await page.getByRole('heading', { name: /^Registered names/ }).innerText(), 'Registered names (1)')
    await page.getByRole('searchbox').fill('')
    await page.getByRole('heading', { name: 'Registered names (1,000+)' }).waitFor()
    await button(page, 'Show more').click()
    await page.getByRole('heading', { name: /^Registered names \(1,500\)$/ }).waitFor()
  })
})

test('on paper stand all names, whatever the list shows; and all can be saved as a file', async () => {
  await save(Array.from({ length: 300 }, (_, index) => `n${index}.example.com`))
  await visit(async page => {
    await page.getByRole('heading', { name: 'Registered names (300)' }).waitFor()
    const count = () => page.locator('[part=names] .row').count()
    assert.ok((await count()) < 40)
    await page.evaluate(() => {
      addEventListener('beforeprint', () => {
        const { shadowRoot } = document.querySelector('domain-registration')
        globalThis.printed = shadowRoot.querySelectorAll('[part=names] .row').length
      })
    })
    const pdf = await page.pdf()
    assert.equal(await page.evaluate(() => globalThis.printed), 300)
    assert.ok(pdf.toString('latin1').match(/\/Type \/Page\b/g).length >= 6)
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByRole('button').count(), 0)
    await page.emulateMedia({ media: 'screen' })
    await page.waitForFunction(
      () => document.querySelector('domain-registration').shadowRoot.querySelectorAll('.row').length < 40,
    )
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export all as CSV').click()])
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n')
    assert.deepEqual([lines[0], lines.length], ['domain,domainId,createdAt', 302])
  })
})

test('Escape at the question whether to delete keeps the names, and leaves the dialog around open', async () => {
  await save(['a.example.com'])
  await visit(async page => {
    await page.evaluate(() => {
      const dialog = document.createElement('dialog')
      dialog.append(document.querySelector('domain-registration'))
      document.querySelector('main').append(dialog)
      dialog.showModal()
    })
    await button(page, 'Delete a.example.com').click()
    await button(page, /^Delete$/).waitFor()
    await page.keyboard.press('Escape')
    await button(page, /^Delete$/).waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => document.querySelector('dialog').open), true)
    assert.equal(await countNames(), 1)
  })
})

test('while there are more names than are known, a screen reader hears no wrong number of them', async () => {
  await save(Array.from({ length: 1500 }, (_, index) => `n${index}.example.com`))
  await visit(async page => {
    const rowOf = size => page.locator(`[part=names] .row[aria-setsize="${size}"]`).first()
    await page.getByRole('heading', { name: 'Registered names (1,000+)' }).waitFor()
    await rowOf(-1).waitFor()
    await button(page, 'Show more').click()
    await page.getByRole('heading', { name: 'Registered names (1,500)' }).waitFor()
    await rowOf(1500).waitFor()
  })
})

test('a screen reader that goes through the rows, and scrolls to each, meets all names in their order', async () => {
  const names = Array.from({ length: 120 }, (_, index) => `n${index}.example.com`)
  await save(names)
  await visit(async page => {
    await page.getByRole('heading', { name: 'Registered names (120)' }).waitFor()
    const { met, drawn } = await page.evaluate(async () => {
      const frame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
      const { shadowRoot } = document.querySelector('domain-registration')
      const list = shadowRoot.querySelector('[part=names] .list')
      const found = { met: [], drawn: 0 }
      let row = list.querySelector('[role=listitem]')
      while (row) {
        found.met.push([row.querySelector('bdi').textContent, row.ariaPosInSet, row.ariaSetSize].join(' '))
        found.drawn = Math.max(found.drawn, list.querySelectorAll('[role=listitem]').length)
        row.scrollIntoView({ block: 'nearest' })
        // Draws what the scroll has brought near.
        for (let turn = 0; turn < 3; turn += 1) await frame()
        // Where the reader is must not be taken from it.
        row = row.isConnected ? row.nextElementSibling : undefined
      }
      return found
    })
    assert.deepEqual(
      met,
      names.reverse().map((name, index) => `${name} ${index + 1} 120`),
    )
    assert.ok(drawn < 40, `${drawn} rows were drawn`)
  })
})

test('a list of 100 names is drawn as a whole, so the search of the browser finds each of them', async () => {
  await save(Array.from({ length: 100 }, (_, index) => `n${index}.example.com`))
  await visit(async page => {
    await page.getByRole('heading', { name: 'Registered names (100)' }).waitFor()
    await page.getByRole('checkbox').nth(99).scrollIntoViewIfNeeded()
    assert.equal((await readRows(page, /^Registered names/)).length, 100)
  })
})

test('screen readers meet rows directly in their list, and each text of a row in an element of its own', async () => {
  await save(['a.example.com', 'b.example.com'])
  await visit(async page => {
    await paste(page, 'c.example.com\nhttps://d.example.com/x\nlocalhost')
    await waitFor(page, '1 name can be registered, 1 needs a correction, 1 cannot be registered')
    await button(page, 'All 3').click()
    await page.getByRole('listitem').nth(4).waitFor()
    const session = await page.context().newCDPSession(page)
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    const byId = new Map(nodes.map(node => [node.nodeId, node]))
    /** The roles of what a screen reader meets in a node. */
    const rolesIn = node =>
      node.childIds.flatMap(id => {
        const child = byId.get(id)
        return child.ignored ? rolesIn(child) : child.role.value
      })
    const withRole = role => nodes.filter(node => !node.ignored && node.role.value === role)
    assert.deepEqual(withRole('list').map(rolesIn), [Array(3).fill('listitem'), Array(2).fill('listitem')])
    assert.equal(withRole('listitem').length, 5)
    // Orca does not read a text that stands directly in a row.
    for (const row of withRole('listitem')) assert.ok(!rolesIn(row).includes('StaticText'), rolesIn(row).join(', '))
  })
})

test('of a dropped file of many megabytes, the page says at once that it reads it, and is never blocked', async () => {
  await visit(async page => {
    // The file is read, but its names are not checked.
    intercept = request => request.url === '/v1/domains/preview'
    await page.evaluate(() => {
      const { shadowRoot } = document.querySelector('domain-registration')
      const spoken = new MutationObserver(() => globalThis.spoken.push(shadowRoot.querySelector('.spoken').textContent))
      spoken.observe(shadowRoot.querySelector('.spoken'), { childList: true, subtree: true })
      globalThis.spoken = []
      globalThis.drop = part => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([part], 'list.txt', { type: 'text/plain' }))
        const drop = new DragEvent('drop', { dataTransfer, bubbles: true, composed: true, cancelable: true })
        shadowRoot.querySelector('section').dispatchEvent(drop)
      }
      /** What the page says, frame by frame, until it says something that matches. */
      globalThis.listen = async last => {
        const said = []
        while (!last.test(said.at(-1))) {
          await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
          const seen = [...shadowRoot.querySelectorAll('[part=add] :is(.hint, .status)')]
          const text = seen.flatMap(each => (each.checkVisibility() ? each.textContent.trim() : [])).join('')
          if (text !== said.at(-1)) said.push(text)
        }
        return said
      }
    })
    await page.evaluate(() => globalThis.drop(new Uint8Array(30_000_000)))
    await page.getByRole('alert').getByText('This is more than 20 MB. Copy only the column').waitFor()
    await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
    const said = await page.evaluate(() => {
      // One line of names and words.
      const parts = Array.from({ length: 200_000 }, (_, index) => `n${index}.example.com, m${index} `)
      globalThis.drop(parts.join('and '))
      return globalThis.listen(/^Checked/)
    })
    const { traceEvents } = JSON.parse(await browser.stopTracing())
    // From the second frame on, nothing else is said.
    assert.deepEqual(said.slice(said[0].startsWith('or drop') ? 1 : 0), ['Reading…', 'Checked 0 of 400,001 names'])
    assert.deepEqual(await page.evaluate(() => globalThis.spoken.filter(text => text === 'Reading…')), ['Reading…'])
    // Milliseconds of processor, whatever else the machine does.
    const tasks = traceEvents
      .filter(({ name, tdur }) => name.includes('RunTask') && tdur)
      .map(({ tdur }) => tdur / 1000)
    assert.ok(
      tasks.length > 100 && Math.max(...tasks) < 500,
      `${tasks.length} tasks, of up to ${Math.max(...tasks)} ms`,
    )
  })
})

test('what is corrected while names are registered is shown at once, and not with the next response', async () => {
  await visit(async page => {
    const names = ['b', 'c', 'd', 'e'].map(letter => `https://${letter}.example.org/x`)
    await paste(page, ['a.example.com', ...names].join('\n'))
    await button(page, 'Register 1 name').waitFor()
    const held = []
    intercept = (request, response) => {
      if (request.method === 'POST') held.push(() => service(request, response))
      return request.method === 'POST'
    }
    await button(page, 'Register 1 name').click()
    await button(page, 'Stop').waitFor()
    await button(page, 'Use b.example.org').click()
    await page.getByRole('listitem').filter({ hasText: 'from https://b.example.org/x' }).waitFor()
    await button(page, 'Edit https://c.example.org/x').click()
    await page.getByRole('textbox', { name: /^Edit / }).fill('changed.example.org')
    await button(page, /^Check$/).click()
    await page.getByRole('listitem').filter({ hasText: 'changed.example.org' }).waitFor()
    assert.equal(held.length, 1)
    intercept = undefined
    held[0]()
    await button(page, 'Use all 2 corrections').click()
    await button(page, 'Register 4 names').click()
    await waitFor(page, 'Done: 5 names registered.')
  })
})

test('words and dates can be replaced, and sentences by reason come from a catalogue', async () => {
  await save(['old.example.com'])
  await visit(async page => {
    await page.evaluate(() => {
      const element = document.querySelector('domain-registration')
      const reasons = { url: 'ist eine URL und kein Hostname' }
      const date = at => at.toLocaleDateString('de', { dateStyle: 'full', timeZone: 'UTC' })
      element.words = { addTitle: 'Namen hinzufügen', reasons, date }
    })
    await page.getByRole('heading', { name: 'Namen hinzufügen' }).waitFor()
    await paste(page, 'https://a.example.com/\nb.example.com')
    await page.getByText('Ist eine URL und kein Hostname.').waitFor()
    await page.getByText(new Date().toLocaleDateString('de', { dateStyle: 'full', timeZone: 'UTC' })).waitFor()
  })
})

/** How Tailwind and others are dark: without `color-scheme`, so the browser's own colors stay light. */
const darkByClass = ':root { color-scheme: normal } body { background: #0f172a; color: #e2e8f0 }'
for (const [what, colorScheme, sheet, widths] of [
  ['in the light scheme, and a phone shows everything', 'light', 'html {}', [1280, 375]],
  ['in the dark scheme', 'dark', 'html {}', [1280]],
  ['in a page that is dark by class', 'light', darkByClass, [1280]],
]) {
  test(`axe finds no serious violation ${what}`, async () => {
    for (const width of widths) {
      serve()
      const names = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`)
      const found = []
      await visit(
        async page => {
          await page.addScriptTag({ path: axe })
          await page.addStyleTag({ content: sheet })
          const check = async () => {
            const { violations, passes } = await page.evaluate(() => globalThis.axe.run())
            assert.ok(passes.length > 10)
            const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
            found.push(
              ...serious.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.html} ${node.failureSummary}`)),
            )
            assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width)
            const heights = await page
              .getByRole('button')
              .evaluateAll(buttons => buttons.map(each => each.getBoundingClientRect().height))
            assert.deepEqual(
              heights.filter(height => height < 43.5),
              [],
            )
          }
          await check()
          await paste(
            page,
            [...names, 'https://www.a-name-that-is-quite-long-for-a-phone.example.org/x', 'localhost'].join('\n'),
          )
          await button(page, 'Register 20 names').waitFor()
          await check()
          await button(page, 'Register 20 names').click()
          await page.getByRole('heading', { name: 'Registered names (20)' }).waitFor()
          await page.getByRole('checkbox').first().check()
          await check()
        },
        { colorScheme, viewport: { width, height: 800 }, bypassCSP: true },
      )
      assert.deepEqual(found, [])
    }
  })
}

for (const [width, height] of [
  [375, 667],
  [320, 256],
]) {
  test(`in a window of ${width} × ${height}, what has the focus is seen, and no word of a button breaks`, async () => {
    await visit(
      async page => {
        const wrong = Array.from({ length: 12 }, (_, index) => `https://www.shop-${index}.example.org/x`)
        await paste(page, [...wrong, 'a.example.com'].join('\n'))
        await button(page, 'Use all 12 corrections').waitFor()
        const broken = await page.getByRole('button').evaluateAll(buttons =>
          buttons.filter(each => {
            const [text] = [...each.childNodes].filter(node => node.nodeType === 3 && /\w/.test(node.data))
            if (!text) return false
            return [...text.data.matchAll(/\w+/g)].some(({ 0: word, index }) => {
              const range = document.createRange()
              range.setStart(text, index)
              range.setEnd(text, index + word.length)
              return range.getClientRects().length > 1
            })
          }),
        )
        assert.deepEqual(broken, [])
        await page.evaluate(() => document.activeElement.blur())
        const reached = new Set()
        for (let presses = 0; presses < 60; presses += 1) {
          await page.keyboard.press('Tab')
          await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve))))
          const { name, covering } = await page.evaluate(() => {
            const root = document.querySelector('domain-registration').shadowRoot
            const focused = root.activeElement
            if (!focused) return {}
            const { left, right, top, bottom } = focused.getBoundingClientRect()
            const middle = Math.min(Math.max((top + bottom) / 2, 2), innerHeight - 2)
            const found = [top + 2, middle, bottom - 2]
              .filter(y => y >= 0 && y < innerHeight)
              .map(y => root.elementFromPoint((left + right) / 2, y))
            const isSeen = node => focused.contains(node) || focused.matches('.list, .row') || node?.contains(focused)
            return {
              name: focused.ariaLabel ?? focused.textContent.trim(),
              covering:
                found.length > 0 ? found.filter(node => !isSeen(node)).map(node => node?.className) : ['nothing'],
            }
          })
          if (name === undefined) continue
          reached.add(name)
          assert.deepEqual([name, covering], [name, []])
        }
        assert.ok(reached.has('Edit https://www.shop-11.example.org/x'), [...reached].join(', '))
      },
      { viewport: { width, height } },
    )
  })
}

test('everything can be done by keyboard alone, and results are announced', async () => {
  await visit(async page => {
    /** Presses Tab until something has the focus, as a person does who cannot see where it is. */
    const tabTo = async (name, key = 'Tab') => {
      for (let presses = 0; presses < 40; presses += 1) {
        const focused = await page.evaluate(() => {
          const { activeElement: found } = document.activeElement?.shadowRoot ?? {}
          return found && (found.ariaLabel ?? found.labels?.[0]?.textContent ?? found.textContent).trim()
        })
        if (focused && name.test(focused)) return
        await page.keyboard.press(key)
      }
      throw new Error(`Tab does not reach ${name}`)
    }
    await tabTo(/^Hostnames/)
    await page.keyboard.insertText('https://a.example.com/')
    await page.keyboard.press('Control+Enter')
    await waitFor(page, '1 needs a correction')
    await tabTo(/^Use a/)
    await page.keyboard.press('Enter')
    await waitFor(page, '1 name can be registered')
    await tabTo(/^Register 1 name$/)
    await page.keyboard.press('Space')
    await waitFor(page, 'Done: 1 name registered.')
    await page.locator('.spoken').filter({ hasText: 'Done: 1 name registered.' }).waitFor()
    await status(page).filter({ hasText: 'Done: 1 name registered. You find them' }).waitFor()
    await page.getByRole('checkbox').waitFor()
    await tabTo(/^a\.example\.com$/)
    await page.keyboard.press('Space')
    await tabTo(/^Delete 1 name$/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.getByText('No names yet').waitFor()
    assert.equal(await countNames(), 0)
  })
})

test('in forced colors, progress and the pressed filter stand out', async () => {
  await visit(
    async page => {
      const colorOf = locator => locator.evaluate(node => getComputedStyle(node).backgroundColor)
      await paste(page, 'a.example.com\nhttps://b.example.com/')
      await button(page, 'All 2').waitFor()
      assert.notEqual(await colorOf(button(page, 'With a problem 1')), await colorOf(button(page, 'All 2')))
      const progress = page.locator('progress').first()
      assert.equal(await progress.evaluate(node => getComputedStyle(node).borderTopWidth), '1px')
      const shoot = async done => {
        await progress.evaluate((node, value) => Object.assign(node, { hidden: false, max: 1, value }), done)
        return (await progress.screenshot({ animations: 'disabled' })).toString('base64')
      }
      assert.notEqual(await shoot(0), await shoot(1))
    },
    { forcedColors: 'active' },
  )
})

test('nothing jumps while the module and the names load, if the page reserves the place', async () => {
  await save(Array.from({ length: 300 }, (_, index) => `n${index}.example.com`))
  await visit(async page => {
    await page.reload()
    await page.getByRole('heading', { name: 'Registered names (300)' }).waitFor()
    const shift = await page.evaluate(
      () =>
        new Promise(resolve => {
          let sum = 0
          new PerformanceObserver(list => {
            for (const { value } of list.getEntries()) sum += value
          }).observe({ type: 'layout-shift', buffered: true })
          requestAnimationFrame(() => setTimeout(() => resolve(sum), 100))
        }),
    )
    assert.ok(shift < 0.1, `the layout shift is ${shift}`)
  })
})
