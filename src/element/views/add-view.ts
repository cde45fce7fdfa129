import { html, nothing, type TemplateResult } from 'lit'
import { ref } from 'lit/directives/ref.js'
import type { AddList } from '../lists/add-list.ts'
import { isWrong, problems, type Row, type WrongRow } from '../lists/rows.ts'
import type { ElementWords } from '../words.ts'
import { rowView, wrongRowView } from './name-rows.ts'
import { pasteView } from './paste-view.ts'
import { button, isEnter, progress, warn } from './pieces.ts'
import { type CopyActions, type RecordActions, recordsView } from './records-view.ts'
import type { WindowedList } from './windowed-list.ts'

/** The part in which names are pasted, checked, corrected and registered. */
export function addView(
  model: AddList,
  words: ElementWords,
  list: WindowedList<Row>,
  { isListed, isDropping, ...copies }: CopyActions & { readonly isListed: boolean; readonly isDropping: boolean },
): TemplateResult {
  const { names, work } = model
  const isEmpty = names.size === 0
  const isOpen = isEmpty || model.isAdding
  const check: RecordActions['check'] = wanted => void model.checkRecord(wanted)
  const [unchecked, ready, waits] = [names.count('unchecked'), names.count('ready'), names.count('waits')]
  const [corrections, full] = [names.count('correctable'), names.count('full')]
  const next = unchecked + ready + waits
  const problemCount = names.count(...problems)
  const shown = model.isFiltered ? names.rows.filter(({ state }) => problems.includes(state)) : names.rows
  list.show(shown, row => (isWrong(row) ? wrongRowView(row, words) : rowView(row, words)))
  const status = work.status ?? (model.isReading ? (words: ElementWords) => words.reading : model.status)
  const where = model.isDone && isListed ? ` ${words.whereRegistered}` : ''
  const filters = () => [filter(false, words.all(names.size)), filter(true, words.problems(problemCount))]
  return html`<section part="add" class=${isDropping ? 'drop' : ''} aria-labelledby="add-title">
    <h2 id="add-title" part="title">${words.addTitle}</h2>
    ${pasteView(model, words)}
    ${warn(model.notice?.(words) ?? work.failure?.(words), words)}
    <div ?hidden=${isEmpty}>
      ${progress(work, words.list)}
      <p class="status ${model.isDone ? 'good' : ''}" id="add-status" part="status"
        tabindex="-1">${status && status(words) + where}</p>
      <div class="actions filters">${problemCount === 0 ? nothing : filters()}</div>
      ${recordsView(model.records, words, { ...copies, isBusy: work.kind !== undefined, check })}
      <div class="list" part="list" role="list" tabindex="0" aria-label=${words.list} ${ref(list.attach)}
        @scroll=${list.plan} @click=${onClick} @input=${onInput} @keydown=${onRowKey}
        ><div role="presentation"></div></div>
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
    const useAll = () => model.editAndCheck(names => names.useCorrections())
    const register = waits === 0 ? words.register(ready) : words.registerAndKeep(ready, waits)
    const goOn = model.isStopped || unchecked > 0 ? words.goOn : register
    return [
      corrections === 0 ? nothing : button('primary', words.useAll(corrections), useAll),
      next === 0 ? nothing : button(corrections === 0 ? 'primary' : '', goOn, () => model.goOn()),
      full > 0 && next + corrections === 0 ? checkAgain('primary') : nothing,
    ]
  }
  function otherSteps() {
    const hopeless = names.count('hopeless')
    const removeAll = () => model.edit(names => names.remove(({ state }) => state === 'hopeless'))
    return [
      full > 0 && next + corrections > 0 ? checkAgain('plain') : nothing,
      hopeless === 0 ? nothing : button('plain', words.removeHopeless(hopeless), removeAll),
      isOpen ? nothing : button('plain', words.addMore, () => model.addMore()),
      button('plain', words.clear, () => model.clear()),
    ]
  }
  function wrongRowOf(event: Event): WrongRow | undefined {
    const row = list.entryOf(event)
    return row && isWrong(row) ? row : undefined
  }
  function onClick(event: Event): void {
    const row = wrongRowOf(event)
    const { action } = (event.target as Element).closest<HTMLElement>('[data-action]')?.dataset ?? {}
    if (row && action === 'use') model.editAndCheck(names => names.use(row.id))
    if (row && action === 'edit') model.edit(names => names.write(row.id, row.text))
    if (row && action === 'remove') model.edit(names => names.remove(({ id }) => id === row.id))
    if (row && action === 'save') save(row, event)
  }
  function onInput(event: Event): void {
    const row = wrongRowOf(event)
    if (row) model.edit(names => names.write(row.id, (event.target as HTMLInputElement).value))
  }
  function onRowKey(event: KeyboardEvent): void {
    const row = wrongRowOf(event)
    if (row?.draft === undefined) return
    if (isEnter(event) && (event.target as Element).matches('input')) save(row, event)
    if (event.key !== 'Escape') return
    // Around the element may be a dialog, which Escape would close.
    event.preventDefault()
    event.stopPropagation()
    model.edit(names => names.write(row.id, undefined))
  }
  function save({ id }: WrongRow, event: Event): void {
    const field = (event.target as Element).closest('.editor')?.querySelector('input')
    if (field) model.editAndCheck(names => names.replace(id, field.value))
  }
}
