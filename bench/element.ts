/**
 * The element in Chromium: how long the page works for a pasted list, and its longest task, which the user feels. Needs
 * `npm ci --prefix test/browser`.
 */
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'
import { passOver, report } from './measure.ts'

if (!existsSync(new URL('../test/browser/node_modules', import.meta.url))) {
  await passOver('`npm ci --prefix test/browser` installs what drives Chromium')
}
// A variable, so that the compiler does not look for the driver, which is installed apart.
const driver = '../test/browser/chromium.js'
const { launchChromium } = await import(driver)
const scratch = mkdtempSync(join(tmpdir(), 'bench-element-'))
const scopes = ['domains:create', 'domains:delete', 'domains:read'] as const
const operations = ['create', 'preview', 'delete', 'list'] as const
const element = readFileSync(new URL('../dist/element.js', import.meta.url))
const html = `<!doctype html><script type="module" src="/element.js"></script>
  <domain-registration url="/v1/domains"></domain-registration>`

/**
 * Chromium counts no script in microtasks, so this counts all tasks of the page, with style, layout and painting.
 *
 * @returns In milliseconds: all tasks of pasting and checking names, the longest task of at least 50, and the tasks of
 *   a frame while the list scrolls.
 */
async function paste(count: number): Promise<{ tasks: number; longest: number; frame: number }> {
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
  const app = express()
  app.get('/', (_, response) => void response.type('html').send(html))
  app.get('/element.js', (_, response) => void response.type('js').send(element))
  app.use(domainsRouter({ store, operations, authenticate: () => ({ type: 'team', teamId: '1', scopes }) }))
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const browser = await launchChromium(scratch)
  try {
    const page = await browser.newPage()
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    const readTasks = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      return 1000 * metrics.find(({ name }: { name: string }) => name === 'TaskDuration').value
    }
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
    await page.locator('#paste').waitFor()
    await page.evaluate(`new PerformanceObserver(list => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration)
    }).observe({ type: 'longtask' })`)
    await page.evaluate(`{
      const name = index => 'n' + index + '.example.com' + (index % 3 ? '' : '/x')
      window.clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', Array.from({ length: ${count} }, (_, index) => name(index)).join('\\n'))
    }`)
    const before = await readTasks()
    await page.evaluate(`{
      window.longest = 0
      const field = document.querySelector('domain-registration').shadowRoot.querySelector('#paste')
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    }`)
    await page.locator('.status', { hasText: 'names can be registered' }).first().waitFor({ timeout: 300_000 })
    const tasks = (await readTasks()) - before
    const longest = Number(await page.evaluate('window.longest'))
    const atStart = await readTasks()
    const frames = 100
    await page.evaluate(`(async () => {
      const box = document.querySelector('domain-registration').shadowRoot.querySelector('[part=add] .list')
      for (let turn = 0; turn < ${frames}; turn += 1) {
        box.scrollTop += 700
        await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
      }
    })()`)
    return { tasks, longest, frame: ((await readTasks()) - atStart) / frames }
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
}

const small = await paste(10_000)
const large = await paste(100_000)
rmSync(scratch, { recursive: true, force: true })
report({
  elementScript: small.tasks / 1000,
  elementTask: small.longest,
  elementLarge: large.tasks / small.tasks,
  elementLargeTask: large.longest,
  elementScroll: small.frame,
})
