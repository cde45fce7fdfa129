import { CallError } from '../client/call.ts'
import { type PreviewPastLimit, previewPastLimit } from '../client/preview-all.ts'
import { registerAll } from '../client/register-all.ts'
import { create, createAlert, createButton, setKind } from './dom.ts'
import { drawRow } from './draw-row.ts'
import { explainFailure, isNotOffered, PATIENCE, type Surface } from './panel.ts'
import { createPasteForm } from './paste-form.ts'
import {
  addNames,
  countRows,
  emptyList,
  enterPreviews,
  enterRegistrations,
  followDeletion,
  type NameList,
  type Row,
  type RowState,
  removeRows,
  replaceTexts,
  setEdited,
  skipPreviews,
  suggestionOf,
} from './rows.ts'
import { createWindowedList } from './windowed-list.ts'

type Filter = 'all' | 'toCorrect' | 'ready' | 'finished'

const filters: Readonly<Record<Filter, (row: Row) => boolean>> = {
  all: () => true,
  toCorrect: ({ state }) => state === 'wrong',
  ready: ({ state }) => state === 'ready' || state === 'unchecked',
  finished: ({ state }) => state === 'registered' || state === 'held',
}

/** After this many milliseconds without progress, the element says that it still waits. */
const LONG_WAIT = 5000

/** The part of the element in which names are pasted, checked, corrected and registered. */
export function createAddNames(surface: Surface, onRegistered: () => void) {
  const { words, announcer } = surface
  let names: NameList = emptyList
  let filter: Filter = 'all'
  /** Aborts the running check or registration. */
  let running: AbortController | undefined
  let isStopped = false
  /** After names were added and checked, those that are wrong are shown first. */
  let isNewList = false
  let registeredNow = 0

  const form = createPasteForm(words, add, () => {
    alert.show(words.notText)
    show()
  })
  const filterButtons = Object.fromEntries(
    (Object.keys(filters) as Filter[]).map(name => [name, createButton('', '', () => choose(name))]),
  ) as Record<Filter, HTMLButtonElement>
  const registerButton = createButton('primary', '', () => void (count('unchecked') > 0 ? check() : register()))
  const stopButton = createButton('', words.stop, stop)
  const correctButton = createButton('primary', '', () => correct(suggestionOf))
  const removeWrongButton = createButton('plain', '', () => change(removeRows(names, filters.toCorrect)))
  const clearButton = createButton('plain spread', words.clear, () => change(emptyList))
  const progress = create('progress', { part: 'progress', 'aria-label': words.list })
  const status = create('p', { class: 'status', part: 'status' })
  const alert = createAlert()
  const list = createWindowedList<Row>(row =>
    drawRow(row, words, {
      correct: ({ id }, text) => correct(each => (each.id === id ? text : undefined)),
      edit: ({ id }, isEdited) => change(setEdited(names, id, isEdited)),
      remove: ({ id }) => change(removeRows(names, each => each.id === id)),
    }),
  )
  list.box.setAttribute('aria-label', words.list)
  const results = create(
    'div',
    { class: 'results' },
    create('div', { class: 'actions filters' }, ...Object.values(filterButtons)),
    create('div', { class: 'actions' }, correctButton, registerButton, stopButton, removeWrongButton, clearButton),
    progress,
    status,
  )
  const section = create(
    'section',
    { part: 'add', 'aria-labelledby': 'add-title' },
    create('h2', { id: 'add-title', part: 'title' }, words.addTitle),
    form.box,
    results,
    alert.box,
    list.box,
  )
  form.acceptDrops(section)

  function add(pasted: readonly string[]): void {
    alert.hide()
    names = addNames(names, pasted)
    if (names.rows.length === 0) {
      alert.show(words.nothingFound)
      return
    }
    form.field.value = ''
    isStopped = false
    isNewList = true
    choose('all')
    void check()
  }

  function correct(textOf: (row: Row) => string | undefined): void {
    names = replaceTexts(names, textOf)
    alert.hide()
    show()
    void check()
  }

  /** Shows a changed list, and checks the rows that must be checked because of the change. */
  function change(changed: NameList): void {
    names = changed
    if (names.rows.length === 0) {
      running?.abort()
      status.textContent = ''
      alert.hide()
      form.field.focus()
    }
    show()
    if (count('unchecked') > 0 && !isStopped && !alertGoesOn()) void check()
  }

  async function check(): Promise<void> {
    if (running) return
    isStopped = false
    await run('check', async (signal, onStep) => {
      for (;;) {
        const waiting = names.rows.filter(({ state }) => state === 'unchecked').map(({ text }) => text)
        if (waiting.length === 0) break
        const onProgress = ({ done, results }: { done: number; results: readonly PreviewPastLimit[] }) => {
          names = enterPreviews(names, results)
          onStep(words.checking(done, waiting.length), done, waiting.length)
        }
        const options = { ...surface.callOptions(signal), patience: PATIENCE, onProgress }
        await previewPastLimit(waiting, options)
      }
      const wrong = count('wrong')
      report(words.checked(count('ready'), wrong, names.repeated + count('twin')))
      names = { ...names, repeated: 0 }
      if (isNewList && wrong > 0) choose('toCorrect')
      isNewList = false
    })
  }

  async function register(): Promise<void> {
    if (running) return
    const waiting = names.rows.filter(({ state }) => state === 'ready').map(({ text }) => text)
    if (!isStopped) registeredNow = 0
    isStopped = false
    choose('all')
    await run('register', async (signal, onStep) => {
      await registerAll(waiting, {
        ...surface.callOptions(signal),
        patience: PATIENCE,
        onProgress({ done, results }) {
          names = enterRegistrations(names, results)
          registeredNow += results.filter(({ status }) => status !== 'invalid').length
          onStep(words.registering(done, waiting.length), done, waiting.length)
        },
      })
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
        if (names.rows.length > 0) report(words.stopped(left))
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
      names = skipPreviews(names)
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

  /** Whether an alert is shown whose button goes on. */
  const alertGoesOn = () => !alert.box.hidden && alert.box.querySelector('button') !== null
  const count = (state: RowState) => countRows(names, state)
  function choose(name: Filter): void {
    filter = name
    list.box.scrollTop = 0
    show()
  }

  function show(): void {
    const { rows } = names
    const isEmpty = rows.length === 0
    if (!rows.some(filters[filter])) filter = 'all'
    results.hidden = isEmpty
    setKind(form.submit, isEmpty ? 'primary' : '')
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
    // One step is the next one: first the corrections, then registering.
    setKind(registerButton, corrections > 0 ? '' : 'primary')
    correctButton.hidden = corrections === 0 || isBusy
    const wrong = count('wrong')
    removeWrongButton.textContent = words.removeWrong(wrong)
    removeWrongButton.hidden = wrong === 0 || corrections > 0 || isBusy
    clearButton.hidden = isBusy
    list.show(filter === 'all' ? rows : rows.filter(filters[filter]))
  }

  show()
  return {
    section,
    /** Takes account of registered names that the user has deleted. */
    followDeletion(domains: readonly string[]): void {
      if (names.rows.length > 0) change(followDeletion(names, domains))
    },
  }
}
