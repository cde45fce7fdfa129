/**
 * Reads the built site (`npm run docs:build`) in a real Chromium: its links, its search, its width on a phone, and
 * both color schemes.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { classifyHostname, displayHostname } from '../../dist/index.js'
import { launchChromium } from './chromium.js'

// The configuration of a site whose repository is known.
process.env.GITHUB_REPOSITORY = 'owner/name'
const { default: config } = await import('../../site/.vitepress/config.js')

const root = fileURLToPath(new URL('../../site/.vitepress/dist', import.meta.url))
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
const scratch = mkdtempSync(join(tmpdir(), 'browser-'))
const toFile = path => decodeURIComponent(path.endsWith('/') ? `${path}index.html` : path)
const server = createServer((request, response) => {
  const file = join(root, toFile(new URL(request.url, 'http://localhost').pathname))
  if (!existsSync(file)) return response.writeHead(404).end()
  response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
})
let browser
let origin

before(async () => {
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://localhost:${server.address().port}`
  browser = await launchChromium(scratch)
})
after(async () => {
  await browser?.close()
  server.close()
  server.closeAllConnections()
  rmSync(scratch, { recursive: true, force: true })
})

/**
 * Opens a page in a fresh profile, runs `prepare` in it before its own scripts, and passes the page to `use`. Checks
 * that the page had no error, and sent no request to other hosts.
 */
async function visit(path, { prepare, ...options }, use) {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options })).newPage()
  if (prepare) await page.addInitScript(prepare)
  const complaints = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('request', request => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) complaints.push(request.url())
  })
  try {
    await page.goto(origin + path, { waitUntil: 'networkidle' })
    await use(page)
    assert.deepEqual(complaints, [])
  } finally {
    await page.context().close()
  }
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
const pages = new Map(
  files
    .filter(file => file.endsWith('.html') && file !== '404.html')
    .map(file => [`/${file}`, readFileSync(join(root, file), 'utf8')]),
)
const guides = readdirSync(fileURLToPath(new URL('../../docs', import.meta.url)), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.md'))
  .map(file => `/docs/${file.replace('README', 'index').replace(/md$/, 'html')}`)

test('each guide has a page, and each page a heading', () => {
  assert.ok(guides.length > 20)
  assert.deepEqual(
    guides.filter(page => !pages.has(page)),
    [],
  )
  assert.deepEqual(
    [...pages].filter(([, html]) => !/<h1[ >]/.test(html)).map(([page]) => page),
    [],
  )
})

test('no link leads to a page, a file or an anchor that does not exist', () => {
  const ids = new Map(
    [...pages].map(([page, html]) => [page, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]),
  )
  let count = 0
  const isBroken = (page, href) => {
    const { origin, pathname, hash } = new URL(href, `http://site${page}`)
    if (origin !== 'http://site') return false
    count += 1
    const target = [toFile(pathname), `${pathname}.html`].find(path => existsSync(join(root, path)) && extname(path))
    if (target === undefined) return true
    return hash !== '' && !ids.get(target)?.has(decodeURIComponent(hash.slice(1)))
  }
  const broken = [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/ (?:href|src)="([^"]*)"/g)]
      .map(([, href]) => href.replaceAll('&amp;', '&'))
      .filter(href => isBroken(page, href))
      .map(href => `${page} → ${href}`),
  )
  assert.ok(count > 2000)
  assert.deepEqual([...new Set(broken)], [])
})

test('each error and each code of a result has an anchor named after its code', () => {
  const html = pages.get('/docs/errors.html')
  for (const code of ['team_suspended', 'domain_registration_unavailable', 'wildcard_conflict', 'reserved_ip']) {
    assert.equal(html.split(`id="${code}"`).length, 2, code)
  }
})

test('llms.txt and the sidebar link each guide, and llms-full.txt contains all guides', () => {
  const links = [...readFileSync(join(root, 'llms.txt'), 'utf8').matchAll(/\]\((.*)\)$/gm)].map(([, link]) => link)
  assert.ok(links.length > 30)
  const isPage = link => pages.has(toFile(link)) || pages.has(`${link}.html`)
  assert.deepEqual(
    links.filter(link => !isPage(link)),
    [],
  )
  const sidebar = pages.get('/docs/index.html')
  for (const guide of guides) {
    const link = guide.replace(/index\.html$/, '').replace(/\.html$/, '')
    assert.ok(links.includes(link), link)
    assert.ok(sidebar.includes(`href="${guide.replace(/index\.html$/, '')}"`), guide)
  }
  const full = readFileSync(join(root, 'llms-full.txt'), 'utf8')
  assert.ok(full.includes(readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')))
})

/** Each search, with the path of a page that must be among the first five results. */
const searches = [
  ['localhost', /hostnames|errors|readme/],
  ['quota', /faq|stores/],
  ['Koa', /frameworks/],
  ['Workers', /frameworks|serverless/],
  ['rotate', /authentication|cli/],
  ['webhook', /webhook/],
  ['PgBouncer', /postgres/],
  ['backup', /production|cli/],
  ['upgrade', /production|changelog/],
  ['Prometheus', /metrics/],
  ['OpenTelemetry', /metrics/],
  ['UUID', /authentication/],
  ['Clerk', /authentication/],
  ['Prisma', /orm/],
  ['Drizzle', /orm/],
  ['Kysely', /orm/],
  ['MariaDB', /own-store/],
  ['Citus', /citus/],
  ['NestJS', /frameworks/],
  ['Next.js', /frameworks|serverless/],
  ['SvelteKit', /frameworks/],
  ['Hono', /frameworks/],
  ['better-auth', /authentication/],
  ['sessions', /authentication/],
  ['team_suspended', /errors/],
  ['wildcard_conflict', /errors|overlap/],
  ['public suffix', /hostnames|stores|words|readme/],
  ['outbox', /words|monitoring|stores/],
  ['doctor', /cli/],
  ['export', /calls|cli/],
  ['rate limit', /your-server/],
  ['syncAll', /client/],
  ['top-level await', /agents/],
  ['idempotent', /monitoring|words|agents/],
  ['docker', /production/],
  ['kubernetes', /production/],
  ['behind a proxy', /your-server|production|faq/],
  ['csv', /calls|client|customers-page|cli|faq/],
  // Questions as newcomers, operators and maintainers type them.
  ['mount in Koa', /frameworks/],
  ['quota for a team', /faq|stores/],
  ['is localhost accepted', /hostnames|errors|readme/],
  ['monitor is down', /faq|monitoring|runbook/],
  ['Cloudflare Workers', /frameworks|serverless/],
  ['which database', /stores/],
  ['prove ownership', /faq/],
  ['CommonJS require', /faq|agents/],
  ['UUID team IDs', /authentication|faq/],
  ['rotate keys', /authentication|cli/],
  ['leaked key', /authentication|cli/],
  ['lock timeout', /runbook/],
  ['restore a backup', /production|cli/],
  ['rolling deployment', /production/],
  ['alert when changes are pending', /monitoring/],
  ['delete a team', /teams/],
  ['SQLite to PostgreSQL', /moving/],
  ['performance', /faq|how-fast/],
  ['add an error code', /contributing/],
  ['mutation', /contributing|proof/],
  ['release a new version', /contributing/],
  // The element in somebody's page.
  ['react', /customers-page/],
  ['vue', /customers-page/],
  ['angular', /customers-page/],
  ['JSX', /customers-page/],
  ['event', /customers-page/],
  ['dark mode', /customers-page/],
  ['theme', /customers-page/],
  ['translate', /customers-page/],
  ['CSP', /customers-page/],
  ['iframe', /customers-page/],
  ['rtl', /customers-page/],
  ['accessibility', /customers-page/],
  ['custom domains', /custom-domains/],
  ['Caddy', /custom-domains/],
  ['nginx', /custom-domains|your-server/],
  ['Host header', /custom-domains/],
  ['TXT record', /check-names/],
]

/** Without excerpts, for which the search box loads and draws each page that it finds. */
const withoutExcerpts = () => localStorage.setItem('vitepress:local-search-detailed-list', 'false')

/** Asks the index of the site, as the search box does (`VPLocalSearchBox.vue` in VitePress). Returns links. */
async function createSearch() {
  const { default: MiniSearch } = await import(createRequire(join(root, '../../package.json')).resolve('minisearch'))
  const file = files.find(file => /localSearchIndexroot\..*\.js$/.test(file))
  const { default: saved } = await import(join(root, file))
  const { searchOptions } = config.themeConfig.search.options.miniSearch
  const index = MiniSearch.loadJSON(saved, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...searchOptions },
  })
  return words => index.search(words).map(({ id }) => id)
}

test('the search finds the right guide for each word and question', async () => {
  const search = await createSearch()
  const missed = searches.flatMap(([words, expected]) => {
    const links = search(words).slice(0, 5)
    return links.some(link => expected.test(link)) ? [] : [[words, ...links]]
  })
  assert.deepEqual(missed, [])
})

test('the first hits of the search answer questions of a first month, and of people with their own stack', async () => {
  const questions = JSON.parse(readFileSync(new URL('questions.json', import.meta.url), 'utf8'))
  const search = await createSearch()
  const toPlace = link =>
    decodeURIComponent(link)
      .replace(/^\/(?:docs\/)?/, '')
      .replace('.html', '')
  const missed = questions.flatMap(({ question, words, answers, says }) => {
    const places = search(words)
      .slice(0, says ? 3 : 2)
      .map(toPlace)
    return places.some(place => answers.includes(place)) ? [] : [[question, ...places]]
  })
  assert.deepEqual(missed, [])
})

test('the search box lists what the index finds, in its order', async () => {
  const search = await createSearch()
  await visit('/', { prepare: withoutExcerpts }, async page => {
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.locator('#localsearch-input').fill('rotate keys')
    const results = page.locator('#localsearch-list a.result')
    await results.first().waitFor()
    const links = await results.evaluateAll(found => found.map(link => link.getAttribute('href')))
    assert.ok(links.length > 5)
    assert.deepEqual(links, search('rotate keys').slice(0, links.length))
  })
})

/** One page of each kind. The guide has tables, programs and a picture. */
const read = ['/', '/docs/monitoring.html', '/playground.html', '/reference/registerDomains.html']
for (const colorScheme of ['light', 'dark']) {
  test(`axe finds no serious violation in the ${colorScheme} scheme`, async () => {
    const found = []
    for (const path of read) {
      await visit(path, { colorScheme }, async page => {
        assert.equal(
          await page.evaluate(() => document.documentElement.classList.contains('dark')),
          colorScheme === 'dark',
        )
        await page.addScriptTag({ path: axe })
        const { violations, passes } = await page.evaluate(() => globalThis.axe.run())
        assert.ok(passes.length > 10)
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        found.push(...serious.flatMap(({ id, nodes }) => nodes.map(node => `${path} ${id}: ${node.html}`)))
      })
    }
    assert.deepEqual(found, [])
  })
}

// Guides are whole without their scripts, and load faster.
for (const [what, paths, javaScriptEnabled] of [
  ['page with an element', ['/', '/playground.html'], true],
  ['guide', ['/readme.html', ...guides, '/reference/registerDomains.html'], false],
])
  test(`no ${what} scrolls sideways on a phone of 375 pixels`, async () => {
    await visit(paths[0], { viewport: { width: 375, height: 700 }, javaScriptEnabled }, async page => {
      const wide = []
      for (const path of paths) {
        await page.goto(origin + path)
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        if (width > 375) wide.push(`${path}: ${width}`)
      }
      assert.deepEqual(wide, [])
    })
  })

/** All strings in the test vectors: hostnames, their results, and everything else. */
function readVectors() {
  const folder = new URL('../vectors/', import.meta.url)
  const files = readdirSync(folder).filter(file => /\.(?:json|txt)$/.test(file))
  const toStrings = value =>
    typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(part => toStrings(part))
  const texts = files.flatMap(file => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    return file.endsWith('.json') ? toStrings(JSON.parse(text)) : text.split('\n')
  })
  return [...new Set(texts)].filter(text => text.length < 10_000)
}

test('the playground classifies each hostname in test/vectors as Node does', async () => {
  const inputs = readVectors()
  assert.ok(inputs.length > 30_000)
  const answer = input => {
    const hostname = classifyHostname(input)
    return [JSON.stringify(hostname), hostname.valid ? displayHostname(hostname.domain) : '']
  }
  await visit('/playground.html', {}, async page => {
    await page.waitForFunction(() => globalThis.playground)
    const answers = await page.evaluate(texts => {
      const { classifyHostname, displayHostname } = globalThis.playground
      return texts.map(input => {
        const hostname = classifyHostname(input)
        return [JSON.stringify(hostname), hostname.valid ? displayHostname(hostname.domain) : '']
      })
    }, inputs)
    assert.deepEqual(answers, inputs.map(answer))
  })
})

test('the first page shows the element, with corrections from the service in the page', async () => {
  await visit('/', {}, async page => {
    await page.getByRole('button', { name: 'Use all 2 corrections' }).click()
    await page.getByRole('button', { name: 'Register 4 names' }).click()
    await page.getByRole('heading', { name: 'Registered names (6)' }).waitFor()
  })
})

for (const viewport of [
  { width: 1200, height: 900 },
  { width: 375, height: 700 },
])
  test(`on a screen of ${viewport.width} pixels, nothing on the first page moves while the element loads`, async () => {
    await visit('/', { viewport }, async page => {
      await page.getByRole('button', { name: 'Use all 2 corrections' }).waitFor()
      const shift = await page.evaluate(
        () =>
          new Promise(resolve => {
            const observer = new PerformanceObserver(list => {
              observer.disconnect()
              resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))
            })
            observer.observe({ type: 'layout-shift', buffered: true })
            setTimeout(() => resolve(0), 1000)
          }),
      )
      assert.ok(shift < 0.1, `${shift}`)
      const place = page.locator('.live')
      const reserved = await place.evaluate(node => Number.parseFloat(getComputedStyle(node).minHeight))
      assert.equal((await place.boundingBox()).height, reserved, 'the element is not taller than its place')
      const measure = async () => (await page.locator('.words').boundingBox()).width
      const width = await measure()
      await place.evaluate(node => node.remove())
      assert.equal(await measure(), width, 'the first column is as wide while the second is being loaded')
    })
  })

test('each program of the first page is as wide as its box', async () => {
  await visit('/', {}, async page => {
    const tabs = await page.locator('.landing .vp-code-group label').all()
    assert.ok(tabs.length > 3)
    for (const tab of tabs) {
      await tab.click()
      const sizes = await page
        .locator('.landing pre')
        .filter({ visible: true })
        .evaluateAll(programs => programs.map(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]))
      assert.equal(sizes.length, 2)
      for (const [inside, box] of sizes)
        assert.ok(inside <= box, `${await tab.textContent()}: ${inside} in ${box} pixels`)
    }
  })
})

test('the search shows an excerpt of each page that it finds', async () => {
  await visit('/', {}, async page => {
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.locator('#localsearch-input').fill('quota')
    const excerpts = page.locator('#localsearch-list .excerpt')
    await excerpts.first().filter({ hasText: /quota/i }).waitFor()
  })
})

test('the first screen shows the program, and the first page leads to the source', async () => {
  await visit('/', { viewport: { width: 1200, height: 900 } }, async page => {
    const code = await page.locator('.first pre').first().boundingBox()
    assert.ok(code.y + code.height < 900, `${code.y + code.height}`)
    await page.getByRole('link', { name: 'Source' }).waitFor()
  })
})

test('each picture has its size, and a screenshot is dark in the dark scheme', async () => {
  const pictures = guides.flatMap(guide => pages.get(guide).match(/<img [^>]+>/g) ?? [])
  assert.ok(pictures.length > 5)
  assert.deepEqual(
    pictures.filter(picture => !/ width="\d+" height="\d+"/.test(picture)),
    [],
  )
  for (const [colorScheme, shown] of [
    ['light', 'on-light'],
    ['dark', 'on-dark'],
  ])
    await visit('/docs/customers-page.html', { colorScheme }, async page => {
      // The pictures of one state of the page exist in one scheme only.
      const visible = page.locator('main img[class]').filter({ visible: true })
      assert.deepEqual(await visible.evaluateAll(images => images.map(image => image.className)), [shown])
    })
})

test('a visitor of the playground finds names of both teams, and a list with corrections', async () => {
  await visit('/playground.html', {}, async page => {
    await page.getByRole('list', { name: 'Registered by team 1' }).getByText('*.example.org').waitFor()
    await page.getByRole('list', { name: 'Registered by team 2' }).getByText('www.example.com').waitFor()
    await page.getByRole('region', { name: 'Team 1' }).getByText('localhost', { exact: true }).first().waitFor()
  })
})

test('each guide shows the version, and leads to its source where the repository is known', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.deepEqual(
    guides.filter(page => !pages.get(page).includes(`domain-registration ${version} · MIT licence`)),
    [],
  )
  assert.equal(config.themeConfig.editLink.pattern, 'https://github.com/owner/name/edit/main/:path')
})

test('the reference has a page for each function, with its options', () => {
  const page = pages.get('/reference/registerDomains.html')
  for (const id of ['registerdomains', 'registerdomainsoptions', 'registerdomainsresponse']) {
    assert.ok(page.includes(`id="${id}"`), id)
  }
})

test('the side bar of the reference leaves out what the names of entry points have in common', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const entries = Object.keys(exports).filter(path => exports[path].import)
  const headings = [...pages.get('/reference/index.html').matchAll(/<h2 class="text"[^>]*>([^<]*)/g)].map(
    ([, text]) => text,
  )
  assert.deepEqual(
    headings.filter(heading => heading !== 'Called first').sort(),
    entries.map(path => (path === '.' ? 'domain-registration' : path.slice(1))).sort(),
  )
})

const withoutBody = () => {
  Object.defineProperty(Request.prototype, 'body', { get: () => undefined })
}

for (const [where, prepare] of [
  ['Chromium', undefined],
  ['a browser whose Request has no body, as in Firefox', withoutBody],
]) {
  test(`in ${where}, two teams in the playground use the element, and the monitor watches their names`, async () => {
    await visit('/playground.html', { prepare }, async page => {
      const team = number => page.getByRole('region', { name: `Team ${number}` })
      const item = (name, text) => page.getByRole('list', { name }).getByText(text, { exact: true })
      await page.getByRole('button', { name: 'Begin again' }).click()
      await page.getByText('*.example.org', { exact: true }).waitFor({ state: 'detached' })
      async function check(number, names) {
        const clear = team(number).getByRole('button', { name: 'Clear the list' })
        if (await clear.isVisible()) await clear.click()
        await team(number)
          .getByLabel(/^Hostnames/)
          .fill(names)
        await page.keyboard.press('Control+Enter')
      }
      async function register(number, names) {
        await check(number, names)
        await team(number)
          .getByRole('button', { name: /^Register \d/ })
          .click()
      }
      await register(1, 'a.example.com')
      await item('Registered by team 1', 'a.example.com').waitFor()
      const shows = (label, text) => page.getByLabel(label, { exact: true }).filter({ hasText: text }).waitFor()
      await shows('Response', /^HTTP\/1.1 200/)
      await shows('curl', /^curl https:.*svc_team_1_/s)
      await check(2, '*.example.com')
      await team(2)
        .getByText(/registered by somebody else/i)
        .waitFor()

      await check(2, '\u0430pple.com')
      await page
        .getByRole('list', { name: 'Look-alikes of team 2' })
        .getByText(/“\u0430” is Cyrillic, not Latin/)
        .waitFor()
      await team(2).getByRole('button', { name: 'Clear the list' }).click()

      await page.getByLabel('is on').uncheck()
      await register(2, 'example.net')
      await page.getByRole('table', { name: 'Pending changes' }).getByText('example.net').waitFor()
      await shows('Response', /^HTTP\/1.1 503/)
      await page.getByLabel('is on').check()
      await page.getByRole('button', { name: 'Sweep now' }).click()
      await item('Watched by the monitor', 'example.net').waitFor()

      await page.getByLabel('refuses the name').fill('bad.example.org')
      await page.getByLabel('refuses the name').press('Tab')
      await register(1, 'bad.example.org\ngood.example.org')
      const pending = page.getByRole('table', { name: 'Pending changes' })
      await pending.getByText(/refuses bad\.example\.org/).waitFor()
      await item('Watched by the monitor', 'good.example.org').waitFor()

      // A person who opens the same address in another browser sees the same state.
      const address = page.url()
      await page.goto('about:blank')
      await page.goto(address)
      await pending.waitFor()
      await item('Registered by team 1', 'good.example.org').waitFor()
      await item('Registered by team 2', 'example.net').waitFor()
    })
  })
}
