/**
 * Runs the checks of `in-page.js` in Chromium and in the engines of other browsers, if these are installed: Firefox,
 * and WebKit's MiniBrowser in a virtual display. `CHECKS=announced` runs only the checks whose names match.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import express from 'express'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore } from '../../dist/index.js'
import { launchChromium } from './chromium.js'
import { display, firefox, miniBrowser } from './engines-here.js'

const { CHECKS = '' } = process.env

const script = `
  import '/element.js'
  import { runChecks } from '/in-page.js'
  const pattern = new RegExp(decodeURIComponent(location.hash.slice(1)))
  fetch('/report', { method: 'POST', body: JSON.stringify(await runChecks(pattern)) })`
const html = `<!doctype html><meta charset="utf-8"><title>Checks</title><body></body>
  <script type="module" src="/script.js"></script>`
const frame = `<!doctype html><meta charset="utf-8"><title>A frame</title>
  <domain-registration url="/teams/of-the-frame/domains"></domain-registration>
  <script type="module" src="/element.js"></script>`
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src 'self'; require-trusted-types-for 'script'; " +
  "trusted-types lit-html 'allow-duplicates'"
const read = path => readFileSync(new URL(path, import.meta.url))
const files = {
  '/': ['text/html; charset=utf-8', html],
  '/frame': ['text/html; charset=utf-8', frame],
  '/script.js': ['text/javascript; charset=utf-8', script],
  '/in-page.js': ['text/javascript; charset=utf-8', read('in-page.js')],
  '/element.js': ['text/javascript', read('../../dist/element.js')],
}

const scopes = ['domains:create', 'domains:delete', 'domains:read']

const createEmptyService = () =>
  express().use(
    domainsRouter({
      store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
      path: '/domains',
      operations: ['create', 'preview', 'delete', 'list'],
      authenticate: () => ({ type: 'team', teamId: '1', scopes }),
    }),
  )

/** A service in which the path says how it behaves, and which of any number of empty stores it has. */
function createService() {
  const counts = new Map()
  const services = new Map()
  const service = express()
  service.get('/calls', ({ query }, response) => response.json({ count: counts.get(query.url) ?? 0 }))
  service.use('/status/:status', ({ params }, response) => {
    const status = Number(params.status)
    if (status === 302) return response.redirect('/')
    if (status === 401) return response.status(401).json({ error: 'unauthorized', message: 'Log in.' })
    response.status(status).type('html').send('<title>Sign in</title>')
  })
  const flaky = new Set()
  service.use('/flaky', ({ method, url }, response, next) => {
    if (method !== 'POST' || flaky.has(url)) return next()
    flaky.add(url)
    response.status(503).end()
  })
  service.use('/slow', ({ method, originalUrl }, _, next) => {
    if (method !== 'POST') return next()
    counts.set(originalUrl, (counts.get(originalUrl) ?? 0) + 1)
    setTimeout(next, 400)
  })
  return service.use('/:way/:store', (request, response, next) => {
    const { store } = request.params
    if (!services.has(store)) services.set(store, createEmptyService())
    services.get(store)(request, response, next)
  })
}

/** @param start Opens an address in a browser. Returns how to close it, and a promise of its early end. */
async function tryIn(start) {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const service = createService()
  let tell
  const reported = new Promise(resolve => {
    tell = resolve
  })
  const server = createServer(async (request, response) => {
    const [type, body] = files[request.url.split('?')[0]] ?? []
    if (type) return response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body)
    if (request.url !== '/report') return service(request, response)
    let text = ''
    for await (const part of request) text += part
    response.end()
    tell(JSON.parse(text))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const browser = await start(`http://localhost:${server.address().port}/#${encodeURIComponent(CHECKS)}`, folder)
  try {
    const { failed, count } = await Promise.race([reported, browser.ended])
    assert.deepEqual(failed, [])
    assert.ok(CHECKS ? count > 0 : count > 15)
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function startChromium(address, folder) {
  const browser = await launchChromium(folder)
  const page = await browser.newPage()
  await page.goto(address)
  return { ended: new Promise(() => {}), close: () => browser.close() }
}
const startProgram = (command, parameters) => async (address, folder) => {
  // The folder is removed at the end, with what the programs leave in it.
  const env = { ...process.env, HOME: folder, TMPDIR: folder, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }
  // A process group of its own, so the browser's own processes end as well.
  const browser = spawn(command, [...parameters(folder), address], { env, stdio: 'ignore', detached: true })
  return {
    ended: once(browser, 'exit').then(([code]) => ({ failed: [`the browser ended with ${code}`] })),
    async close() {
      if (browser.exitCode !== null) return
      process.kill(-browser.pid, 'SIGTERM')
      await once(browser, 'exit')
    },
  }
}

const limit = { timeout: 120_000 }

test('Chromium', limit, () => tryIn(startChromium))
test(`Firefox${firefox ? '' : ', which is not installed here'}`, { ...limit, skip: !firefox }, () =>
  tryIn(
    startProgram(firefox, folder => {
      // Otherwise, a page may open a window only after a click.
      writeFileSync(join(folder, 'user.js'), 'user_pref("dom.disable_open_during_load", false);')
      return ['--headless', '--no-remote', '--profile', folder]
    }),
  ),
)
const webKit = { ...limit, skip: !miniBrowser || !display }
test(`WebKit${webKit.skip ? ', which is not installed here' : ''}`, webKit, () =>
  tryIn(startProgram(display, () => ['-a', miniBrowser, '--javascript-can-open-windows-automatically=true'])),
)
