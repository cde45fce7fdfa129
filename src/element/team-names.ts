import { CallError } from '../client/errors.ts'
import { listAll } from '../client/list-all.ts'
import { deleteAll } from '../client/operations.ts'
import type { Progress } from '../client/run.ts'
import type { DeleteResult, ListedDomain } from '../wire/response.ts'
import {
  create,
  createAlert,
  createButton,
  createName,
  display,
  explainFailure,
  isNotOffered,
  PATIENCE,
  type Surface,
} from './panel.ts'
import { createWindowedList, type ListEntry } from './windowed-list.ts'

interface Registered extends ListEntry, ListedDomain {
  isSelected: boolean
}

/** How many names are shown before "Show more": a page of the service. */
const PAGE = 1000

/**
 * The part of the element that lists, searches and deletes the registered names, if the service offers this.
 *
 * @param onDeleted Called with names that the user has deleted.
 */
export function createTeamNames(surface: Surface, onDeleted: (domains: readonly string[]) => void) {
  const { words, announcer, signal } = surface
  let entries: readonly Registered[] = []
  /** The rest of the names, if there are more. */
  let rest: AsyncGenerator<ListedDomain, void, undefined> | undefined
  let question = ''
  let mayDelete = false
  let isDeleting = false
  /** Counts the requests for a page: the response to an earlier one is not shown. */
  let turn = 0

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
  const more = createButton('', words.more, () => void (rest && readPage(rest, entries)))
  const alert = createAlert(words)
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

  const options = () => ({ ...surface.callOptions(signal), patience: PATIENCE })

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

  const load = () => readPage(readAll(), [])

  /** Reads a page of names, and shows it after the names that are `shown` already. */
  async function readPage(
    names: AsyncGenerator<ListedDomain, void, undefined>,
    shown: readonly Registered[],
  ): Promise<void> {
    turn += 1
    const mine = turn
    const page: Registered[] = []
    let isOver = false
    alert.hide()
    more.disabled = true
    try {
      while (page.length < PAGE && !isOver) {
        const { value } = await names.next()
        if (value) page.push({ ...value, id: value.domainId, isSelected: false })
        else isOver = true
      }
      if (mine !== turn) return
      entries = [...shown, ...page]
      rest = isOver ? undefined : names
      section.hidden = false
      if (entries.length > 0 && !mayDelete) {
        // Nothing is deleted: `localhost` cannot be registered. A service without this operation fails.
        const deletion = deleteAll(['localhost'], { ...options(), patience: 0 })
        mayDelete = await deletion.then(
          () => true,
          () => false,
        )
      }
    } catch (error) {
      if (mine !== turn || signal.aborted || isNotOffered(error)) return
      entries = shown
      if (shown.length === 0) rest = undefined
      section.hidden = false
      alert.show(explainFailure(error, words), load)
    } finally {
      if (mine === turn) {
        more.disabled = false
        show()
      }
    }
  }

  const selected = () => entries.filter(({ isSelected }) => isSelected)
  const areSelected = (shown: readonly Registered[]) => shown.every(({ isSelected }) => isSelected)
  function selectAll(): void {
    const shown = shownEntries()
    const chosen = new Set(areSelected(shown) ? [] : shown)
    // Other objects are drawn again, with another state of their checkbox.
    entries = entries.map(entry => ({ ...entry, isSelected: chosen.has(entry) }))
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
    const domains = selected().map(({ domain }) => domain)
    const gone: string[] = []
    isDeleting = true
    questionBox.hidden = true
    alert.hide()
    show()
    try {
      // After a lost response, the names that the call has deleted are missing.
      const onProgress = ({ results }: Progress<DeleteResult>) =>
        gone.push(...results.flatMap(({ status, input }) => (status === 'invalid' ? [] : input)))
      await deleteAll(domains, { ...options(), onProgress }).finally(() => onDeleted(gone))
      announcer.say(words.deleted(gone.length))
      await load()
      list.box.focus()
    } catch (error) {
      if (!signal.aborted) alert.show(explainFailure(error, words), deleteSelected)
    } finally {
      isDeleting = false
      show()
    }
  }

  /** While all names are here, what is typed narrows them. */
  const readLetters = () => (question === '' && rest === undefined ? searchField.value.trim().toLowerCase() : '')
  function shownEntries(): readonly Registered[] {
    const letters = readLetters()
    return entries.filter(({ domain }) => domain.includes(letters) || display(domain).includes(letters))
  }

  function show(): void {
    const shown = shownEntries()
    const count = selected().length
    title.textContent = words.namesTitle(entries.length, rest === undefined)
    search.hidden = entries.length === 0 && question === ''
    list.box.hidden = shown.length === 0
    list.show(shown)
    empty.hidden = shown.length > 0 || !alert.box.hidden
    empty.textContent = question === '' && readLetters() === '' ? words.noNames : words.notFound
    // After a failure, the names are loaded anew.
    more.hidden = rest === undefined || !alert.box.hidden
    deleteButton.hidden = count === 0 || isDeleting || !questionBox.hidden
    deleteButton.textContent = words.deleteSelected(count)
    selectButton.hidden = !mayDelete || shown.length < 2 || isDeleting
    selectButton.textContent = areSelected(shown) ? words.selectNone : words.selectAll
  }

  function drawEntry(entry: Registered): HTMLElement {
    const { domain, createdAt } = entry
    const name = create('span', { class: 'name', part: 'name' }, createName(domain))
    const label = create(mayDelete ? 'label' : 'span', { class: 'pick' }, name)
    if (mayDelete) {
      const box = create('input', { type: 'checkbox' })
      box.checked = entry.isSelected
      box.addEventListener('change', () => {
        entry.isSelected = box.checked
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
