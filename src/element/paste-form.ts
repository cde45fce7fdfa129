import { create, createButton } from './panel.ts'
import { readFile, readList } from './read-list.ts'
import type { ElementWords } from './words.ts'

/**
 * The form into which a list is pasted, typed or dropped, or for which a file is chosen; and, for a table, the choice
 * of its column.
 *
 * @param onNames Called with the names of each list, which may be none.
 * @param onUnreadable Called for a file that is not text.
 */
export function createPasteForm(
  words: ElementWords,
  onNames: (names: readonly string[]) => void,
  onUnreadable: () => void,
) {
  const field = create('textarea', {
    id: 'paste',
    part: 'field',
    rows: '4',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    placeholder: words.placeholder,
  })
  const picker = create('input', { type: 'file', accept: '.txt,.csv,.tsv,text/plain,text/csv' })
  picker.hidden = true
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

  const column = create('select', { id: 'column', part: 'field' })
  const chooser = create(
    'div',
    { class: 'chooser' },
    create('label', { class: 'block', for: 'column' }, words.column),
    column,
    create(
      'div',
      { class: 'actions' },
      createButton('primary', words.check, () => takeColumn()),
      createButton('plain', words.cancelColumn, () => showChooser(false)),
    ),
  )
  chooser.hidden = true
  const box = create('div', {}, form, chooser)

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

  async function readDropped(file: Blob): Promise<void> {
    // A dropped folder cannot be read.
    const text = await readFile(file).catch(() => undefined)
    if (text === undefined) onUnreadable()
    else read(text)
  }

  let takeColumn = () => {}
  function read(text: string): void {
    const pasted = readList(text)
    if ('names' in pasted) {
      onNames(pasted.names)
      return
    }
    const { columns, likely } = pasted
    const options = columns.map(({ title, cells }, index) => {
      const label = title || words.columnNumber(index + 1)
      const example = cells.find(cell => cell !== '') ?? ''
      return create('option', { value: String(index) }, example === '' ? label : `${label} (${example.slice(0, 40)})`)
    })
    column.replaceChildren(...options)
    column.value = String(likely)
    takeColumn = () => {
      showChooser(false)
      onNames(columns[Number(column.value)]?.cells ?? [])
    }
    showChooser(true)
    column.focus()
  }
  function showChooser(isShown: boolean): void {
    chooser.hidden = !isShown
    form.hidden = isShown
  }

  return {
    box,
    field,
    submit,
    /** Reads a list or a file that is dropped anywhere on an area. */
    acceptDrops(area: HTMLElement): void {
      area.addEventListener('dragover', event => {
        event.preventDefault()
        area.classList.add('drop')
      })
      area.addEventListener('dragleave', () => area.classList.remove('drop'))
      area.addEventListener('drop', event => {
        event.preventDefault()
        area.classList.remove('drop')
        const [file] = event.dataTransfer?.files ?? []
        if (file) void readDropped(file)
        else read(event.dataTransfer?.getData('text/plain') ?? '')
      })
    },
  }
}
