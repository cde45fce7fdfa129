/**
 * Reads and tries the pages of `examples/documentation.ts` in a real Chromium, as a person would: registers names on
 * the first page, follows its link to the API, gives this page a key, sends the call that it suggests, and reads the
 * response.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startExample } from './example.js'

const example = startExample('documentation.ts', {
  organizationKey: /svc_org_[0-9]+_[0-9a-f]+/,
  teamKey: /svc_team_[0-9]+_[0-9a-f]+/,
  address: /http:\/\/localhost:[0-9]+\/$/m,
})

/**
 * Opens the page in a fresh profile, and passes it to a function.
 *
 * @returns The page's requests to other hosts, and the errors on its console. Both lists should be empty.
 */
async function visit(use, width = 1200) {
  const { page, complaints } = await example.openPage({ viewport: { width, height: 1000 } })
  const { origin } = new URL(example.address)
  const elsewhere = []
  page.on('requestfailed', request => complaints.push(`${request.url()} failed`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.origin !== origin) elsewhere.push(url.href)
  })
  try {
    assert.equal((await page.goto(`${example.address}docs`)).status(), 200)
    await page.getByRole('heading', { name: /Domain registration/ }).waitFor()
    await use(page)
    return { elsewhere, complaints }
  } finally {
    await page.context().close()
  }
}

async function authorize(page, scheme, key) {
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  const dialog = page.locator('.modal-ux')
  const form = dialog.locator('.auth-container').filter({ hasText: scheme })
  await form.getByRole('textbox').fill(key)
  await form.getByRole('button', { name: 'Apply credentials' }).click()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
}

/** Sends one of the documented examples from the page, and reads the response there. */
async function send(page, exampleName) {
  await page.locator('.opblock-section-request-body .examples-select-element').selectOption(exampleName)
  await page.getByRole('button', { name: 'Execute' }).click()
  const answer = page.locator('.live-responses-table .response')
  await answer.waitFor()
  return {
    status: (await answer.locator('.response-col_status').innerText()).trim(),
    body: JSON.parse(await answer.locator('.response-col_description .highlight-code code').first().innerText()),
  }
}

test('the first page registers names, and leads to the page of the API', async () => {
  const { page, complaints } = await example.openPage()
  await page.goto(example.address)
  await page.getByLabel(/^Hostnames/).fill('first.example.net')
  await page.getByRole('button', { name: 'Check names' }).click()
  await page.getByRole('button', { name: 'Register 1 name' }).click()
  await page.getByRole('heading', { name: 'Registered names (1)' }).waitFor()
  await page.getByRole('link', { name: 'the API' }).click()
  await page.getByRole('heading', { name: /Domain registration/ }).waitFor()
  assert.deepEqual(complaints, [])
  assert.equal((await fetch(`${example.address}team/domains`)).status, 401)
})

test('the page describes the call, its responses and both kinds of key', async () => {
  const { elsewhere, complaints } = await visit(async page => {
    await page.locator('.responses-table').first().waitFor()
    const text = await page.locator('#page').innerText()
    const wanted = [
      '/v1/domains',
      'Register hostnames for a team',
      'team_id',
      'insufficient_scope',
      '503',
      'Retry-After',
      'API keys were printed where this server was started',
    ]
    assert.deepEqual(
      wanted.filter(shown => !text.includes(shown)),
      [],
    )
  })
  assert.deepEqual(elsewhere, [])
  assert.deepEqual(complaints, [])
})

/** The order matters, because the teams share the registry. */
const calls = [
  { key: 'organizationKey', outcomes: ['created', 'created', 'internal_domain'] },
  { key: 'teamKey', outcomes: ['domain_already_licensed', 'domain_already_licensed', 'internal_domain'] },
]
for (const { key, outcomes } of calls) {
  test(`a call can be sent from the page with the ${key}, and the page shows its results`, async () => {
    const { elsewhere, complaints } = await visit(async page => {
      await authorize(page, key, example[key])
      const { status, body } = await send(page, key.replace('Key', ''))
      assert.equal(status, '200')
      assert.deepEqual(
        body.data.results.map(result => result.code ?? result.status),
        outcomes,
      )
    })
    assert.deepEqual(elsewhere, [])
    assert.deepEqual(complaints, [])
  })
}

test('the page keeps the key when it is reloaded', async () => {
  await visit(async page => {
    await authorize(page, 'teamKey', example.teamKey)
    await page.reload()
    assert.equal((await send(page, 'team')).status, '200')
  })
})

test('nothing is wider than a phone, except code blocks, which scroll on their own', async () => {
  const width = 390
  await visit(async page => {
    const findWide = () =>
      page.evaluate(
        width =>
          [...document.querySelectorAll('*')]
            .filter(element => element.getBoundingClientRect().right > width && !element.closest('pre'))
            .map(element => `${element.tagName} ${element.className}`),
        width,
      )
    await page.locator('.responses-table').first().waitFor()
    assert.deepEqual(await findWide(), [])
    await authorize(page, 'teamKey', example.teamKey)
    await send(page, 'team')
    assert.deepEqual(await findWide(), [])
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width)
  }, width)
})

test('on a phone, buttons and fields are large enough for fingers', async () => {
  await visit(async page => {
    const findSmall = () =>
      page.evaluate(() => {
        const controls = [...document.querySelectorAll('button, input, select, textarea')]
          .map(control => ({ control, box: control.getBoundingClientRect() }))
          .filter(({ box }) => box.height > 0)
        const small = controls.filter(
          ({ control, box }) => box.height < 44 || Number.parseFloat(getComputedStyle(control).fontSize) < 16,
        )
        return {
          shown: controls.length,
          small: small.map(
            ({ control, box }) => `${control.className} ${box.height} ${getComputedStyle(control).fontSize}`,
          ),
        }
      })
    await page.locator('.responses-table').first().waitFor()
    const { shown, small } = await findSmall()
    assert.ok(shown > 5)
    assert.deepEqual(small, [])
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.locator('.modal-ux').waitFor()
    assert.deepEqual((await findSmall()).small, [])
  }, 390)
})

test('the page can neither run a script from another host nor send requests to it', async () => {
  const { port } = new URL(example.address)
  const other = `http://127.0.0.1:${port}`
  const { complaints } = await visit(async page => {
    await assert.rejects(
      page.evaluate(url => fetch(url), `${other}/openapi.json`),
      /Failed to fetch/,
    )
    await assert.rejects(page.addScriptTag({ url: `${other}/docs/page.js` }))
  })
  for (const directive of ['connect-src', 'script-src']) {
    const refused = new RegExp(`Content Security Policy directive: "${directive} 'self'"`)
    assert.ok(
      complaints.some(complaint => refused.test(complaint)),
      directive,
    )
  }
})
