import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { ref } from 'lit/directives/ref.js'
import type { InvalidPreview } from '../wire/results.ts'
import type { AddList } from './add-list.ts'
import { button, progress, textsAround, warn } from './pieces.ts'
import { recordsView } from './records-view.ts'
import { isWrong, problems, type Row, type RowState, suggestionOf, type WrongRow } from './rows.ts'
import { display } from './team-list.ts'
import type { WindowedList } from './windowed-list.ts'
import type { ElementWords } from './words.ts'

/** The part in which names are pasted, checked, corrected and registered. */
export function addView(
  model: AddList,
  words: ElementWords,
  list: WindowedList<Row>,
  isListed: boolean,
): TemplateResult {
  const { names, work, table } = model
  const isEmpty = names.size === 0
  const isOpen = isEmpty || model.isAdding
  const [unchecked, ready, corrections] = [names.count('unchecked'), names.count('ready'), names.count('correctable')]
  const full = names.count('full')
  const problemCount = names.count(...problems)
  const shown = model.isFiltered ? names.rows.filter(({ state }) => problems.includes(state)) : names.rows
  list.show(shown, row => (isWrong(row) ? wrongRowView(row, words) : rowView(row, words)))
  const status = work.status ?? model.status
  const where = model.isDone && isListed ? ` ${words.whereRegistered}` : ''
  const filters = () => [filter(false, words.all(names.size)), filter(true, words.problems(problemCount))]
  return html`<section part="add" aria-labelledby="add-title"
      @dragover=${onDragOver} @dragleave=${onDragLeave} @drop=${onDrop}>
    <h2 id="add-title" part="title">${words.addTitle}</h2>
    ${pasteForm()}
    ${table ? columnForm(table) : nothing}
    ${warn(model.notice?.(words) ?? work.failure?.(words), words)}
    <div ?hidden=${isEmpty}>
      ${progress(work, words.list)}
      <p class="status ${model.isDone ? 'good' : ''}" id="add-status" part="status"
        tabindex="-1">${status && status(words) + where}</p>
      <div class="actions filters">${problemCount === 0 ? nothing : filters()}</div>
      ${recordsView(model, words)}
      <div class="list" part="list" role="list" tabindex="0" aria-label=${words.list} ${ref(list.attach)}
        @scroll=${list.plan} @click=${onClick} @input=${onInput} @keydown=${onRowKey}
        @submit=${onSave}><div></div></div>
      <div class="actions steps" part="steps">${work.kind ? button('', words.stop, () => work.stop()) : steps()}</div>
      <div class="actions">${work.kind ? nothing : otherSteps()}</div>
    </div>
  </section>`

  function filter(isFiltered: boolean, text: string): TemplateResult {
    const onClick = () => {
      list.scrollToTop()
      model.filter(isFiltered)
    }
    return html`<button type="button" part="button" aria-pressed=${model.isFiltered === isFiltered}
      @click=${onClick}>${text}</button>`
  }
  function checkAgain(kind: string): TemplateResult {
    const recheck = () => model.editAndCheck(names => names.recheck(({ state }) => state === 'full'))
    return button(kind, words.checkAgain, recheck)
  }
  function steps() {
    const next = corrections === 0 ? 'primary' : ''
    const useAll = () => model.editAndCheck(names => names.useCorrections())
    const goOn = model.isStopped || unchecked > 0 ? words.goOn : words.register(ready)
    return [
      corrections === 0 ? nothing : button('primary', words.useAll(corrections), useAll),
      ready + unchecked === 0 ? nothing : button(next, goOn, () => model.goOn()),
      full > 0 && ready + unchecked + corrections === 0 ? checkAgain('primary') : nothing,
    ]
  }
  function otherSteps() {
    const hopeless = names.count('hopeless')
    const removeAll = () => model.edit(names => names.remove(({ state }) => state === 'hopeless'))
    return [
      full > 0 && ready + unchecked + corrections > 0 ? checkAgain('plain') : nothing,
      hopeless === 0 ? nothing : button('plain', words.removeHopeless(hopeless), removeAll),
      isOpen ? nothing : button('plain', words.addMore, () => model.addMore()),
      button('plain', words.clear, () => model.clear()),
    ]
  }
  function pasteForm(): TemplateResult {
    return html`<form ?hidden=${!isOpen || table !== undefined} @submit=${onSubmit}>
      <label class="block" for="paste">${words.paste}</label>
      <textarea id="paste" part="field" dir="ltr" rows="4" spellcheck="false" autocapitalize="off" autocomplete="off"
        placeholder=${words.placeholder} @paste=${onPaste} @keydown=${onKey}></textarea>
      <div class="actions">
        <button type="submit" part="button" class=${isEmpty ? 'primary' : ''}>${words.check}</button>
        ${button('', words.chooseFile, onChoose)}
        <span class="hint">${words.dropHint}</span>
      </div>
      <input type="file" hidden accept=".txt,.csv,.tsv,text/plain,text/csv" @change=${onFile}>
    </form>`
  }
  function columnForm({ columns, likely }: NonNullable<AddList['table']>): TemplateResult {
    const options = columns.map(({ title, cells, number }, index) => {
      const example = cells[0] === undefined ? '' : ` (${cells[0].slice(0, 40)})`
      const text = `${title || words.columnNumber(number)}${example}`
      return html`<option value=${index} ?selected=${index === likely}>${text}</option>`
    })
    const onTake = (event: Event) => {
      event.preventDefault()
      const { value } = (event.target as Element).querySelector('select') as HTMLSelectElement
      void model.takeColumn(Number(value))
    }
    return html`<form @submit=${onTake}>
      <label class="block" for="column">${words.column}</label>
      <select id="column" part="field">${options}</select>
      <div class="actions">
        <button type="submit" part="button primary" class="primary">${words.check}</button>
        ${button('plain', words.cancelColumn, () => void model.takeColumn(undefined))}
      </div>
    </form>`
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault()
    const field = (event.target as Element).querySelector('textarea') as HTMLTextAreaElement
    // What has no name in it stays, to be corrected.
    void model.paste(field.value).then(isFound => {
      if (isFound) field.value = ''
    })
  }
  function onPaste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData('text/plain') ?? ''
    // A part of a name is pasted into a text that is being written.
    if ((event.target as HTMLTextAreaElement).value.trim() !== '' || !/[\r\n\t]/.test(text.trim())) return
    event.preventDefault()
    void model.paste(text)
  }
  function onKey({ key, ctrlKey, metaKey, target }: KeyboardEvent): void {
    if (key === 'Enter' && (ctrlKey || metaKey)) (target as HTMLTextAreaElement).form?.requestSubmit()
  }
  function onChoose({ target }: Event): void {
    const form = (target as Element).closest('form')
    form?.querySelector<HTMLInputElement>('[type=file]')?.click()
  }
  function onFile({ target }: Event): void {
    const picker = target as HTMLInputElement
    const [file] = picker.files ?? []
    if (file) void model.pasteFile(file)
    picker.value = ''
  }
  function onDragOver(event: DragEvent): void {
    event.preventDefault()
    ;(event.currentTarget as Element).classList.add('drop')
  }
  function onDragLeave({ currentTarget }: DragEvent): void {
    ;(currentTarget as Element).classList.remove('drop')
  }
  function onDrop(event: DragEvent): void {
    event.preventDefault()
    onDragLeave(event)
    const [file] = event.dataTransfer?.files ?? []
    void (file ? model.pasteFile(file) : model.paste(event.dataTransfer?.getData('text/plain') ?? ''))
  }

  function wrongRowOf(event: Event): WrongRow | undefined {
    const row = list.entryOf(event)
    return row && isWrong(row) ? row : undefined
  }
  function onClick(event: Event): void {
    const row = wrongRowOf(event)
    const { action } = (event.target as Element).closest<HTMLElement>('[data-action]')?.dataset ?? {}
    if (row && action === 'use') model.editAndCheck(names => names.replace(row.id, suggestionOf(row) ?? ''))
    if (row && action === 'edit') model.edit(names => names.write(row.id, row.text))
    if (row && action === 'remove') model.edit(names => names.remove(({ id }) => id === row.id))
  }
  function onInput(event: Event): void {
    const row = wrongRowOf(event)
    if (row) model.edit(names => names.write(row.id, (event.target as HTMLInputElement).value))
  }
  function onRowKey(event: KeyboardEvent): void {
    const row = wrongRowOf(event)
    if (event.key !== 'Escape' || row?.draft === undefined) return
    // Around the element may be a dialog, which Escape would close.
    event.preventDefault()
    event.stopPropagation()
    model.edit(names => names.write(row.id, undefined))
  }
  function onSave(event: Event): void {
    event.preventDefault()
    const row = wrongRowOf(event)
    const field = (event.target as Element).querySelector('input')
    if (row && field) model.editAndCheck(names => names.replace(row.id, field.value))
  }
}

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
  waiting: ['…', 'stateWaiting'],
} as const satisfies Readonly<Record<RowState, readonly [mark: string, word: keyof ElementWords]>>

// Rows are drawn many times a second while the list scrolls: each is one template.

function rowView(row: Row, words: ElementWords): TemplateResult {
  const { id, state, domain = row.text, origin } = row
  const [mark, word] = states[state]
  const [before, after] = textsAround(words.sentFrom)
  const isSame = origin === domain
  return html`<div class="row ${state}" part="row ${state}" role="listitem" tabindex="-1" data-id=${id}>
    <span class="mark" aria-hidden="true">${mark}</span>
    <div class="name" part="name"><bdi dir="ltr">${display(domain)}</bdi>
      <span class="hint" ?hidden=${isSame}>${before}<bdi dir="ltr">${isSame ? '' : origin}</bdi>${after}</span></div>
    <span class="state" part="state">${words[word]}</span></div>`
}

function wrongRowView(row: WrongRow, words: ElementWords): TemplateResult {
  const { id, state, text, draft } = row
  const [mark, word] = states[state]
  const suggestion = suggestionOf(row)
  const [before, after] = textsAround(words.use)
  return html`<div class="row wrong ${state}" part="row wrong" role="listitem" tabindex="-1" data-id=${id}>
    <span class="mark" aria-hidden="true">${mark}</span>
    <div class="name" part="name"><bdi dir="ltr">${text}</bdi></div>
    <span class="state" part="state">${words[word]}</span>
    <div class="detail" part="detail"><p>${explain(row, words)}</p>
      <div class="actions" ?hidden=${draft !== undefined}>
        <button type="button" class="fix" part="button fix" data-action="use" ?hidden=${suggestion === undefined}
          ><span>${before}<bdi dir="ltr">${display(suggestion ?? '')}</bdi>${after}</span></button>
        <button type="button" class="plain" part="button plain" data-action="edit" aria-label=${words.edit(text)}
          >${words.editShort}</button>
        <button type="button" class="plain" part="button plain" data-action="remove" aria-label=${words.remove(text)}
          >${words.removeShort}</button></div>
      ${draft === undefined ? nothing : editor(text, draft, words)}</div></div>`
}

const editor = (text: string, draft: string, words: ElementWords): TemplateResult =>
  html`<form><input type="text" part="field" dir="ltr" spellcheck="false" autocapitalize="off"
    aria-label=${words.edit(text)} .value=${live(draft)}>
    <button type="submit" part="button">${words.save}</button></form>`

/**
 * The sentence of the words for the reason, or the service's own message, which may be the application's. The row has
 * the name already.
 */
function explain(row: WrongRow, words: ElementWords): string {
  const { rejection, text, record } = row
  if (record) return words.waitsFor(record.name)
  const reason = 'reason' in rejection ? rejection.reason : undefined
  const sentence = reason !== undefined && Object.hasOwn(words.reasons, reason) ? words.reasons[reason] : undefined
  const whole =
    sentence === undefined
      ? rejection.message.replace(`"${text}" `, '')
      : `${typeof sentence === 'string' ? sentence : sentence(rejection as InvalidPreview)}.`
  return whole.charAt(0).toUpperCase() + whole.slice(1)
}
