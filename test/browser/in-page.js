/**
 * What the element must do inside an application, as checks that run in a page, so that each engine runs the same ones.
 * The page's server has a store for each check, and behaves as the path says; see
 * `engines.js`.
 */
const frame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)))
async function microtasks() {
  for (let turn = 0; turn < 20; turn += 1) await null
}
async function until(look) {
  for (let turn = 0; turn < 1500; turn += 1) {
    const found = await look()
    if (found) return found
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`never: ${look}`)
}
function equal(actual, expected) {
  const [one, other] = [actual, expected].map(value => JSON.stringify(value))
  if (one !== other) throw new Error(`${one} is not ${other}`)
}

let last = 0
const nextUrl = (way = 'teams') => {
  last += 1
  return `/${way}/${last}/domains`
}
const names = (count, prefix = 'n') => Array.from({ length: count }, (_, index) => `${prefix}${index}.example.com`)
const countCalls = async url => (await (await fetch(`/calls?url=${url}`)).json()).count

/** Adds an element to a box of the page, and returns it with what the checks look at. */
function open(url = nextUrl(), box = document.body, properties = {}) {
  const element = Object.assign(document.createElement('domain-registration'), properties)
  element.setAttribute('url', url)
  box.append(element)
  return use(element)
}
function use(element) {
  const find = selector => element.shadowRoot.querySelector(selector)
  const findAll = selector => [...element.shadowRoot.querySelectorAll(selector)].filter(each => each.checkVisibility())
  const button = text => findAll('button').find(each => each.textContent.trim().startsWith(text))
  return {
    element,
    find,
    findAll,
    button,
    focused: () => element.shadowRoot.activeElement,
    status: () => find('#add-status')?.textContent.trim() ?? '',
    async paste(list) {
      const field = await until(() => find('#paste'))
      field.focus()
      field.value = list.join('\n')
      await this.press('Check names')
    },
    async press(text) {
      const found = await until(() => button(text))
      found.focus()
      found.click()
    },
    async register(list) {
      await this.paste(list)
      await this.press(`Register ${list.length} name`)
      await until(() => this.status().startsWith('Done') && find('#names-title').textContent.includes(list.length))
    },
  }
}

/** Moves an element into the document of another window, and registers names there. */
async function worksIn(view, page) {
  await until(() => page.find('section'))
  view.document.body.append(page.element)
  await frame()
  equal(view.getComputedStyle(page.find('section')).borderTopWidth, '1px')
  await page.paste([`${'long-'.repeat(11)}name.example.com`, 'b.example.com'])
  await until(() => page.findAll('[part=add] .row').length === 2)
  await page.press('Register 2 names')
  await until(() => page.status().startsWith('Done'))
}

const boxes = {
  'a modal dialog': 'dialog',
  'a flex row': 'display:flex',
  'a centred column': 'display:flex;flex-direction:column;align-items:center',
  'a grid': 'display:grid;justify-items:start',
  'a float': 'float:left',
  'a box that fits its content': 'width:fit-content',
  'a table cell': 'display:table-cell',
  'an absolute box': 'position:absolute',
  'a narrow column': 'width:280px',
}

export const checks = Object.fromEntries(
  Object.entries(boxes).map(([what, style]) => [
    `it is usable in ${what}`,
    async () => {
      const box = document.createElement(style === 'dialog' ? 'dialog' : 'div')
      // The style sheet of the page has no rule for it, and its policy forbids inline style.
      if (style !== 'dialog') box.style.cssText = style
      document.body.append(box)
      if (style === 'dialog') box.showModal()
      const { find } = open(nextUrl(), box)
      const section = await until(() => find('section'))
      const { width } = section.getBoundingClientRect()
      if (width < 250 || width > innerWidth) throw new Error(`its width is ${width}`)
    },
  ]),
)

Object.assign(checks, {
  async 'a list and a registration survive renders, new options and moves; only another URL starts anew'() {
    const url = nextUrl('slow')
    const page = open(url)
    const { element, find } = page
    await page.paste(names(800))
    await page.press('Register 800 names')
    const box = document.createElement('div')
    document.body.append(box)
    for (let turn = 0; turn < 10; turn += 1) {
      element.options = { headers: { 'X-Token': `token-of-turn-${turn}` } }
      element.words = { addTitle: `Turn ${turn}` }
      element.url = url
      element.setAttribute('url', url)
      await frame()
      if (turn === 3) box.append(element)
      if (turn === 5) element.remove()
      if (turn === 7) document.body.append(element)
    }
    await until(() => page.status().startsWith('Done: 800 names registered'))
    equal(find('#add-title').textContent, 'Turn 9')
    equal(await countCalls(url), 8)
    await page.press('Add more names')
    await page.paste(names(800, 'm'))
    await page.press('Register 800 names')
    await until(() => page.button('Stop'))
    element.url = nextUrl()
    await until(() => find('#paste').checkVisibility() && !page.button('Clear the list'))
    await frame()
    await frame()
    equal(find('.spoken').textContent, '')
  },

  async 'properties that are set before the element is defined, or are undefined, are harmless'() {
    const { find, element } = open(nextUrl(), document.body, { words: undefined, options: undefined })
    await until(() => find('section'))
    element.words = null
    element.options = null
    element.url = '/teams/900/domains'
    await frame()
    await frame()
    equal(element.getAttribute('url'), '/teams/900/domains')
    equal(find('#add-title').textContent, 'Add names')
    element.url = null
    await until(() => element.shadowRoot.textContent.includes('"url"'))
  },

  async 'events bubble out of shadow roots, and the page may show a failure itself'() {
    const host = document.createElement('div')
    document.body.append(host)
    const page = open(nextUrl(), host.attachShadow({ mode: 'open' }))
    const heard = []
    for (const name of ['domains-registered', 'domains-deleted', 'call-failed']) {
      host.addEventListener(name, event => {
        heard.push([name, event.detail.domains?.length ?? event.detail.error.code, event.cancelable])
        if (name === 'call-failed') event.preventDefault()
      })
    }
    await page.register(names(2))
    page.element.url = nextUrl('status/401')
    await until(() => heard.length === 2)
    await frame()
    equal(page.findAll('.alert').length, 0)
    page.element.url = nextUrl()
    await frame()
    await frame()
    await page.register(names(1))
    ;(await until(() => page.findAll('[type=checkbox]')[0])).click()
    await page.press('Delete 1 name')
    await until(() => page.focused()?.matches('.confirm'))
    page.focused().click()
    await until(() => heard.length === 4)
    equal(heard, [
      ['domains-registered', 2, false],
      ['call-failed', 'unauthorized', true],
      ['domains-registered', 1, false],
      ['domains-deleted', 1, false],
    ])
  },

  async 'a session that is over says to sign in again, whatever comes in its place'() {
    for (const way of ['status/302', 'status/200', 'status/401', 'status/403', 'status/419']) {
      const page = open(nextUrl(way))
      const alert = await until(() => page.find('.alert'))
      if (!/Sign in again/.test(alert.textContent)) throw new Error(`${way}: ${alert.textContent}`)
      page.element.remove()
    }
  },

  async 'names appear that the page itself has registered, once it calls reload'() {
    const url = nextUrl()
    const { element, find } = open(url)
    await until(() => find('.empty')?.textContent === 'No names yet. Paste some above.')
    const body = JSON.stringify({ domains: ['own.example.com'] })
    await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    await element.reload()
    await until(() => find('#names-title').textContent === 'Registered names (1)')
  },

  async 'a key presses nothing that was scrolled away, and what is being written stays'() {
    const page = open()
    await page.register(names(300))
    const [list, box] = [page.find('[part=names] .list'), await until(() => page.findAll('[type=checkbox]')[0])]
    box.focus()
    box.click()
    // WebKit scrolls to what gets the focus a moment later.
    await frame()
    await frame()
    list.scrollTop = 5000
    await until(() => page.focused() === list)
    equal(page.findAll('input:checked').length, 0)
    list.scrollTop = 0
    await until(() => page.findAll('input:checked').length === 1)

    await page.press('Clear the list')
    await page.paste([...names(300, 'm').map(name => `${name}/path`)])
    await until(() => page.status().includes('300 need'))
    const rows = page.find('[part=add] .list')
    page.find('[data-action=edit]').click()
    const field = await until(() => page.find('.list input[type=text]'))
    field.focus()
    field.value = 'draft.example.com'
    field.dispatchEvent(new Event('input', { bubbles: true, composed: true }))
    for (const top of [9000, 0]) {
      rows.scrollTop = top
      await frame()
      await frame()
    }
    equal([page.focused() === field, field.value], [true, 'draft.example.com'])
    const key = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, composed: true, cancelable: true })
    let isHeard = false
    document.body.addEventListener('keydown', () => {
      isHeard = true
    })
    field.dispatchEvent(key)
    equal([key.defaultPrevented, isHeard], [true, false])
  },

  async 'the focus goes to the next step or the status, never to the body'() {
    const page = open(nextUrl('slow'))
    await page.paste([...names(900), 'https://a.example.org/'])
    await until(() => page.focused()?.matches('#add-status'))
    await page.press('Use the correction')
    await until(() => page.button('Register 901 names'))
    equal(page.focused()?.id, 'add-status')
    await page.press('Register 901 names')
    await page.press('Stop')
    await until(() => page.button('Continue'))
    equal(page.focused()?.id, 'add-status')
    await page.press('Continue')
    await until(() => page.status().startsWith('Done'))
    equal(page.focused()?.id, 'add-status')
    await until(() => page.find('#names-title').textContent.includes('901'))
    await page.press('Clear the list')
    await until(() => page.focused()?.matches('#paste'))
    await page.press('Select all')
    const ask = await until(() => page.button('Delete 901 names'))
    ask.focus()
    // Something else is to be drawn with the next frame; a key would not wait for that.
    page.element.words = {}
    await microtasks()
    ask.click()
    await microtasks()
    equal(page.focused()?.matches('.confirm'), true)
    page.focused().click()
    await until(() => page.find('.empty').checkVisibility())
    equal(page.focused()?.id, 'names-status')
  },

  async 'the page asks before it is left while something runs, and only then'() {
    const asks = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
    const page = open(nextUrl('slow'))
    await page.paste(names(300))
    await until(() => page.button('Register 300 names'))
    equal(asks(), false)
    await page.press('Register 300 names')
    await until(asks)
    await until(() => page.status().startsWith('Done'))
    await until(() => !asks())
  },

  async 'retries are told, and a deletion has progress and can be stopped'() {
    const page = open(nextUrl('slow'))
    await page.register(names(900))
    await page.press('Select all')
    await page.press('Delete 900 names')
    equal((await until(() => page.find('#question'))).textContent.includes('n0.example.com'), false)
    equal(page.find('#question bdi').textContent, page.find('[part=names] .row bdi').textContent)
    page.find('.confirm').click()
    await until(() => /^Deleted [1-9]/.test(page.find('#names-status').textContent))
    equal(page.find('[part=names] progress').checkVisibility(), true)
    equal(page.find('.bin').disabled, true)
    await page.press('Stop')
    await until(() => /names deleted\.$/.test(page.find('#names-status').textContent))

    const flaky = open(nextUrl('flaky'))
    await flaky.paste(['a.example.com', 'b.example.com'])
    await until(() => flaky.status() === 'No answer yet. Trying again…')
    await until(() => flaky.button('Register 2 names'))
  },

  async 'it works in the document of a frame, and follows its width'() {
    const box = document.createElement('iframe')
    box.width = 900
    document.body.append(box)
    const page = open()
    await worksIn(box.contentWindow, page)
    const [first, second] = page.findAll('[part=add] .row')
    const { height } = first.getBoundingClientRect()
    box.width = 300
    await until(() => first.getBoundingClientRect().height > height)
    await until(() => second.getBoundingClientRect().top >= first.getBoundingClientRect().bottom)
  },

  async 'it goes on in the page if its frame is gone before it has drawn'() {
    const box = document.createElement('iframe')
    document.body.append(box)
    const { element, find } = open()
    await until(() => find('section'))
    box.contentDocument.body.append(element)
    await frame()
    await frame()
    element.words = { addTitle: 'Moved' }
    // The frame is asked for in a microtask, and would come in a later task.
    await microtasks()
    box.remove()
    document.body.append(element)
    await until(() => find('#add-title').textContent === 'Moved')
  },

  async 'it works in the document of a window that the page opens'() {
    const popup = window.open('', '', 'width=500,height=400')
    try {
      await worksIn(popup, open())
    } finally {
      popup.close()
    }
  },

  async 'an application shows its own state of each name, by a function or by a child'() {
    const page = open()
    await page.register(['a.example.com', 'b.example.com', 'c.example.com'])
    let made = 0
    page.element.renderState = ({ domain }) => {
      made += 1
      return domain === 'a.example.com' ? 'pending' : document.createElement('progress')
    }
    const child = document.createElement('b')
    child.slot = 'c.example.com'
    child.textContent = 'active'
    page.element.append(child)
    await until(() => page.find('slot[name="a.example.com"]').textContent === 'pending')
    await until(() => page.find('slot[name="b.example.com"] progress'))
    equal(child.checkVisibility() && child.getBoundingClientRect().width > 0, true)
    page.element.words = { search: 'Find' }
    await frame()
    await frame()
    await page.element.reload()
    await frame()
    await frame()
    equal(made, 3)
  },

  async 'each sentence is announced, although the one before was the same'() {
    const page = open()
    await page.register(names(3))
    const spoken = []
    new MutationObserver(changes => {
      for (const { addedNodes } of changes) for (const node of addedNodes) spoken.push(node.textContent)
    }).observe(page.find('.spoken'), { childList: true, subtree: true, characterData: true })
    for (const left of [2, 1]) {
      page.find('.bin').click()
      ;(await until(() => page.find('.confirm'))).click()
      await until(() => page.findAll('.bin').length === left && !page.find('.bin').disabled)
    }
    // On a slow machine, progress is announced in between.
    equal(
      spoken.filter(text => text.endsWith('deleted.')),
      ['1 name deleted.', '1 name deleted.'],
    )
  },

  async 'a state of the application that fails is reported once, and the list goes on without it'() {
    const page = open()
    await page.register(names(3))
    const reported = []
    const note = event => {
      event.preventDefault()
      reported.push(event.error.message)
    }
    addEventListener('error', note)
    page.element.renderState = ({ domain }) => {
      if (domain === 'n1.example.com') throw new Error('no state')
      return `state of ${domain}`
    }
    await until(() => page.find('slot[name="n2.example.com"]').textContent === 'state of n2.example.com')
    equal(page.find('slot[name="n0.example.com"]').textContent, 'state of n0.example.com')
    equal(page.find('slot[name="n1.example.com"]').textContent, '')
    page.find('.bin').click()
    ;(await until(() => page.find('.confirm'))).click()
    await until(() => page.findAll('[part=names] .row').length === 2)
    removeEventListener('error', note)
    equal(reported, ['no state'])
  },

  async 'an element that stays outside the document stops, and tells what it has registered'() {
    const url = nextUrl('slow')
    const page = open(url)
    const told = []
    page.element.addEventListener('domains-registered', ({ detail }) => told.push(detail.domains.length))
    await page.paste(names(3000))
    await page.press('Register 3,000 names')
    await until(() => page.status().startsWith('Registered '))
    page.element.remove()
    await until(() => told.length > 0)
    const calls = await countCalls(url)
    if (told[0] === 0 || told[0] >= 3000) throw new Error(`${told[0]} names were registered`)
    document.body.append(page.element)
    await until(() => page.status().startsWith('Stopped.'))
    equal(await countCalls(url), calls)
  },

  async 'what a page says about white space and hyphens changes nothing in the element'() {
    const pages = []
    for (const style of ['', 'white-space: pre-wrap; hyphens: auto; word-break: break-all; text-indent: 3em']) {
      const box = document.createElement('div')
      box.style.cssText = `width: 600px; ${style}`
      document.body.append(box)
      const page = open(nextUrl(), box)
      await page.paste([...names(2), 'https://b.example.com/x'])
      await until(() => page.status().includes('1 needs'))
      await until(() => page.findAll('[part=add] .row').length === 1)
      await until(() => page.find('.empty').textContent === 'No names yet. Paste some above.')
      pages.push(page)
    }
    await until(() => pages.every(({ find }) => find('.detail').getBoundingClientRect().height > 0))
    await until(() => {
      const [height, other] = pages.map(({ element }) => element.getBoundingClientRect().height)
      return other === height
    })
  },

  async 'in a frame that may not submit forms, buttons and Enter do the same'() {
    const box = document.createElement('iframe')
    box.sandbox = 'allow-scripts allow-same-origin'
    box.src = '/frame'
    document.body.append(box)
    await new Promise(resolve => {
      box.onload = resolve
    })
    const page = use(await until(() => box.contentDocument.querySelector('domain-registration')))
    const write = (field, text) => {
      field.value = text
      field.dispatchEvent(new box.contentWindow.Event('input', { bubbles: true, composed: true }))
    }
    const enter = field => {
      const init = { key: 'Enter', bubbles: true, composed: true, cancelable: true }
      field.dispatchEvent(new box.contentWindow.KeyboardEvent('keydown', init))
    }
    await page.paste(['a.example.com', 'b@example.com'])
    await until(() => page.status().startsWith('1 name can be registered'))
    await page.press('Edit')
    const field = await until(() => page.find('.list input[type=text]'))
    write(field, 'b.example.com')
    enter(field)
    await page.press('Register 2 names')
    await until(() => page.find('#names-title').textContent === 'Registered names (2)')
    const search = page.find('[type=search]')
    for (const [question, ask] of [
      ['b.exam', () => enter(search)],
      ['a.exam', () => page.press('Search')],
    ]) {
      write(search, question)
      await ask()
      await until(() => page.findAll('[part=names] .row').length === 1)
      await until(() => page.find('[part=names] .row bdi').textContent === `${question}ple.com`)
    }
    await page.press('Add more names')
    const paste = page.find('#paste')
    paste.value = 'Nr\tHost\n1\tc.example.com\n'
    await page.press('Check names')
    await until(() => page.find('#column'))
    await page.press('Check names')
    await page.press('Register 1 name')
    await until(() => page.find('#names-title').textContent.includes('3'))
  },

  async 'a module that is loaded twice exports the class that is defined'() {
    const [first, second] = await Promise.all([import('/element.js'), import('/element.js?again')])
    const element = new second.DomainRegistrationElement()
    equal(element instanceof first.DomainRegistrationElement, true)
    equal(document.createElement('domain-registration') instanceof second.DomainRegistrationElement, true)
  },

  async 'in the document of a frame, the frame itself tells how wide its lists are'() {
    const box = document.createElement('iframe')
    document.body.append(box)
    const view = box.contentWindow
    let observed = 0
    view.ResizeObserver = class extends view.ResizeObserver {
      observe(...observation) {
        observed += 1
        super.observe(...observation)
      }
    }
    await worksIn(view, open())
    equal(observed > 0, true)
  },

  async 'in a page from right to left, names keep the order of their labels'() {
    document.documentElement.dir = 'rtl'
    const page = open()
    await page.paste(['*.example.com', 'https://b.example.com/x'])
    await until(() => page.find('.row bdi'))
    // Two rows need no scrollbar.
    const list = page.find('[part=add] .list')
    await until(() => list.scrollHeight === list.clientHeight)
    const isolated = page.findAll('bdi').filter(each => each.textContent !== '')
    equal([...new Set(isolated.map(each => getComputedStyle(each).direction))], ['ltr'])
    equal(page.findAll('.row').map(row => getComputedStyle(row).direction)[0], 'rtl')
    equal(page.find('#paste').dir, 'ltr')
    equal(page.find('[type=search]').dir, 'ltr')
    document.documentElement.dir = ''
  },
})

/** @returns For each check that fails, its name and why. */
export async function runChecks(pattern) {
  const failed = []
  const chosen = Object.entries(checks).filter(([name]) => pattern.test(name))
  for (const [name, check] of chosen) {
    try {
      await check()
    } catch (error) {
      failed.push(`${name}: ${error.message}`)
    }
    document.body.replaceChildren()
  }
  return { failed, count: chosen.length }
}
