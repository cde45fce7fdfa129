import { html, nothing, type TemplateResult } from 'lit'
import { toCsv, type WantedRecord } from '../lists/records.ts'
import { display } from '../lists/team-list.ts'
import type { Sentence } from '../lists/work.ts'
import type { ElementWords } from '../words.ts'
import { button } from './pieces.ts'

/** How many records are shown. A customer with more of them works with the file. */
const MOST_SHOWN = 20

export interface CopyActions {
  /** Which text was copied a moment ago. */
  readonly copied: string | undefined
  /** Notes that a text was copied, or only selected, because the browser does not allow copying. */
  noteCopy(id: string, isCopied: boolean, sentence: Sentence): void
}
export interface RecordActions extends CopyActions {
  /** Whether something runs, so that nothing can be checked. */
  readonly isBusy: boolean
  check(wanted: WantedRecord): void
}

/** One card for each DNS record for which names wait. */
export function recordsView(
  records: readonly WantedRecord[],
  words: ElementWords,
  { isBusy, check, copied, noteCopy }: RecordActions,
): TemplateResult | typeof nothing {
  if (records.length === 0) return nothing
  const rest = records.length - MOST_SHOWN
  return html`<div class="records" part="records">
    ${records.slice(0, MOST_SHOWN).map(card)}
    <div class="actions">
      ${button('', words.recordsAsCsv(records.length), event => download(event.currentTarget as Element))}
      ${rest > 0 ? html`<span class="hint">${words.moreRecords(rest)}</span>` : nothing}
    </div></div>`

  function card(wanted: WantedRecord): TemplateResult {
    const { key, record, texts, message, lastTried, nextTry } = wanted
    const zone = display(record.zone)
    const looked = lastTried && nextTry && words.looked(words.time(lastTried), words.time(nextTry))
    const whole = `${record.name} ${record.type} "${record.value}"`
    return html`<article class="record" part="record" aria-label=${words.recordTitle(zone, texts.length)}>
      <h3 part="record-title">${words.recordTitle(zone, texts.length)}</h3>
      <p>${words.recordHint(zone)}</p>
      <dl>
        <dt>${words.recordType}</dt><dd><code>${record.type}</code></dd>
        <dt>${words.recordName}</dt>
        <dd>${copyable(`${key} host`, record.host, 'copyName', 'copiedName')}
          <div class="hint">${words.fullName(record.name)}</div></dd>
        <dt>${words.recordValue}</dt>
        <dd>${copyable(`${key} value`, record.value, 'copyValue', 'copiedValue')}</dd>
      </dl>
      <p class="hint">${message}</p>
      <div class="actions">
        <button type="button" part="button" aria-disabled=${isBusy}
          @click=${() => check(wanted)}>${words.checkAgain}</button>
        ${copyButton(`${key} all`, whole, 'copyAll', 'copiedAll')}
        ${looked ? html`<span class="hint">${looked}</span>` : nothing}
      </div>
    </article>`
  }
  /** @param id Which text of which record. */
  function copyable(id: string, text: string, label: CopyLabel, done: CopyDone): TemplateResult {
    return html`<span class="copyable"><code dir="ltr" @click=${(event: Event) => void copy(id, text, done, event)}
      >${text}</code>${copyButton(id, text, label, done)}</span>`
  }
  function copyButton(id: string, text: string, label: CopyLabel, done: CopyDone): TemplateResult {
    return html`<button type="button" class="plain" part="button plain" aria-label=${words[label]}
      @click=${(event: Event) => void copy(id, text, done, event)}>${
        copied === id ? words.copied : label === 'copyAll' ? words.copyAll : words.copy
      }</button>`
  }
  /** Without permission to copy, selects the text. */
  async function copy(id: string, text: string, done: CopyDone, { currentTarget }: Event): Promise<void> {
    const node = currentTarget as Element
    const { defaultView } = node.ownerDocument
    const isCopied = await Promise.resolve(defaultView?.navigator.clipboard?.writeText(text).then(() => true)).catch(
      () => false,
    )
    const shown = node.closest('.copyable')?.querySelector('code') ?? node.closest('.record')?.querySelector('dl')
    if (!isCopied && shown) defaultView?.getSelection()?.selectAllChildren(shown)
    noteCopy(id, isCopied === true, words => (isCopied ? words[done] : words.copyYourself))
  }
  function download({ ownerDocument }: Element): void {
    save(ownerDocument, new Blob([toCsv(records)], { type: 'text/csv' }), 'dns-records.csv')
  }
}

type CopyLabel = 'copyName' | 'copyValue' | 'copyAll'
type CopyDone = 'copiedName' | 'copiedValue' | 'copiedAll'

/** Saves a file, as if the user had clicked a link to it. */
export function save(page: Document, file: Blob, name: string): void {
  const link = page.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The download reads the data after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
