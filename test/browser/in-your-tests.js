/** The element in what users' own tests run in: documents without a layout, jsdom and happy-dom. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Window } from 'happy-dom'
import { JSDOM } from 'jsdom'
import { domainsHandler } from '../../dist/fetch.js'
import { createMemoryStore } from '../../dist/index.js'

const element = readFileSync(new URL('../../dist/element.cjs', import.meta.url), 'utf8')
const url = 'https://example.com/names'
const settings = { runScripts: 'outside-only', pretendToBeVisual: true, url }
const documents = {
  jsdom: () => new JSDOM('<!doctype html><body></body>', settings).window,
  'happy-dom': () => new Window({ url }),
}

for (const [name, open] of Object.entries(documents)) {
  test(`in ${name}, a list is pasted and registered, and the first rows are drawn`, async () => {
    const window = open()
    const complaints = []
    window.addEventListener('error', ({ message }) => complaints.push(message))
    const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
    const handle = domainsHandler({
      store,
      operations: ['create', 'preview', 'list', 'delete'],
      authenticate: () => ({ type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read', 'domains:delete'] }),
    })
    // The programs of a test runner share their globals with the document.
    const names = ['document', 'customElements', 'HTMLElement', 'CustomEvent', 'Event', 'Node', 'CSSStyleSheet']
    const before = Object.fromEntries([...names, 'window'].map(each => [each, globalThis[each]]))
    Object.assign(globalThis, Object.fromEntries(names.map(each => [each, window[each]])), { window })
    try {
      new Function('module', 'exports', 'require', element)({ exports: {} }, {}, () => ({}))
      const page = window.document.createElement('domain-registration')
      page.options = { fetch: (address, init) => handle(new Request(address, init)) }
      page.url = '/v1/domains'
      window.document.body.append(page)
      const until = async look => {
        for (let turn = 0; turn < 500; turn += 1) {
          const found = look()
          if (found) return found
          await new Promise(resolve => setTimeout(resolve, 10))
        }
        throw new Error(`never: ${look}, in ${page.shadowRoot.textContent.replace(/\s+/g, ' ')}`)
      }
      const press = async text => {
        const find = () => [...page.shadowRoot.querySelectorAll('button')].find(each => each.textContent.includes(text))
        ;(await until(find)).click()
      }
      const field = await until(() => page.shadowRoot?.querySelector('textarea'))
      field.value = 'a.example.com\nb.example.com'
      await press('Check names')
      await press('Register 2 names')
      await until(() => page.shadowRoot.textContent.includes('Registered names (2)'))
      await until(() => page.shadowRoot.querySelectorAll('[part=names] .row').length === 2)
      assert.equal(await store.count({ teamId: '1' }), 2)
      assert.deepEqual(complaints, [])
      page.remove()
    } finally {
      Object.assign(globalThis, before)
      await window.happyDOM?.close()
      window.close()
    }
  })
}
