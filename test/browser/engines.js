/**
 * Uses the element, and with it the client, in the engines of other browsers, if these are installed: Firefox, and
 * WebKit's MiniBrowser in a virtual display. A script of the page does what a customer would do, and reports what the
 * element then shows.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import express from 'express'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryStore } from '../../dist/index.js'

/** Runs in the page: pastes 251 names, one of them to correct, uses the correction, and registers all. */
const script = `
  const report = result => fetch('/report', { method: 'POST', body: JSON.stringify(result) })
  const until = async look => {
    for (let turn = 0; turn < 1000; turn += 1) {
      const found = look()
      if (found) return found
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    throw new Error('never: ' + look)
  }
  try {
    await import('/element.js')
    const root = await until(() => document.querySelector('domain-registration').shadowRoot)
    const field = await until(() => root.querySelector('textarea'))
    const names = Array.from({ length: 250 }, (_, index) => 'n' + index + '.example.com')
    field.value = [...names, 'https://bücher.example.org/x'].join('\\n')
    root.querySelector('form').requestSubmit()
    const find = text => [...root.querySelectorAll('button')].find(each => !each.hidden && each.textContent === text)
    ;(await until(() => find('Use the correction'))).click()
    ;(await until(() => find('Register 251 names'))).click()
    await until(() => root.querySelector('#names-title').textContent === 'Registered names (251)')
    report({ status: root.querySelector('.status').textContent, drawn: root.querySelectorAll('.row').length })
  } catch (error) {
    report({ error: String(error) })
  }`
const html = `<!doctype html><meta charset="utf-8"><domain-registration url="/v1/domains"></domain-registration>
  <script type="module" src="/script.js"></script>`
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'"
const files = {
  '/': ['text/html; charset=utf-8', html],
  '/script.js': ['text/javascript; charset=utf-8', script],
  '/element.js': ['text/javascript', readFileSync(new URL('../../dist/element.js', import.meta.url))],
}

async function tryIn(command, parameters) {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
  const caller = { type: 'team', teamId: '1', scopes: ['domains:create', 'domains:delete', 'domains:read'] }
  const operations = ['create', 'preview', 'delete', 'list']
  const service = express().use(domainsRouter({ store, operations, authenticate: () => caller }))
  let tell
  const reported = new Promise(resolve => {
    tell = resolve
  })
  const server = createServer(async (request, response) => {
    const [type, body] = files[request.url] ?? []
    if (type) return response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body)
    if (request.url !== '/report') return service(request, response)
    let text = ''
    for await (const part of request) text += part
    response.end()
    tell(JSON.parse(text))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${server.address().port}/`
  // The folder is removed at the end, with what the programs leave in it.
  const env = { ...process.env, HOME: folder, TMPDIR: folder, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }
  // A process group of its own, so the browser's own processes end as well.
  const browser = spawn(command, [...parameters(folder), address], { env, stdio: 'ignore', detached: true })
  try {
    const ended = once(browser, 'exit').then(([code]) => ({ error: `the browser ended with ${code}` }))
    assert.deepEqual(
      await Promise.race([reported, ended]).then(({ error, status }) => error ?? status),
      'Done: 251 names registered.',
    )
    assert.equal(store.count({ teamId: '1' }), 251)
  } finally {
    if (browser.exitCode === null) {
      process.kill(-browser.pid, 'SIGTERM')
      await once(browser, 'exit')
    }
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const findOne = paths => paths.find(path => existsSync(path))
const firefox = findOne(['/usr/bin/firefox-esr', '/usr/bin/firefox'])
const miniBrowser = findOne(
  ['6.0', '4.1', '4.0'].map(
    version =>
      `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/webkit2gtk-${version}/MiniBrowser`,
  ),
)
const display = findOne(['/usr/bin/xvfb-run'])
const limit = { timeout: 120_000 }

test(`Firefox${firefox ? '' : ', which is not installed here'}`, { ...limit, skip: !firefox }, () =>
  tryIn(firefox, folder => ['--headless', '--no-remote', '--profile', folder]),
)
const webKit = { ...limit, skip: !miniBrowser || !display }
test(`WebKit${webKit.skip ? ', which is not installed here' : ''}`, webKit, () =>
  tryIn(display, () => ['-a', miniBrowser]),
)
