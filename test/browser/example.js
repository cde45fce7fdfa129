import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launchChromium } from './chromium.js'

/**
 * Starts Chromium, and an example on a free port, before the tests of a file. Ends Chromium and the example after the
 * tests.
 *
 * @param wanted Patterns by name, which are matched against the output of the example.
 * @returns An object with `openPage` and, once the tests begin, the matches by name.
 */
export function startExample(name, wanted) {
  const scratch = mkdtempSync(join(tmpdir(), 'browser-'))
  const example = { openPage }
  const isRead = () => Object.keys(wanted).every(key => example[key])
  let server
  let browser

  before(async () => {
    server = spawn(process.execPath, ['--import', 'tsx', `examples/${name}`], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, PORT: '0', DATABASE_FILE: ':memory:' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      printed += text
      for (const [key, pattern] of Object.entries(wanted)) example[key] ??= pattern.exec(printed)?.[0]
      if (isRead()) break
    }
    assert.ok(isRead(), printed)
    server.stdout.resume()
    browser = await launchChromium(scratch)
  })
  after(async () => {
    await browser?.close()
    server?.kill()
    rmSync(scratch, { recursive: true, force: true })
  })

  /** Opens a page in a fresh profile, and adds the errors on the page's console to `complaints`. */
  async function openPage(options) {
    const page = await (await browser.newContext(options)).newPage()
    const complaints = []
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    return { page, complaints }
  }

  return example
}
