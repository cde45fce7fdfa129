import { CallError } from '../client/call.ts'
import { deleteAll } from '../client/delete-all.ts'
import { listAll } from '../client/list-all.ts'
import type { ListedDomain } from '../wire/response.ts'
import { create, createAlert, createButton } from './dom.ts'
import { createName, display, explainFailure, isNotOffered, PATIENCE, type Surface } from './panel.ts'
import { createWindowedList, type ListEntry } from './windowed-list.ts'

interface Registered extends ListEntry {
  readonly id: string
  readonly listed: ListedDomain
}

/** How many names are shown before "Show more": a page of the service. */
const PAGE = 1000

/**
 * The part of the element that lists, searches and deletes the registered names, if the service offers this.
 *
 * @param onDeleted Called with names that the user has deleted.
 */
export function createTeamNames(surface: Surface, onDeleted: (domains: readonly string[]) => void) {
  const { words, announcer } = surface
  let entries: Registered[] = []
  let selectedIds = new Set<string>()
  /** The rest of the names, if there are more. */
  let rest: AsyncGenerator<ListedDomain, void, undefined> | undefined
  let question = ''
  let mayDelete = false
  let isDeleting = false

  const title = create('h2', { id: 'names-title', part: 'title' })
  const searchField = create('input', { type: 'search', part: 'field', 'aria-label': words.search })
  searchField.placeholder = words.search
  searchField.spellcheck = false
  const search = create(
    'form',
    { class: 'search', role: 'search' },
    searchField,
    create('button', { type: 'submit', part: 'button' }, words.searchButton),
  )
  const deleteButton = createButton('danger', '', () => ask(true))
  const selectButton = createButton('plain', '', () => selectAll())
  const asked = create('p')
  const confirm = createButton('danger', words.confirmDelete, () => void deleteSelected())
  const questionBox = create(
    'div',
    { class: 'alert', role: 'group' },
    asked,
    confirm,
    createButton('', words.cancel, () => ask(false)),
  )
  questionBox.hidden = true
  const empty = create('p', { class: 'empty' })
  const more = createButton('', words.more, () => void readMore())
  const alert = createAlert()
  const list = createWindowedList(drawEntry)
  list.box.setAttribute('aria-labelledby', 'names-title')
  const section = create(
    'section',
    { part: 'names', 'aria-labelledby': 'names-title' },
    title,
    search,
    create('div', { class: 'actions' }, deleteButton, selectButton),
    questionBox,
    alert.box,
    list.box,
    empty,
    create('div', { class: 'actions' }, more),
  )
  section.hidden = true

  search.addEventListener('submit', event => {
    event.preventDefault()
    question = searchField.value.trim()
    void load()
  })
  // An emptied field shows all names again; while all names are here, each letter narrows them.
  searchField.addEventListener('input', () => {
    if (searchField.value === '' && question !== '') {
      question = ''
      void load()
    } else if (question === '') show()
  })

  const options = () => ({ ...surface.callOptions(surface.signal), patience: PATIENCE })

  /** All names, newest first; or the name of the search, and then the names below it. */
  async function* readAll(): AsyncGenerator<ListedDomain, void, undefined> {
    if (question === '') return yield* listAll({ ...options(), order: 'newest' })
    for (const filter of [{ domain: question }, { below: question }]) {
      try {
        yield* listAll({ ...options(), ...filter })
      } catch (error) {
        // No name matches what is no hostname, and none is below a wildcard or an IP address.
        if (!(error instanceof CallError && error.code === 'invalid_request')) throw error
      }
    }
  }

  let turn = 0
  async function load(): Promise<void> {
    turn += 1
    const mine = turn
    alert.hide()
    const names = readAll()
    try {
      const { page, isOver } = await readPage(names)
      if (mine !== turn) return
      entries = page
      selectedIds = new Set()
      rest = isOver ? undefined : names
      section.hidden = false
      if (entries.length > 0) await learnWhetherToDelete()
      show()
    } catch (error) {
      if (surface.signal.aborted || mine !== turn || isNotOffered(error)) return
      section.hidden = false
      entries = []
      rest = undefined
      show()
      alert.show(
        explainFailure(error, words),
        createButton('', words.retry, () => void load()),
      )
    }
  }

  async function readPage(names: AsyncGenerator<ListedDomain, void, undefined>) {
    const page: Registered[] = []
    while (page.length < PAGE) {
      const { value, done } = await names.next()
      if (done) return { page, isOver: true }
      page.push({ id: value.domainId, listed: value })
    }
    return { page, isOver: false }
  }

  async function readMore(): Promise<void> {
    if (!rest) return
    const mine = turn
    more.disabled = true
    try {
      const { page, isOver } = await readPage(rest)
      if (mine !== turn) return
      entries = [...entries, ...page]
      if (isOver) rest = undefined
    } catch (error) {
      if (surface.signal.aborted || mine !== turn) return
      alert.show(
        explainFailure(error, words),
        createButton('', words.retry, () => void load()),
      )
    } finally {
      more.disabled = false
      show()
    }
  }

  /** Nothing is deleted: `localhost` cannot be registered. A service without this operation fails. */
  async function learnWhetherToDelete(): Promise<void> {
    if (mayDelete) return
    try {
      await deleteAll(['localhost'], { ...options(), patience: 0 })
      mayDelete = true
    } catch {
      // Without this answer, nothing can be selected.
    }
  }

  const selected = () => entries.filter(({ id }) => selectedIds.has(id))
  const areSelected = (shown: readonly Registered[]) => shown.every(({ id }) => selectedIds.has(id))
  function selectAll(): void {
    const shown = shownEntries()
    selectedIds = new Set(areSelected(shown) ? [] : shown.map(({ id }) => id))
    // Other objects are drawn again, with another state of their checkbox.
    entries = entries.map(entry => ({ ...entry }))
    questionBox.hidden = true
    show()
  }
  function ask(isAsking: boolean): void {
    questionBox.hidden = !isAsking
    asked.textContent = words.askDelete(selected().length)
    show()
    if (isAsking) confirm.focus()
    else list.box.focus()
  }

  async function deleteSelected(): Promise<void> {
    isDeleting = true
    const chosen = selected()
    questionBox.hidden = true
    show()
    try {
      const { results, totals } = await deleteAll(
        chosen.map(({ listed }) => listed.domain),
        options(),
      )
      announcer.say(words.deleted(totals.deleted))
      onDeleted(results.flatMap(result => (result.status === 'deleted' ? result.domain : [])))
      isDeleting = false
      await load()
      list.box.focus()
    } catch (error) {
      isDeleting = false
      if (surface.signal.aborted) return
      alert.show(
        explainFailure(error, words),
        createButton('', words.retry, () => void deleteSelected()),
      )
      show()
    }
  }

  /** While all names are here, what is typed narrows them. */
  const readLetters = () => (question === '' && rest === undefined ? searchField.value.trim().toLowerCase() : '')
  function shownEntries(): readonly Registered[] {
    const letters = readLetters()
    if (letters === '') return entries
    return entries.filter(({ listed: { domain } }) => domain.includes(letters) || display(domain).includes(letters))
  }

  function show(): void {
    title.textContent = words.namesTitle(entries.length, rest === undefined)
    const shown = shownEntries()
    search.hidden = entries.length === 0 && question === ''
    list.box.hidden = shown.length === 0
    list.show(shown)
    empty.hidden = shown.length > 0 || !alert.box.hidden
    empty.textContent = question === '' && readLetters() === '' ? words.noNames : words.notFound
    // After a failure, the names are loaded anew.
    more.hidden = rest === undefined || !alert.box.hidden
    const count = selected().length
    deleteButton.hidden = count === 0 || isDeleting || !questionBox.hidden
    deleteButton.textContent = words.deleteSelected(count)
    selectButton.hidden = !mayDelete || shown.length < 2 || isDeleting
    selectButton.textContent = areSelected(shown) ? words.selectNone : words.selectAll
  }

  function drawEntry({ id, listed: { domain, createdAt } }: Registered): HTMLElement {
    const name = create('span', { class: 'name', part: 'name' }, createName(domain))
    const label = create(mayDelete ? 'label' : 'span', { class: 'pick' }, name)
    if (mayDelete) {
      const box = create('input', { type: 'checkbox' })
      box.checked = selectedIds.has(id)
      box.addEventListener('change', () => {
        if (box.checked) selectedIds.add(id)
        else selectedIds.delete(id)
        questionBox.hidden = true
        show()
      })
      label.prepend(box)
    }
    const date = new Date(createdAt).toLocaleDateString(undefined, { dateStyle: 'medium' })
    const shown = create('time', { class: 'state', part: 'state', datetime: createdAt }, date)
    return create('div', { class: 'row team', part: 'row' }, label, shown)
  }

  return { section, load }
}
