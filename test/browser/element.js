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

/** 300 rows as they come from a spreadsheet: 280 names, 30 of them to correct; 10 useless rows and 10 repetitions. */
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
      '250 names can be registered, 30 need a correction, 10 cannot be registered, 10 repeated rows left out',
    )
    assert.equal(await page.locator('button.primary:visible').innerText(), 'Use all 30 corrections')
    await button(page, 'Use all 30 corrections').click()
    await waitFor(page, '280 names can be registered, 10 cannot be registered')
    await button(page, 'Register 280 names').click()
    await waitFor(page, 'Done: 280 names registered, 10 cannot be registered.')
    assert.equal(await countNames(), 280)
    await page.getByRole('heading', { name: 'Registered names (280)' }).waitFor()
    assert.match((await readRows(page))[0], /host-0\.example\.com\s+Registered/)
  })
})

test('each row shows the name as people read it, what is wrong, and the correction as a button', async () => {
  await visit(async page => {
    await paste(page, ' BÜCHER.de\nhttps://www.example.com/a\nxn--pple-43d.com\n<img src=x onerror=alert(1)>')
    await waitFor(page, '2 names can be registered, 1 needs a correction, 1 cannot be registered')
    await button(page, 'All 4').click()
    const rows = await readRows(page)
    assert.match(rows[0], /bücher\.de\s*from BÜCHER\.de\s+Ready/)
    assert.match(rows[1], /A web address.*Use www\.example\.com/s)
    // A look-alike of apple.com is shown as A-labels.
    assert.match(rows[2], /xn--pple-43d\.com\s+Ready/)
    assert.match(rows[3], /<img src=x onerror=alert\(1\)>/)
    await button(page, 'Use www.example.com').click()
    await waitFor(page, '3 names can be registered, 1 cannot')
    await button(page, /^Edit </).click()
    await page.getByRole('textbox', { name: /^Edit </ }).press('Escape')
    await button(page, /^Edit </).click()
    await page.getByRole('textbox', { name: /^Edit </ }).fill('img.example.com')
    await page.keyboard.press('Enter')
    await waitFor(page, '4 names can be registered')
    await page.getByText('from <img src=x onerror=alert(1)>').waitFor()
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
      .first()
      .evaluate((section, text) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([text], 'list.csv', { type: 'text/csv' }))
        section.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
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
    await waitFor(page, '4 names can be registered')
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.xlsx', mimeType: '', buffer: Buffer.from('PK\0\0') })
    await page.getByRole('alert').getByText('Save the sheet as CSV').waitFor()
    await button(page, 'Register 4 names').waitFor()
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

test('words can be replaced, and sentences by reason come from a catalogue', async () => {
  await visit(async page => {
    await page.evaluate(() => {
      const element = document.querySelector('domain-registration')
      const reasons = { url: 'ist eine URL und kein Hostname' }
      element.words = { addTitle: 'Namen hinzufügen', reasons }
    })
    await page.getByRole('heading', { name: 'Namen hinzufügen' }).waitFor()
    await paste(page, 'https://a.example.com/\nb.example.com')
    await page.getByText('Ist eine URL und kein Hostname.').waitFor()
  })
})

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds no serious violation in the ${colorScheme} scheme, and a phone shows everything`, async () => {
    for (const width of [1280, 375]) {
      serve()
      const names = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`)
      const found = []
      await visit(
        async page => {
          await page.addScriptTag({ path: axe })
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
    assert.equal(await page.getByRole('status').innerText(), 'Done: 1 name registered.')
    assert.match(await status(page).innerText(), /^Done: 1 name registered\. You find them/)
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
        return (await progress.screenshot()).toString('base64')
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
