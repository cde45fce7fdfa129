import { html, nothing, type TemplateResult } from 'lit'
import type { AddList } from '../lists/add-list.ts'
import type { ElementWords } from '../words.ts'
import { button, isEnter } from './pieces.ts'

/** Where names are pasted or a file is chosen; or, for a table, its column. */
export function pasteView(model: AddList, words: ElementWords): TemplateResult {
  const { table } = model
  const isEmpty = model.names.size === 0
  const isOpen = isEmpty || model.isAdding
  return html`${pasteForm()}${table ? columnForm(table) : nothing}`

  function pasteForm(): TemplateResult {
    return html`<div class="paste" ?hidden=${!isOpen || table !== undefined}>
      <label class="block" for="paste">${words.paste}</label>
      <textarea id="paste" part="field" dir="ltr" rows="4" spellcheck="false" autocapitalize="off" autocomplete="off"
        placeholder=${words.placeholder} @paste=${onPaste} @keydown=${onKey}></textarea>
      <div class="actions">
        ${button(isEmpty ? 'primary' : '', words.check, takeText)}
        ${button('', words.chooseFile, onChoose)}
        <span class="hint ${model.isReading ? '' : 'drop-hint'}"
          >${model.isReading ? words.reading : words.dropHint}</span>
      </div>
      <input type="file" hidden multiple accept=".txt,.csv,.tsv,text/plain,text/csv" @change=${onFile}>
    </div>`
  }
  function columnForm({ columns, likely }: NonNullable<AddList['table']>): TemplateResult {
    const options = columns.map(({ title, cells, number }, index) => {
      const example = cells[0] === undefined ? '' : ` (${cells[0].slice(0, 40)})`
      const text = `${title || words.columnNumber(number)}${example}`
      return html`<option value=${index} ?selected=${index === likely}>${text}</option>`
    })
    const onTake = ({ currentTarget }: Event) => {
      const select = (currentTarget as Element).closest('.column')?.querySelector('select')
      void model.takeColumn(Number(select?.value))
    }
    return html`<div class="column">
      <label class="block" for="column">${words.column}</label>
      <select id="column" part="field">${options}</select>
      <div class="actions">
        ${button('primary', words.check, onTake)}
        ${button('plain', words.cancelColumn, () => void model.takeColumn(undefined))}
      </div>
    </div>`
  }

  function takeText({ currentTarget }: Event): void {
    const field = (currentTarget as Element).closest('.paste')?.querySelector('textarea') as HTMLTextAreaElement
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
  function onKey(event: KeyboardEvent): void {
    if (isEnter(event) && (event.ctrlKey || event.metaKey)) takeText(event)
  }
  function onChoose({ target }: Event): void {
    const picker = (target as Element).closest('.paste')?.querySelector<HTMLInputElement>('[type=file]')
    picker?.click()
  }
  function onFile({ target }: Event): void {
    const picker = target as HTMLInputElement
    void model.pasteFiles([...(picker.files ?? [])])
    picker.value = ''
  }
}
