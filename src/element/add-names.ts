import { CallError } from '../client/call.ts'
import { PreviewAllError } from '../client/preview-all.ts'
import { registerAll } from '../client/register-all.ts'
import { createRun } from '../client/run.ts'
import { previewFields } from '../client/send-part.ts'
import type { DomainResult, InvalidPreview, InvalidResult, PreviewResult } from '../wire/response.ts'
import { create, createAlert, createButton } from './dom.ts'
import { createName, explainFailure, isNotOffered, PATIENCE, type Surface } from './panel.ts'
import { type PastedList, readFile, readList } from './read-list.ts'
import { createWindowedList, type ListEntry } from './windowed-list.ts'

type RowState = 'unchecked' | 'ready' | 'held' | 'twin' | 'wrong' | 'registered'

/** A name of the list, from the moment it is pasted until it is registered or removed. */
interface Row extends ListEntry {
  /** What is sent: the pasted text, a correction, or what the user wrote instead. */
  text: string
  /** What was pasted. */
  readonly origin: string
  state: RowState
  /** The canonical form, once the service has accepted the name. */
  domain?: string | undefined
  rejection?: InvalidResult | InvalidPreview | undefined
  /** The limit of the team leaves no room for the name. */
  hasNoRoom?: boolean
  isEdited?: boolean
}

type Filter = 'all' | 'toCorrect' | 'ready' | 'finished'

const filters: Readonly<Record<Filter, (row: Row) => boolean>> = {
  all: () => true,
  toCorrect: ({ state }) => state === 'wrong',
  ready: ({ state }) => state === 'ready' || state === 'unchecked',
  finished: ({ state }) => state === 'registered' || state === 'held',
}

/** After this many milliseconds without progress, the element says that it still waits. */
const LONG_WAIT = 5000

const marks: Readonly<Record<RowState, string>> = {
  unchecked: '…',
  ready: '✓',
  held: '✓',
  twin: '=',
  wrong: '!',
  registered: '✓',
}

/** The part of the element in which names are pasted, checked, corrected and registered. */
export function createAddNames(surface: Surface, onRegistered: () => void): HTMLElement {
  const { words, announcer } = surface
  let rows: Row[] = []
  let repeated = 0
  let filter: Filter = 'all'
  /** Aborts the running check or registration. */
  let running: AbortController | undefined
  let isStopped = false
  /** After names were added and checked, those that are wrong are shown first. */
  let isNewList = false
  let registeredNow = 0

  // The form.
  const field = create('textarea', {
    id: 'paste',
    part: 'field',
    rows: '4',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    placeholder: words.placeholder,
  })
  const picker = create('input', { type: 'file', accept: '.txt,.csv,.tsv,text/plain,text/csv', tabindex: '-1' })
  picker.hidden = true
  const column = create('select', { id: 'column', part: 'field' })
  const addColumn = createButton('primary', words.check, () => addTable())
  const chooser = create(
    'div',
    { class: 'chooser' },
    create('label', { class: 'block', for: 'column' }, words.column),
    column,
    create(
      'div',
      { class: 'actions' },
      addColumn,
      createButton('plain', words.cancelColumn, () => closeTable()),
    ),
  )
  chooser.hidden = true
  const submit = create('button', { type: 'submit', part: 'button' }, words.check)
  const form = create(
    'form',
    {},
    create('label', { class: 'block', for: 'paste' }, words.paste),
    field,
    create(
      'div',
      { class: 'actions' },
      submit,
      createButton('', words.chooseFile, () => picker.click()),
      create('span', { class: 'hint' }, words.dropHint),
    ),
    picker,
  )

  // The list.
  const filterButtons = Object.fromEntries(
    (Object.keys(filters) as Filter[]).map(name => [name, createButton('', '', () => choose(name))]),
  ) as Record<Filter, HTMLButtonElement>
  const registerButton = createButton('primary', '', () => void (count('unchecked') > 0 ? check() : register()))
  const stopButton = createButton('', words.stop, () => stop())
  const correctButton = createButton('fix', '', () => useAllCorrections())
  const removeWrongButton = createButton('plain', '', () => remove(rows.filter(filters.toCorrect)))
  const clearButton = createButton('plain spread', words.clear, () => remove(rows))
  const progress = create('progress', { part: 'progress', 'aria-label': words.list })
  const status = create('p', { class: 'status', part: 'status' })
  const alert = createAlert()
  const list = createWindowedList(drawRow)
  list.box.setAttribute('aria-label', words.list)
  const results = create(
    'div',
    { class: 'results' },
    create('div', { class: 'actions filters' }, ...Object.values(filterButtons)),
    create('div', { class: 'actions' }, registerButton, stopButton, correctButton, removeWrongButton, clearButton),
    progress,
    status,
  )
  results.hidden = true
  list.box.hidden = true
  const section = create(
    'section',
    { part: 'add', 'aria-labelledby': 'add-title' },
    create('h2', { id: 'add-title', part: 'title' }, words.addTitle),
    form,
    chooser,
    results,
    alert.box,
    list.box,
  )

  // Reading what is pasted, dropped or chosen.
  form.addEventListener('submit', event => {
    event.preventDefault()
    read(field.value)
  })
  field.addEventListener('paste', event => {
    const text = event.clipboardData?.getData('text/plain') ?? ''
    // A part of a name is pasted into a text that is being written.
    if (field.value.trim() !== '' || !/[\r\n\t]/.test(text.trim())) return
    event.preventDefault()
    read(text)
  })
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  picker.addEventListener('change', () => {
    const [file] = picker.files ?? []
    if (file) void readDropped(file)
    picker.value = ''
  })
  section.addEventListener('dragover', event => {
    event.preventDefault()
    section.classList.add('drop')
  })
  section.addEventListener('dragleave', () => section.classList.remove('drop'))
  section.addEventListener('drop', event => {
    event.preventDefault()
    section.classList.remove('drop')
    const [file] = event.dataTransfer?.files ?? []
    if (file) void readDropped(file)
    else read(event.dataTransfer?.getData('text/plain') ?? '')
  })

  async function readDropped(file: Blob): Promise<void> {
    // A dropped folder cannot be read.
    const text = await readFile(file).catch(() => undefined)
    if (text === undefined) {
      alert.show(words.notText)
      show()
    } else read(text)
  }

  let table: Extract<PastedList, { rows: unknown }> | undefined
  function read(text: string): void {
    const pasted = readList(text)
    if ('names' in pasted) {
      add(pasted.names)
      return
    }
    table = pasted
    const width = pasted.rows.reduce((widest, { length }) => Math.max(widest, length), 0)
    const options = Array.from({ length: width }, (_, index) => {
      const title = pasted.titles[index] || words.columnNumber(index + 1)
      const example = pasted.rows.find(cells => cells[index])?.[index] ?? ''
      return create('option', { value: String(index) }, example === '' ? title : `${title} (${example.slice(0, 40)})`)
    })
    column.replaceChildren(...options)
    column.value = String(pasted.column)
    chooser.hidden = false
    form.hidden = true
    column.focus()
  }
  function addTable(): void {
    const index = Number(column.value)
    const names = table?.rows.map(cells => cells[index] ?? '') ?? []
    closeTable()
    add(names)
  }
  function closeTable(): void {
    table = undefined
    chooser.hidden = true
    form.hidden = false
  }

  function add(names: readonly string[]): void {
    alert.hide()
    const known = new Set(rows.map(({ text }) => text))
    for (const name of names.map(each => each.trim())) {
      if (name === '') continue
      if (known.has(name)) repeated += 1
      else rows.push({ text: name, origin: name, state: 'unchecked', version: 0 })
      known.add(name)
    }
    if (rows.length === 0) {
      alert.show(words.nothingFound)
      return
    }
    field.value = ''
    isStopped = false
    isNewList = true
    filter = 'all'
    list.box.scrollTop = 0
    void check()
  }

  // Checking.
  function mark(row: Row, change: Partial<Row>): void {
    Object.assign(row, change)
    row.version += 1
  }

  async function check(): Promise<void> {
    if (running) return
    isStopped = false
    await run('check', async (signal, onStep) => {
      for (;;) {
        const waiting = rows.filter(({ state }) => state === 'unchecked')
        if (waiting.length === 0) break
        const byText = new Map(waiting.map(row => [row.text, row]))
        const byDomain = new Map(rows.flatMap(row => (row.domain && row.state !== 'twin' ? [[row.domain, row]] : [])))
        const operation = {
          path: '/preview',
          fields: previewFields,
          Failure: PreviewAllError,
          // A result without a `domain`.
          resultAtLimit: (input: string) => ({ status: 'created', input }),
        } as const
        const options = {
          ...surface.callOptions(signal),
          patience: PATIENCE,
          onProgress({ done, results }: { done: number; results: readonly PreviewResult[] }) {
            for (const result of results) settle(byText.get(result.input), result, byDomain)
            onStep(words.checking(done, waiting.length), done, waiting.length)
          },
        }
        await createRun<PreviewResult, unknown>([...byText.keys()], options, operation, all => all)
      }
      const [ready, wrong] = [count('ready'), count('wrong')]
      report(words.checked(ready, wrong, repeated + count('twin')))
      repeated = 0
      if (isNewList && wrong > 0) choose('toCorrect')
      isNewList = false
    })
  }

  function settle(row: Row | undefined, result: PreviewResult, byDomain: Map<string, Row>): void {
    if (row?.state !== 'unchecked') return
    if (result.status === 'invalid') {
      mark(row, { state: 'wrong', rejection: result, domain: undefined })
    } else if (!('domain' in result)) {
      // Only the result of a name that has no room has no `domain`.
      mark(row, { state: 'wrong', hasNoRoom: true, rejection: undefined, domain: undefined })
    } else {
      const { domain, status } = result
      const isTwin = byDomain.has(domain) && byDomain.get(domain) !== row
      if (!isTwin) byDomain.set(domain, row)
      mark(row, { domain, rejection: undefined, state: isTwin ? 'twin' : status === 'existing' ? 'held' : 'ready' })
    }
  }

  // Correcting.
  const suggestionOf = ({ state, rejection }: Row): string | undefined =>
    state === 'wrong' && rejection && 'suggestion' in rejection ? rejection.suggestion : undefined

  function correct(row: Row, text: string): void {
    const isRepeated = rows.some(other => other !== row && other.text === text)
    if (isRepeated) {
      rows = rows.filter(other => other !== row)
      repeated += 1
    } else {
      const unchecked = { state: 'unchecked', rejection: undefined, domain: undefined, hasNoRoom: false } as const
      mark(row, { text, ...unchecked, isEdited: false })
    }
  }
  function useAllCorrections(): void {
    const known = new Set(rows.map(({ text }) => text))
    const dropped = new Set<Row>()
    for (const row of rows) {
      const text = suggestionOf(row)
      if (text === undefined) continue
      if (known.has(text)) dropped.add(row)
      else mark(row, { text, state: 'unchecked', rejection: undefined, domain: undefined })
      known.add(text)
    }
    repeated += dropped.size
    rows = rows.filter(row => !dropped.has(row))
    alert.hide()
    void check()
    show()
  }
  function remove(removed: readonly Row[]): void {
    const gone = new Set(removed)
    const domains = new Set(removed.map(({ domain }) => domain))
    rows = rows.filter(row => !gone.has(row))
    // A name that was the second of two is the first now.
    for (const row of rows) if (row.state === 'twin' && domains.has(row.domain)) mark(row, { state: 'unchecked' })
    if (rows.length === 0) {
      repeated = 0
      running?.abort()
      status.textContent = ''
      alert.hide()
      field.focus()
    }
    show()
    if (rows.some(({ state }) => state === 'unchecked') && !running && !alertGoesOn()) void check()
  }

  // Registering.
  async function register(): Promise<void> {
    if (running) return
    const waiting = rows.filter(({ state }) => state === 'ready')
    const byText = new Map(waiting.map(row => [row.text, row]))
    if (!isStopped) registeredNow = 0
    isStopped = false
    choose('all')
    await run('register', async (signal, onStep) => {
      const onProgress = ({ done, results }: { done: number; results: readonly DomainResult[] }) => {
        for (const result of results) {
          const row = byText.get(result.input)
          if (!row) continue
          if (result.status === 'invalid') mark(row, { state: 'wrong', rejection: result, domain: undefined })
          else {
            registeredNow += 1
            mark(row, { state: 'registered', domain: result.domain })
          }
        }
        onStep(words.registering(done, waiting.length), done, waiting.length)
      }
      await registerAll(byText.keys(), { ...surface.callOptions(signal), patience: PATIENCE, onProgress })
      report(words.registered(registeredNow, count('wrong')))
    })
    if (registeredNow > 0) onRegistered()
  }

  function stop(): void {
    isStopped = true
    running?.abort()
  }

  /** Runs a check or a registration, with its progress, and tells what went wrong. */
  async function run(
    work: 'check' | 'register',
    start: (signal: AbortSignal, onStep: (text: string, done: number, total: number) => void) => Promise<void>,
  ): Promise<void> {
    const controller = new AbortController()
    running = controller
    const signal = AbortSignal.any([controller.signal, surface.signal])
    alert.hide()
    progress.removeAttribute('value')
    status.textContent = ''
    let lastStep = performance.now()
    const timer = setInterval(() => {
      if (performance.now() - lastStep < LONG_WAIT || status.textContent === words.waiting) return
      status.textContent = words.waiting
      announcer.say(words.waiting)
    }, 1000)
    show()
    try {
      await start(signal, (text, done, total) => {
        lastStep = performance.now()
        progress.max = total
        progress.value = done
        status.textContent = text
        announcer.say(text, false)
        show()
      })
    } catch (error) {
      const left = count('ready') + count('unchecked')
      if (controller.signal.aborted) {
        if (rows.length > 0) report(words.stopped(left))
      } else if (!surface.signal.aborted) fail(work, error)
    } finally {
      clearInterval(timer)
      running = undefined
      show()
      // Names that were added meanwhile.
      if (count('unchecked') > 0 && !isStopped && !surface.signal.aborted) void check()
    }
  }

  function fail(work: 'check' | 'register', error: unknown): void {
    status.textContent = ''
    if (work === 'check' && isNotOffered(error) && error instanceof CallError && error.code !== 'insufficient_scope') {
      // Without previews, names are checked when they are registered.
      for (const row of rows) if (row.state === 'unchecked') mark(row, { state: 'ready' })
      return
    }
    isStopped = true
    const again = () => {
      isStopped = work === 'register'
      void (work === 'check' ? check() : register())
    }
    alert.show(explainFailure(error, words), createButton('', work === 'check' ? words.retry : words.goOn, again))
  }

  function report(text: string): void {
    status.textContent = text
    announcer.say(text)
  }

  // Showing.
  /** Whether an alert is shown whose button goes on. */
  const alertGoesOn = () => !alert.box.hidden && alert.box.querySelector('button') !== null
  const count = (state: RowState) => rows.filter(row => row.state === state).length
  function choose(name: Filter): void {
    filter = name
    list.box.scrollTop = 0
    show()
  }

  function show(): void {
    const isEmpty = rows.length === 0
    if (!rows.some(filters[filter])) filter = 'all'
    results.hidden = isEmpty
    submit.className = isEmpty ? 'primary' : ''
    list.box.hidden = isEmpty
    for (const name of Object.keys(filters) as Filter[]) {
      const size = rows.filter(filters[name]).length
      const button = filterButtons[name]
      button.textContent = words[name](size)
      button.setAttribute('aria-pressed', String(filter === name))
      button.hidden = size === 0 && name !== filter
    }
    const [ready, isBusy] = [count('ready'), running !== undefined]
    const unchecked = count('unchecked')
    const goesOn = unchecked > 0 || (isStopped && registeredNow > 0)
    registerButton.textContent = goesOn ? words.goOn : words.register(ready)
    registerButton.hidden = (ready === 0 && unchecked === 0) || isBusy || alertGoesOn()
    stopButton.hidden = !isBusy
    progress.hidden = !isBusy
    const corrections = rows.filter(row => suggestionOf(row) !== undefined).length
    correctButton.textContent = words.useAll(corrections)
    correctButton.hidden = corrections === 0 || isBusy
    const wrong = count('wrong')
    removeWrongButton.textContent = words.removeWrong(wrong)
    removeWrongButton.hidden = wrong === 0 || corrections > 0 || isBusy
    clearButton.hidden = isBusy
    list.show(filter === 'all' ? rows : rows.filter(filters[filter]))
  }

  function explain(row: Row): string {
    const { rejection } = row
    if (row.hasNoRoom || !rejection) return words.noRoom
    const reason = 'reason' in rejection ? rejection.reason : rejection.code
    const sentence = Object.hasOwn(words.reasons, reason) ? words.reasons[reason] : undefined
    if (sentence === undefined) return rejection.message
    const end = typeof sentence === 'string' ? sentence : sentence(rejection as InvalidPreview)
    return `${words.quote(rejection.input)} ${end}.`
  }

  const stateNames: Readonly<Record<RowState, string>> = {
    unchecked: words.stateUnchecked,
    ready: words.stateReady,
    held: words.stateHeld,
    twin: words.stateTwin,
    wrong: words.stateWrong,
    registered: words.stateRegistered,
  }

  function drawRow(row: Row): HTMLElement {
    const name = create('div', { class: 'name', part: 'name' }, createName(row.domain ?? row.text))
    if (row.origin !== (row.domain ?? row.text)) {
      name.append(create('span', { class: 'hint' }, words.sentFrom(row.origin)))
    }
    const node = create(
      'div',
      { class: `row ${row.state}`, part: `row ${row.state}` },
      create('span', { class: 'mark', 'aria-hidden': 'true' }, marks[row.state]),
      name,
      create('span', { class: 'state', part: 'state' }, stateNames[row.state]),
    )
    if (row.state === 'wrong') node.append(drawDetail(row))
    return node
  }

  function drawDetail(row: Row): HTMLElement {
    const detail = create('div', { class: 'detail', part: 'detail' }, create('p', {}, explain(row)))
    const redo = (change: () => void) => () => {
      change()
      alert.hide()
      show()
      void check()
    }
    if (row.isEdited) {
      const input = create('input', { type: 'text', part: 'field', 'aria-label': words.edit(row.text) })
      input.value = row.text
      input.spellcheck = false
      const form = create('form', {}, input, create('button', { type: 'submit', part: 'button' }, words.save))
      form.addEventListener('submit', event => {
        event.preventDefault()
        const text = input.value.trim()
        if (text !== '') redo(() => correct(row, text))()
      })
      detail.append(form)
      return detail
    }
    const actions = create('div', { class: 'actions' })
    const suggestion = suggestionOf(row)
    if (suggestion !== undefined) {
      const button = createButton(
        'fix',
        '',
        redo(() => correct(row, suggestion)),
      )
      const [before = '', after = ''] = words.use('\0').split('\0')
      button.append(create('span', {}, before, createName(suggestion), after))
      actions.append(button)
    }
    const edit = createButton('plain', words.editShort, () => {
      mark(row, { isEdited: true })
      list.update()
    })
    edit.setAttribute('aria-label', words.edit(row.text))
    const removal = createButton('plain', words.removeShort, () => remove([row]))
    removal.setAttribute('aria-label', words.remove(row.text))
    actions.append(edit, removal)
    detail.append(actions)
    return detail
  }

  show()
  return section
}
