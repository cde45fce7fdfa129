import type { InvalidPreview } from '../wire/response.ts'
import { create, createButton, createName } from './panel.ts'
import { type Row, type RowState, suggestionOf } from './rows.ts'
import type { ElementWords } from './words.ts'

/** The mark of each state, and the key of its word. */
const states = {
  unchecked: ['…', 'stateUnchecked'],
  ready: ['✓', 'stateReady'],
  existing: ['✓', 'stateExisting'],
  wrong: ['!', 'stateWrong'],
  registered: ['✓', 'stateRegistered'],
} as const satisfies Readonly<Record<RowState, readonly [mark: string, word: keyof ElementWords]>>

/** What the buttons of a row do. */
export interface RowActions {
  /** Sends another text in place of the row's. */
  correct(row: Row, text: string): void
  /** Begins or ends the writing of another text. */
  edit(row: Row, isEdited: boolean): void
  remove(row: Row): void
}

/** Draws a row: its name, its state and, if it is wrong, the reason and what can be done. */
export function drawRow(row: Row, words: ElementWords, actions: RowActions): HTMLElement {
  const shown = row.domain ?? row.text
  const name = create('div', { class: 'name', part: 'name' }, createName(shown))
  if (row.origin !== shown) name.append(create('span', { class: 'hint' }, words.sentFrom(row.origin)))
  const [mark, word] = states[row.state]
  const node = create(
    'div',
    { class: `row ${row.state}`, part: `row ${row.state}` },
    create('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    name,
    create('span', { class: 'state', part: 'state' }, words[word]),
  )
  if (row.state === 'wrong') {
    const what = row.isEdited ? drawEditor(row, words, actions) : drawButtons(row, words, actions)
    node.append(create('div', { class: 'detail', part: 'detail' }, create('p', {}, explain(row, words)), what))
  }
  return node
}

function drawEditor(row: Row, words: ElementWords, { correct, edit }: RowActions): HTMLElement {
  const input = create('input', { type: 'text', part: 'field', 'aria-label': words.edit(row.text) })
  input.value = row.text
  input.spellcheck = false
  input.addEventListener('keydown', event => {
    if (event.key === 'Escape') edit(row, false)
  })
  const form = create('form', {}, input, create('button', { type: 'submit', part: 'button' }, words.save))
  form.addEventListener('submit', event => {
    event.preventDefault()
    const text = input.value.trim()
    if (text !== '') correct(row, text)
  })
  return form
}

function drawButtons(row: Row, words: ElementWords, { correct, edit, remove }: RowActions): HTMLElement {
  const buttons = create('div', { class: 'actions' })
  const suggestion = suggestionOf(row)
  if (suggestion !== undefined) {
    const button = createButton('fix', '', () => correct(row, suggestion))
    const [before = '', after = ''] = words.use('\0').split('\0')
    button.append(create('span', {}, before, createName(suggestion), after))
    buttons.append(button)
  }
  const editing = createButton('plain', words.editShort, () => edit(row, true))
  editing.setAttribute('aria-label', words.edit(row.text))
  const removal = createButton('plain', words.removeShort, () => remove(row))
  removal.setAttribute('aria-label', words.remove(row.text))
  buttons.append(editing, removal)
  return buttons
}

/** The sentence of the words for the reason, or the service's own message, which may be the application's word. */
function explain(row: Row & { state: 'wrong' }, words: ElementWords): string {
  const { rejection } = row
  if (rejection === 'no room') return words.noRoom
  const reason = 'reason' in rejection ? rejection.reason : undefined
  const sentence = reason !== undefined && Object.hasOwn(words.reasons, reason) ? words.reasons[reason] : undefined
  if (sentence === undefined) return rejection.message
  const end = typeof sentence === 'string' ? sentence : sentence(rejection as InvalidPreview)
  return `${words.quote(rejection.input)} ${end}.`
}
