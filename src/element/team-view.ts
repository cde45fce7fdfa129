import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { ref } from 'lit/directives/ref.js'
import { button, progress, warn } from './pieces.ts'
import type { Entry, TeamList } from './team-list.ts'
import type { RenderState } from './types.ts'
import type { WindowedList } from './windowed-list.ts'
import type { ElementWords } from './words.ts'

/** How many of the names to delete the question shows. */
const MOST_ASKED = 5

/** The part that lists, searches and deletes the registered names. */
export function teamView(
  model: TeamList,
  words: ElementWords,
  list: WindowedList<Entry>,
  renderState: RenderState | null,
): TemplateResult | typeof nothing {
  if (model.isOffered === false) return nothing
  const { shown, chosen, asked, work } = model
  const hasFailed = work.failure !== undefined
  const status = work.status ?? (model.isLoading && model.question !== '' ? words => words.searching : model.status)
  const empty = model.isLoading ? words.loading : model.isSearched ? words.notFound : words.noNames
  list.show(shown, entry => entryView(entry, model, words, renderState))
  const isKnown = model.isOffered && !(hasFailed && model.entries.length === 0)
  const title = isKnown
    ? words.namesTitle(shown.length, model.entries.length, model.rest === undefined)
    : words.namesTitleUnknown
  return html`<section part="names" aria-labelledby="names-title">
    <h2 id="names-title" part="title">${title}</h2>
    <form class="search" role="search" ?hidden=${model.entries.length === 0 && !model.isSearched} @submit=${onSearch}>
      <input type="search" part="field" dir="ltr" spellcheck="false" autocapitalize="off" aria-label=${words.search}
        placeholder=${words.search} @input=${onType}>
      <button type="submit" part="button">${words.searchButton}</button></form>
    <div class="actions">${actions()}</div>
    ${asked ? question(asked) : nothing}
    ${progress(work, words.deleteSelected(work.total))}
    <p class="status" id="names-status" part="status" tabindex="-1">${status?.(words)}</p>
    ${warn(work.failure?.(words), words, model.retry)}
    <div class="list" part="list" role="list" tabindex="0" aria-labelledby="names-title" ?hidden=${shown.length === 0}
      ${ref(list.attach)} @scroll=${list.plan} @click=${onClick} @change=${onTick}><div></div></div>
    <p class="empty" ?hidden=${shown.length > 0 || hasFailed}>${empty}</p>
    <div class="actions"><button type="button" part="button" ?hidden=${model.rest === undefined || hasFailed}
      ?disabled=${model.isLoading} @click=${() => void model.more()}>${words.more}</button></div>
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

  function onSearch(event: Event): void {
    event.preventDefault()
    model.search()
  }
  function onType({ target }: Event): void {
    model.type((target as HTMLInputElement).value)
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

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

function entryView(
  entry: Entry,
  model: TeamList,
  words: ElementWords,
  renderState: RenderState | null,
): TemplateResult {
  const { id, domain, createdAt, shown } = entry
  const { mayDelete, work } = model
  return html`<div class="row team" part="row" role="listitem" tabindex="-1" data-id=${id}>
    <label class="pick"><input type="checkbox" ?hidden=${!mayDelete} .checked=${live(model.isChosen(entry))}>
      <span class="name" part="name"><bdi dir="ltr">${shown}</bdi></span></label>
    <span class="about"><span part="own-state"><slot name=${domain}>${stateOf(entry, model, renderState)}</slot></span>
      <time class="state" part="state" datetime=${createdAt}>${dates.format(new Date(createdAt))}</time></span>
    <button type="button" class="plain bin" part="button plain" aria-label=${words.deleteOne(shown)}
      ?hidden=${!mayDelete} ?disabled=${work.kind !== undefined}>✕</button></div>`
}

/** What the application shows of each name, by its ID, as long as it gives no other function: a node is made once. */
const ownStates = new WeakMap<TeamList, { by: RenderState; states: Map<string, ReturnType<RenderState>> }>()

function stateOf(entry: Entry, model: TeamList, renderState: RenderState | null): ReturnType<RenderState> {
  if (!renderState) return undefined
  const known = ownStates.get(model)
  const { states } = known?.by === renderState ? known : { states: new Map<string, ReturnType<RenderState>>() }
  ownStates.set(model, { by: renderState, states })
  if (!states.has(entry.id)) states.set(entry.id, renderState(entry))
  return states.get(entry.id)
}
