import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { ref } from 'lit/directives/ref.js'
import type { Entry, RegisteredEntry, TeamList, WaitingEntry } from '../lists/team-list.ts'
import type { RenderState } from '../types.ts'
import type { ElementWords } from '../words.ts'
import { button, isEnter, progress, warn } from './pieces.ts'
import { type CopyActions, recordsView, save } from './records-view.ts'
import type { WindowedList } from './windowed-list.ts'

/** How many of the names to delete the question shows. */
const MOST_ASKED = 5

/** The part that lists, searches and deletes the registered names. */
export function teamView(
  model: TeamList,
  words: ElementWords,
  list: WindowedList<Entry>,
  renderState: RenderState | null,
  copies: CopyActions,
): TemplateResult | typeof nothing {
  if (model.isOffered === false) return nothing
  const { shown, chosen, asked, work } = model
  const hasFailed = work.failure !== undefined
  const status = work.status ?? (model.isLoading && model.question !== '' ? words => words.searching : model.status)
  const empty = model.isLoading ? words.loading : model.isSearched ? words.notFound : words.noNames
  list.show(shown, entry => entryView(entry, model, words, renderState), model.rest !== undefined)
  const found = shown.filter(({ state }) => state === 'registered').length
  const isKnown = model.isOffered && !(hasFailed && model.entries.length === 0)
  const title = isKnown
    ? words.namesTitle(found, model.entries.length, model.rest === undefined, model.waitingCount)
    : words.namesTitleUnknown
  return html`<section part="names" aria-labelledby="names-title" @keydown=${onEscape}>
    <h2 id="names-title" part="title">${title}</h2>
    <div class="search" role="search" ?hidden=${model.entries.length + model.waiting.length === 0 && !model.isSearched}>
      <input type="search" part="field" dir="ltr" spellcheck="false" autocapitalize="off" enterkeyhint="search"
        aria-label=${words.search} placeholder=${words.search} @input=${onType} @keydown=${onKey}>
      ${button('', words.searchButton, () => model.search())}</div>
    ${recordsView(model.records, words, {
      ...copies,
      isBusy: work.kind !== undefined,
      check: wanted => void model.checkRecord(wanted),
    })}
    <div class="actions">${actions()}</div>
    ${asked ? question(asked) : nothing}
    ${progress(work, words.deleteSelected(work.total))}
    <p class="status" id="names-status" part="status" tabindex="-1">${status?.(words)}</p>
    ${warn(work.failure?.(words), words, model.retry)}
    <div class="list" part="list" role="list" tabindex="0" aria-labelledby="names-title" ?hidden=${shown.length === 0}
      ${ref(list.attach)} @scroll=${list.plan} @click=${onClick} @change=${onTick}><div role="presentation"></div></div>
    <p class="empty" ?hidden=${shown.length > 0 || hasFailed}>${empty}</p>
    <div class="actions"><button type="button" part="button" ?hidden=${model.rest === undefined || hasFailed}
      ?disabled=${model.isLoading} @click=${() => void model.more()}>${words.more}</button>
      ${model.entries.length > 0 && !work.kind ? button('plain', words.export, onExport) : nothing}</div>
  </section>`

  function actions() {
    if (work.kind) return button('', words.stop, () => work.stop())
    const areAllChosen = chosen.length === shown.length
    return [
      chosen.length === 0 || asked
        ? nothing
        : button('danger ask', words.deleteSelected(chosen.length), () => model.ask(chosen)),
      !model.mayDelete || shown.length < 2
        ? nothing
        : button('plain', areAllChosen ? words.selectNone : words.selectAll, () => model.choose(shown, !areAllChosen)),
    ]
  }
  function question(entries: readonly Entry[]): TemplateResult {
    const named = entries.slice(0, MOST_ASKED).map(({ shown }) => html`<bdi dir="ltr">${shown}</bdi> `)
    const more = entries.length - named.length
    return html`<div class="alert" role="group" aria-labelledby="question">
      <div id="question"><p>${words.askDelete(entries.length)}</p>
        <p class="named">${named}${more > 0 ? words.andMore(more) : nothing}</p></div>
      ${button('danger confirm', words.confirmDelete, () => void model.delete(entries))}
      ${button('', words.cancel, () => model.ask(undefined))}
    </div>`
  }

  function onEscape(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !asked) return
    // Around the element may be a dialog, which Escape would close.
    event.preventDefault()
    event.stopPropagation()
    model.ask(undefined)
  }
  function onKey(event: KeyboardEvent): void {
    if (isEnter(event)) model.search()
  }
  function onType({ target }: Event): void {
    model.type((target as HTMLInputElement).value)
  }
  function onExport({ currentTarget }: Event): void {
    const { ownerDocument } = currentTarget as Element
    void model.export().then(file => file && save(ownerDocument, file, 'names.csv'))
  }
  function onTick(event: Event): void {
    const entry = list.entryOf(event)
    if (entry) model.choose([entry], (event.target as HTMLInputElement).checked)
  }
  function onClick(event: Event): void {
    const entry = list.entryOf(event)
    if (entry && (event.target as Element).closest('.bin')) model.ask([entry])
  }
}

function entryView(
  entry: Entry,
  model: TeamList,
  words: ElementWords,
  renderState: RenderState | null,
): TemplateResult {
  const { id, domain, shown, state } = entry
  const { mayDelete, work } = model
  return html`<div class="row team ${state}" part="row" role="listitem" tabindex="-1" data-id=${id}>
    <label class="pick"><input type="checkbox" ?hidden=${!mayDelete} .checked=${live(model.isChosen(entry))}>
      <span class="name" part="name"><bdi dir="ltr">${shown}</bdi></span></label>
    <span class="about"><span part="own-state"><slot name=${domain}>${
      entry.state === 'registered' ? ownState(entry, model, renderState) : nothing
    }</slot></span>
      ${entry.state === 'registered' ? dateOf(entry.createdAt, words) : waitOf(entry, words)}</span>
    <button type="button" class="plain bin" part="button plain" aria-label=${words.deleteOne(shown)}
      ?hidden=${!mayDelete} ?disabled=${work.kind !== undefined}>✕</button></div>`
}
const dateOf = (createdAt: string, words: ElementWords): TemplateResult =>
  html`<time class="state" part="state" datetime=${createdAt}>${words.date(new Date(createdAt))}</time>`
const waitOf = ({ state, record, message }: WaitingEntry, words: ElementWords): TemplateResult =>
  html`<span class="state" part="state" title=${message}>${
    state === 'failed' ? words.stateFailed : record ? words.stateKept : message
  }</span>`

function ownState(entry: RegisteredEntry, model: TeamList, renderState: RenderState | null) {
  const state = stateOf(entry, model, renderState)
  if (!state || typeof state === 'string' || !('tone' in state)) return state
  return html`<span class="tone ${state.tone}">${state.text}</span>`
}

/** What the application shows of each name, by its ID, as long as it gives no other function: a node is made once. */
const ownStates = new WeakMap<TeamList, { by: RenderState; states: Map<string, ReturnType<RenderState>> }>()

function stateOf(entry: RegisteredEntry, model: TeamList, renderState: RenderState | null): ReturnType<RenderState> {
  if (!renderState) return undefined
  const known = ownStates.get(model)
  const { states } = known?.by === renderState ? known : { states: new Map<string, ReturnType<RenderState>>() }
  ownStates.set(model, { by: renderState, states })
  if (!states.has(entry.id)) states.set(entry.id, tryState(entry, renderState))
  return states.get(entry.id)
}
/** A mistake of the application in one state leaves the list alone. */
function tryState(entry: RegisteredEntry, renderState: RenderState): ReturnType<RenderState> {
  try {
    return renderState(entry)
  } catch (error) {
    reportError(error)
    return undefined
  }
}
