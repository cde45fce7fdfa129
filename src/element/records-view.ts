import { html, nothing, type TemplateResult } from 'lit'
import type { AddList } from './add-list.ts'
import { button } from './pieces.ts'
import { toCsv, type WantedRecord } from './records.ts'
import type { ElementWords } from './words.ts'

/** How many records are shown. A customer with more of them works with the file. */
const MOST_SHOWN = 20

/** One card for each DNS record for which names wait. */
export function recordsView(model: AddList, words: ElementWords): TemplateResult | typeof nothing {
  const { records } = model
  if (records.length === 0) return nothing
  const rest = records.length - MOST_SHOWN
  return html`<div class="records" part="records">
    ${records.slice(0, MOST_SHOWN).map(card)}
    <div class="actions">
      ${button('', words.recordsAsCsv(records.length), event => download(event.currentTarget as Element))}
      ${rest > 0 ? html`<span class="hint">${words.moreRecords(rest)}</span>` : nothing}
    </div></div>`

  function card(wanted: WantedRecord): TemplateResult {
    const { key, record, count, attempts } = wanted
    const last = attempts.at(-1)
    return html`<article class="record" part="record" aria-label=${words.recordTitle(record.zone, count)}>
      <h3 part="record-title">${words.recordTitle(record.zone, count)}</h3>
      <dl>
        <dt>${words.recordType}</dt><dd><code>${record.type}</code></dd>
        <dt>${words.recordName}</dt>
        <dd>${copyable(`${key} host`, record.host, words.copyName)}
          <span class=\"hint\">${words.fullName(record.name)}</span></dd>
        <dt>${words.recordValue}</dt><dd>${copyable(`${key} value`, record.value, words.copyValue)}</dd>
      </dl>
      <div class="actions">
        <button type="button" part="button" aria-disabled=${model.work.kind !== undefined}
          @click=${() => void model.checkRecord(wanted)}>${words.checkAgain}</button>
      </div>
      <ul class="attempts" part="attempts" ?hidden=${!last}>${attempts.map(
        ({ at, reason }) =>
          html`<li><time datetime=${at.toISOString()}>${words.time(at)}</time> ${resultOf(reason)}</li>`,
      )}</ul>
      <p class="hint" ?hidden=${!last}>${last?.message}</p>
    </article>`
  }
  function resultOf(reason: string): string {
    const result = Object.hasOwn(words.recordResults, reason) ? words.recordResults[reason] : undefined
    return result ?? words.recordNotFound
  }
  /** @param id Which text of which record. */
  function copyable(id: string, text: string, label: string): TemplateResult {
    const onClick = (event: Event) => void copy(id, event)
    return html`<span class="copyable"><code dir="ltr">${text}</code>
      <button type="button" class="plain" part="button plain" aria-label=${label}
        @click=${onClick}>${model.copied === id ? words.copied : words.copy}</button></span>`
  }
  /** Without permission to copy, selects the text. */
  async function copy(id: string, { currentTarget }: Event): Promise<void> {
    const code = (currentTarget as Element).parentElement?.querySelector('code') as HTMLElement
    const text = code.textContent ?? ''
    const { defaultView } = code.ownerDocument
    const isCopied = await Promise.resolve(defaultView?.navigator.clipboard?.writeText(text).then(() => true)).catch(
      () => false,
    )
    if (!isCopied) defaultView?.getSelection()?.selectAllChildren(code)
    model.noteCopy(id, isCopied === true)
  }
  function download({ ownerDocument }: Element): void {
    const link = ownerDocument.createElement('a')
    link.href = URL.createObjectURL(new Blob([toCsv(records)], { type: 'text/csv' }))
    link.download = 'dns-records.csv'
    link.click()
    // The download reads the data after this task.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }
}
