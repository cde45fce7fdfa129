import { html, LitElement, type PropertyValues } from 'lit'
import { AddList } from './add-list.ts'
import { addView } from './add-view.ts'
import type { Row } from './rows.ts'
import { style } from './style.ts'
import { type Entry, TeamList } from './team-list.ts'
import { teamView } from './team-view.ts'
import type { ElementOptions, RenderState } from './types.ts'
import { nextFrame, WindowedList } from './windowed-list.ts'
import { completeWords, type ElementWords } from './words.ts'
import type { Sentence, Surroundings } from './work.ts'

/** Milliseconds between two drawings of progress. */
const BETWEEN_DRAWINGS = 100

/** What the element is and does in a page. The views are what it shows; the two lists are what it knows. */
export class Page extends LitElement {
  static override readonly properties = {
    url: { reflect: true },
    options: { attribute: false },
    words: { attribute: false },
    renderState: { attribute: false },
  }
  declare url: string | null
  declare options: ElementOptions
  declare words: Partial<ElementWords>
  declare renderState: RenderState | null

  readonly #pasted = new WindowedList<Row>()
  readonly #registered = new WindowedList<Entry>()
  #lists: { readonly key: string; readonly adding: AddList; readonly team: TeamList } | undefined
  #spoken: Sentence | undefined
  /** A selector of what gets the focus after the next drawing. */
  #wanted: string | undefined
  #progress: ReturnType<typeof setTimeout> | undefined
  #guarded: Window | null = null

  constructor() {
    super()
    this.url = null
    this.options = {}
    this.words = {}
    this.renderState = null
  }

  async reload(): Promise<void> {
    await this.#lists?.team.load()
  }

  protected override createRenderRoot(): ShadowRoot {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    adoptStyle(root)
    return root
  }
  adoptedCallback(): void {
    if (this.shadowRoot) adoptStyle(this.shadowRoot)
  }
  override connectedCallback(): void {
    super.connectedCallback()
    // An element that was taken out has lost the places to which its lists were scrolled.
    this.requestUpdate()
  }

  /**
   * Changes of the lists come many times a second while something runs; one drawing a frame is enough. But where the
   * focus goes is settled at once, before the next key.
   */
  protected override async scheduleUpdate(): Promise<void> {
    if (this.hasUpdated && this.#wanted === undefined) await nextFrame(this.ownerDocument)
    await super.scheduleUpdate()
  }

  protected override willUpdate(): void {
    // Only another service or another team means other lists. The page's own URL may change meanwhile.
    const { url, baseURI } = this
    const key = url != null && URL.canParse(url, baseURI) ? `${url} ${this.options?.teamId ?? ''}` : undefined
    if (key !== this.#lists?.key) {
      this.#lists?.adding.stop()
      this.#lists?.team.work.stop()
      this.#spoken = undefined
      this.#lists = key === undefined ? undefined : this.#open(key, url as string)
    }
  }
  protected override render() {
    const words = completeWords(this.words)
    if (!this.#lists) return html`<p>${words.missingUrl}</p>`
    const { adding, team } = this.#lists
    return html`<div class="spoken" role="status" aria-live="polite">${this.#spoken?.(words)}</div>
      ${addView(adding, words, this.#pasted, team.isOffered === true)}
      ${teamView(team, words, this.#registered, this.renderState)}`
  }
  protected override update(changed: PropertyValues<this>): void {
    const focused = this.shadowRoot?.activeElement
    const part = focused?.closest('[part=names]') ? '[part=names]' : '[part=add]'
    const row = focused?.closest<HTMLElement>('.row') ?? null
    super.update(changed)
    this.#pasted.draw()
    this.#registered.draw()
    const wanted = this.#wanted
    this.#wanted = undefined
    // The focus of the rest of the page is its own.
    if (focused) this.#settleFocus(part, row, wanted)
  }

  /** To what is wanted, unless the user is in a row; or near to what is gone, but never to a control of another row. */
  #settleFocus(part: string, row: HTMLElement | null, wanted: string | undefined): void {
    const isLost = !this.shadowRoot?.activeElement?.checkVisibility()
    const { id = '', index } = row?.dataset ?? {}
    const own = `${part} .row[data-id="${CSS.escape(id)}"]`
    const selectors = [
      ...(wanted !== undefined && (isLost || !row) ? [wanted] : []),
      ...(isLost ? [`${own} :is(input, button)`, own, `${part} .row[data-index="${index}"]`, `${part} .status`] : []),
    ]
    const target = selectors
      .flatMap(selector => [...this.renderRoot.querySelectorAll<HTMLElement>(selector)])
      .find(each => each.checkVisibility())
    target?.focus({ preventScroll: target.matches('.row, .row *, .status') })
  }

  #open(key: string, url: string) {
    // Lists that were replaced end their work a moment later.
    const isCurrent = () => this.#lists?.key === key
    const around: Surroundings = {
      callOptions: () => ({
        ...this.options,
        url: new URL(url, this.baseURI),
        // Read for each call, as a token may be renewed meanwhile.
        headers: () => {
          const headers = this.options?.headers
          return typeof headers === 'function' ? headers() : headers
        },
      }),
      changed: isProgress => {
        this.#guard()
        if (!isProgress) return this.requestUpdate()
        this.#progress ??= setTimeout(() => {
          this.#progress = undefined
          this.requestUpdate()
        }, BETWEEN_DRAWINGS)
      },
      say: sentence => {
        if (!isCurrent()) return
        this.#spoken = sentence
        this.requestUpdate()
      },
      focus: selector => {
        if (!isCurrent()) return
        this.#wanted = selector
        this.requestUpdate()
      },
      tellFailure: error => isCurrent() && this.#tell('call-failed', { error }),
    }
    const adding = new AddList(around, domains => {
      this.#tell('domains-registered', { domains })
      void team.load()
    })
    const team = new TeamList(around, domains => {
      this.#tell('domains-deleted', { domains })
      adding.edit(names => names.followDeletion(domains))
    })
    void team.load()
    return { key, adding, team }
  }

  /** @returns Whether the page has not prevented what the element does by itself. */
  #tell(name: string, detail: unknown): boolean {
    const cancelable = name === 'call-failed'
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }))
  }

  /** The browser asks before the page is left, but only while names are being registered or deleted. */
  #guard(): void {
    const { adding, team } = this.#lists ?? {}
    const isNeeded = adding?.work.kind === 'register' || team?.work.kind === 'delete'
    const view = isNeeded ? this.ownerDocument.defaultView : null
    if (view === this.#guarded) return
    this.#guarded?.removeEventListener('beforeunload', askFirst)
    view?.addEventListener('beforeunload', askFirst)
    this.#guarded = view
  }
}

const askFirst = (event: Event) => event.preventDefault()

const sheets = new WeakMap<Document, CSSStyleSheet>()

/**
 * A strict Content-Security-Policy allows constructed style sheets, but no inline style. A style sheet belongs to one
 * document.
 */
function adoptStyle(root: ShadowRoot): void {
  const { ownerDocument } = root
  const view = ownerDocument.defaultView
  if (!view) return
  const sheet = sheets.get(ownerDocument) ?? new view.CSSStyleSheet()
  if (!sheets.has(ownerDocument)) sheet.replaceSync(style)
  sheets.set(ownerDocument, sheet)
  root.adoptedStyleSheets = [sheet]
}
