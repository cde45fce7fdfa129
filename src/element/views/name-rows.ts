import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import type { InvalidPreview } from '../../wire/results.ts'
import { hostsOf, type Row, type RowState, suggestionOf, type WrongRow } from '../lists/rows.ts'
import { display } from '../lists/team-list.ts'
import type { ElementWords } from '../words.ts'
import { textsAround } from './pieces.ts'

/** The mark of each state, and the key of its word. */
const states = {
  unchecked: ['…', 'stateUnchecked'],
  ready: ['✓', 'stateReady'],
  existing: ['✓', 'stateExisting'],
  registered: ['✓', 'stateRegistered'],
  full: ['!', 'stateFull'],
  correctable: ['!', 'stateCorrectable'],
  guessed: ['!', 'stateCorrectable'],
  hopeless: ['!', 'stateHopeless'],
  unproven: ['…', 'stateUnproven'],
  waits: ['…', 'stateWaits'],
  kept: ['…', 'stateKept'],
} as const satisfies Readonly<Record<RowState, readonly [mark: string, word: keyof ElementWords]>>

// Rows are drawn many times a second while the list scrolls: each is one template.

export function rowView(row: Row, words: ElementWords): TemplateResult {
  const { id, state, domain = row.text, origin } = row
  const [mark, word] = states[state]
  const [before, after] = textsAround(words.sentFrom)
  const isSame = origin === domain || origin === display(domain)
  const message = 'message' in row ? withoutName(row.message, row.text) : undefined
  return html`<div class="row ${state}" part="row ${state}" role="listitem" tabindex="-1" data-id=${id}>
    <span class="mark" aria-hidden="true">${mark}</span>
    <div class="name" part="name"><bdi dir="ltr">${display(domain)}</bdi>
      <span class="hint" ?hidden=${isSame}>${before}<bdi dir="ltr">${isSame ? '' : origin}</bdi>${after}</span></div>
    <div class="state" part="state">${words[word]}</div>
    ${message === undefined ? nothing : html`<div class="detail" part="detail"><p>${message}</p></div>`}</div>`
}

export function wrongRowView(row: WrongRow, words: ElementWords): TemplateResult {
  const { id, state, text, draft } = row
  const [mark, word] = states[state]
  const [suggestion = '', hosts] = [suggestionOf(row), hostsOf(row)]
  const count = hosts.length
  const [before, after] = count > 0 ? [words.addAll(count), ''] : textsAround(words.use)
  const label = count > 0 ? `${words.addAll(count)}: ${hosts.map(display).join(', ')}` : nothing
  return html`<div class="row wrong ${state}" part="row wrong" role="listitem" tabindex="-1" data-id=${id}>
    <span class="mark" aria-hidden="true">${mark}</span>
    <div class="name" part="name"><bdi dir="ltr">${text}</bdi></div>
    <div class="state" part="state">${words[word]}</div>
    <div class="detail" part="detail"><p>${explain(row, words)}</p>
      <div class="actions" ?hidden=${draft !== undefined}>
        <button type="button" class="fix" part="button fix" data-action="use" aria-label=${label}
          ?hidden=${suggestion === '' && count === 0}
          ><span>${before}<bdi dir="ltr">${display(suggestion)}</bdi>${after}</span></button>
        <button type="button" class="plain" part="button plain" data-action="edit" aria-label=${words.edit(text)}
          >${words.editShort}</button>
        <button type="button" class="plain" part="button plain" data-action="remove" aria-label=${words.remove(text)}
          >${words.removeShort}</button></div>
      ${draft === undefined ? nothing : editor(text, draft, words)}</div></div>`
}

const editor = (text: string, draft: string, words: ElementWords): TemplateResult =>
  html`<div class="editor"><input type="text" part="field" dir="ltr" spellcheck="false" autocapitalize="off"
    enterkeyhint="done" aria-label=${words.edit(text)} .value=${live(draft)}>
    <button type="button" part="button" data-action="save">${words.save}</button></div>`

/**
 * The sentence of the words for the reason, or the service's own message, which may be the application's. The row has
 * the name already.
 */
function explain(row: WrongRow, words: ElementWords): string {
  const { rejection, text, record } = row
  if (record) return words.waitsFor(record.name)
  const reason = 'reason' in rejection ? rejection.reason : undefined
  const sentence = reason !== undefined && Object.hasOwn(words.reasons, reason) ? words.reasons[reason] : undefined
  if (sentence === undefined) return withoutName(rejection.message, text)
  return capitalize(`${typeof sentence === 'string' ? sentence : sentence(rejection as InvalidPreview)}.`)
}
const withoutName = (message: string, name: string) => capitalize(message.replace(`"${name}" `, ''))
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
