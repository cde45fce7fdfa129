import type { CallError } from '../client/errors.ts'
import { previewAll, registerAll } from '../client/operations.ts'
import { drawRow } from './draw-row.ts'
import {
  create,
  createAlert,
  createButton,
  explainFailure,
  isNotOffered,
  PATIENCE,
  type Surface,
  setKind,
} from './panel.ts'
import { createPasteForm } from './paste-form.ts'
import {
  addNames,
  countRows,
  emptyList,
  enterPreviews,
  enterRegistrations,
  enterRoom,
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

/** The part of the element in which names are pasted, checked, corrected and registered. */
export function createAddNames({ words, announcer, ...surface }: Surface, onRegistered: () => void) {
  let names: NameList = emptyList
  /** Whether the list shows only the rows to correct. */
  let isFiltered = false
  /** Aborts the running check or registration. */
  let running: AbortController | undefined
  /** After a stop or a failure, nothing begins until the user continues. */
  let isStopped = false
  /** After names were added and checked, those that are wrong are shown first. */
  let isNewList = false

  const form = createPasteForm(words, add, () => alert.show(words.notText))
  const allButton = createButton('', '', () => filter(false))
  const wrongButton = createButton('', '', () => filter(true))
  const correctButton = createButton('primary', '', () => correct(suggestionOf))
  const registerButton = createButton('primary', '', () => void (count('unchecked') > 0 ? check() : register()))
  const stopButton = createButton('', words.stop, () => running?.abort())
  const clearButton = createButton('plain spread', words.clear, () => change(emptyList))
  const filters = create('div', { class: 'actions filters' }, allButton, wrongButton)
  const progress = create('progress', { part: 'progress', 'aria-label': words.list })
  const status = create('p', { class: 'status', part: 'status' })
  const results = create(
    'div',
    { class: 'results' },
    filters,
    create('div', { class: 'actions' }, correctButton, registerButton, stopButton, clearButton),
    progress,
    status,
  )
  const alert = createAlert(words)
  const list = createWindowedList<Row>(row =>
    drawRow(row, words, {
      correct: ({ id }, text) => correct(each => (each.id === id ? text : undefined)),
      edit: ({ id }, isEdited) => change(setEdited(names, id, isEdited)),
      remove: ({ id }) => change(removeRows(names, each => each.id === id)),
    }),
  )
  list.box.setAttribute('aria-label', words.list)
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
    isNewList = true
    filter(false)
    void check()
  }

  function correct(textOf: (row: Row) => string | undefined): void {
    names = replaceTexts(names, textOf)
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
    if (count('unchecked') > 0 && !isStopped) void check()
  }

  const check = () =>
    run(async (signal, onStep) => {
      const waiting = textsOf('unchecked')
      try {
        const { room } = await previewAll(waiting, {
          ...surface.callOptions(signal),
          patience: PATIENCE,
          onProgress({ done, results }) {
            names = enterPreviews(names, results)
            onStep(words.checking(done, waiting.length), done, waiting.length)
          },
        })
        names = enterRoom(names, room)
      } catch (error) {
        if (!isNotOffered(error) || (error as CallError).code === 'insufficient_scope') throw error
        // Without previews, names are checked when they are registered.
        names = skipPreviews(names)
        return
      }
      // Names that were added meanwhile are checked next.
      if (count('unchecked') > 0) return
      const wrong = count('wrong')
      report(words.checked(count('ready'), wrong, names.repeated))
      names = { ...names, repeated: 0 }
      if (isNewList && wrong > 0) filter(true)
      isNewList = false
    })

  async function register(): Promise<void> {
    const waiting = textsOf('ready')
    const before = count('registered')
    filter(false)
    await run(async (signal, onStep) => {
      await registerAll(waiting, {
        ...surface.callOptions(signal),
        patience: PATIENCE,
        onProgress({ done, results }) {
          names = enterRegistrations(names, results)
          onStep(words.registering(done, waiting.length), done, waiting.length)
        },
      })
      report(words.registered(count('registered'), count('wrong')))
    })
    if (count('registered') > before) onRegistered()
  }

  /** Runs a check or a registration, with its progress, unless one is running. Tells what went wrong. */
  async function run(
    work: (signal: AbortSignal, onStep: (text: string, done: number, total: number) => void) => Promise<void>,
  ): Promise<void> {
    if (running) return
    const controller = new AbortController()
    running = controller
    isStopped = false
    alert.hide()
    progress.removeAttribute('value')
    status.textContent = ''
    show()
    try {
      await work(AbortSignal.any([controller.signal, surface.signal]), (text, done, total) => {
        progress.max = total
        progress.value = done
        status.textContent = text
        announcer.say(text, false)
        show()
      })
    } catch (error) {
      isStopped = true
      status.textContent = ''
      const isOver = surface.signal.aborted || names.rows.length === 0
      if (controller.signal.aborted && !isOver) report(words.stopped(count('ready') + count('unchecked')))
      else if (!isOver) alert.show(explainFailure(error, words))
    } finally {
      running = undefined
      show()
      if (count('unchecked') > 0 && !isStopped) void check()
    }
  }

  function report(text: string): void {
    status.textContent = text
    announcer.say(text)
  }

  const count = (state: RowState) => countRows(names, state)
  const textsOf = (state: RowState) => names.rows.flatMap(row => (row.state === state ? row.text : []))

  function filter(isWanted: boolean): void {
    isFiltered = isWanted
    list.box.scrollTop = 0
    show()
  }

  function show(): void {
    const { rows } = names
    const [isEmpty, isBusy] = [rows.length === 0, running !== undefined]
    const [unchecked, ready, wrong] = [count('unchecked'), count('ready'), count('wrong')]
    const corrections = rows.filter(row => suggestionOf(row) !== undefined).length
    if (wrong === 0) isFiltered = false
    results.hidden = isEmpty
    list.box.hidden = isEmpty
    setKind(form.submit, isEmpty ? 'primary' : '')
    filters.hidden = wrong === 0
    allButton.textContent = words.all(rows.length)
    allButton.setAttribute('aria-pressed', String(!isFiltered))
    wrongButton.textContent = words.toCorrect(wrong)
    wrongButton.setAttribute('aria-pressed', String(isFiltered))
    correctButton.textContent = words.useAll(corrections)
    correctButton.hidden = corrections === 0 || isBusy
    registerButton.textContent = isStopped || unchecked > 0 ? words.goOn : words.register(ready)
    registerButton.hidden = (ready === 0 && unchecked === 0) || isBusy
    // One step is the next one: first the corrections, then registering.
    setKind(registerButton, corrections > 0 ? '' : 'primary')
    stopButton.hidden = !isBusy
    progress.hidden = !isBusy
    clearButton.hidden = isBusy
    list.show(isFiltered ? rows.filter(({ state }) => state === 'wrong') : rows)
  }

  show()
  return {
    section,
    /** Takes account of registered names that the user has deleted. */
    followDeletion(domains: readonly string[]): void {
      if (names.rows.length > 0 && domains.length > 0) change(followDeletion(names, domains))
    },
  }
}
