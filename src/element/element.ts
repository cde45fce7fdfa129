import { html, LitElement, type PropertyValues } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import { AddList } from './lists/add-list.ts'
import type { Row } from './lists/rows.ts'
import { type Entry, TeamList } from './lists/team-list.ts'
import type { Sentence, Surroundings } from './lists/work.ts'
import type { ElementOptions, RegisteredName, RenderState } from './types.ts'
import { addView } from './views/add-view.ts'
import type { CopyActions } from './views/records-view.ts'
import { style } from './views/style.ts'
import { teamView } from './views/team-view.ts'
import { nextFrame, WindowedList } from './views/windowed-list.ts'
import { completeWords, type ElementWords } from './words.ts'

/** Milliseconds between two drawings of progress. */
const BETWEEN_DRAWINGS = 100
/** Milliseconds outside the document after which an element stops: renders and moves take it out for a moment only. */
const LONGEST_MOVE = 3000
/** Milliseconds for which a button says that its text was copied. */
const COPIED_FOR = 3000
/**
 * Milliseconds between two looks at the service while the page is seen: for ten minutes after names began to wait, or
 * one of them was settled, and otherwise.
 */
const BETWEEN_LOOKS = 20_000
const BETWEEN_IDLE_LOOKS = 60_000
const MOST_QUICK_LOOKS = 30

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
  /** Ends the wait for the next frame. */
  #drawNow = () => {}
  #progress: ReturnType<typeof setTimeout> | undefined
  #guarded: Window | null = null
  #isDropping = false
  /** Which text was copied a moment ago. */
  #copied: string | undefined
  #copiedTimer: ReturnType<typeof setTimeout> | undefined
  #watched: Window | null = null
  #look: ReturnType<typeof setTimeout> | undefined
  #quickLooks = 0
  #waitingCount = 0
  #leaving: ReturnType<typeof setTimeout> | undefined

  constructor() {
    super()
    this.url = null
    this.options = {}
    this.words = {}
    this.renderState = null
    this.addEventListener('dragover', event => {
      event.preventDefault()
      this.#drag(true)
    })
    this.addEventListener('dragleave', () => this.#drag(false))
    this.addEventListener('drop', event => this.#drop(event))
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
    clearTimeout(this.#leaving)
    this.#watchPage()
    // An element that was taken out has lost the places to which its lists were scrolled.
    this.requestUpdate()
  }

  /** What nobody sees any more does not go on registering or deleting. */
  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#unwatchPage()
    this.#leaving = setTimeout(() => {
      this.#lists?.adding.work.stop()
      this.#lists?.team.work.stop()
    }, LONGEST_MOVE)
  }

  /** Follows the page: prints all names, and looks for changes while the page is seen. */
  #watchPage(): void {
    this.#unwatchPage()
    this.#watched = this.ownerDocument.defaultView
    for (const name of ['beforeprint', 'afterprint']) this.#watched?.addEventListener(name, this.#onPage)
    this.#watched?.document.addEventListener('visibilitychange', this.#onPage)
    this.#lookLater()
  }
  #unwatchPage(): void {
    for (const name of ['beforeprint', 'afterprint']) this.#watched?.removeEventListener(name, this.#onPage)
    this.#watched?.document.removeEventListener('visibilitychange', this.#onPage)
    clearTimeout(this.#look)
  }
  readonly #onPage = ({ type }: Event): void => {
    if (type === 'visibilitychange') this.#lookLater(0)
    else for (const list of [this.#pasted, this.#registered]) list.print(type === 'beforeprint')
  }
  /** Names may be registered in another tab, or by the service itself. */
  #lookLater(wait = this.#quickLooks > 0 ? BETWEEN_LOOKS : BETWEEN_IDLE_LOOKS): void {
    clearTimeout(this.#look)
    if (!this.isConnected || this.ownerDocument.visibilityState !== 'visible') return
    this.#look = setTimeout(async () => {
      this.#quickLooks -= 1
      await this.#lists?.team.look()
      this.#lookLater()
    }, wait)
  }

  #drag(isDropping: boolean): void {
    if (this.#isDropping !== isDropping) this.requestUpdate()
    this.#isDropping = isDropping
  }
  #drop(event: DragEvent): void {
    event.preventDefault()
    this.#drag(false)
    const { adding } = this.#lists ?? {}
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length > 0) void adding?.pasteFiles(files)
    else void adding?.paste(event.dataTransfer?.getData('text/plain') ?? '')
  }
  #noteCopy(id: string, isCopied: boolean, sentence: Sentence): void {
    clearTimeout(this.#copiedTimer)
    this.#copied = isCopied ? id : undefined
    this.#spoken = sentence
    this.requestUpdate()
    this.#copiedTimer = setTimeout(() => {
      this.#copied = undefined
      this.requestUpdate()
    }, COPIED_FOR)
  }

  /**
   * Changes of the lists come many times a second while something runs; one drawing a frame is enough. But where the
   * focus goes is settled at once, before the next key.
   */
  protected override async scheduleUpdate(): Promise<void> {
    if (this.hasUpdated && this.#wanted === undefined) {
      const asked = new Promise<void>(resolve => {
        this.#drawNow = resolve
      })
      await Promise.race([nextFrame(this.ownerDocument), asked])
    }
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
      // What was taken out at once, such as a copy that a library has put in for a moment, calls nobody.
      this.#lists = key === undefined || !this.isConnected ? undefined : this.#open(key, url as string)
    }
  }
  protected override render() {
    const words = completeWords(this.words)
    if (!this.#lists) return html`<p>${words.missingUrl}</p>`
    const { adding, team } = this.#lists
    // A screen reader says what is new in it. Each sentence is a node of its own, as the same one may come again.
    const copies: CopyActions = { copied: this.#copied, noteCopy: (...copy) => this.#noteCopy(...copy) }
    const spoken = keyed(this.#spoken, html`<span>${this.#spoken?.(words)}</span>`)
    // Without white space in between, which the page's style may preserve.
    return html`<div class="spoken" aria-live="polite" aria-atomic="true">${spoken}</div>${[
      addView(adding, words, this.#pasted, {
        ...copies,
        isListed: team.isOffered === true,
        isDropping: this.#isDropping,
      }),
      teamView(team, words, this.#registered, this.renderState, copies),
    ]}`
  }
  protected override update(changed: PropertyValues<this>): void {
    const focused = this.shadowRoot?.activeElement
    const part = focused?.closest('[part=names]') ? '[part=names]' : '[part=add]'
    const row = focused?.closest<HTMLElement>('.row') ?? null
    super.update(changed)
    this.#pasted.draw()
    this.#registered.draw()
    const { waitingCount = 0 } = this.#lists?.team ?? {}
    if (waitingCount !== this.#waitingCount) {
      this.#waitingCount = waitingCount
      this.#quickLooks = waitingCount > 0 ? MOST_QUICK_LOOKS : 0
      this.#lookLater()
    }
    const wanted = this.#wanted
    this.#wanted = undefined
    // The focus of the rest of the page is its own.
    if (focused) this.#settleFocus(part, row, wanted)
  }

  /** To what is wanted, unless the user is in a row; or near to what is gone, but never to a control of another row. */
  #settleFocus(part: string, row: HTMLElement | null, wanted: string | undefined): void {
    const isLost = !this.shadowRoot?.activeElement?.checkVisibility?.()
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
        this.#drawNow()
      },
      tellFailure: error => isCurrent() && this.#tell('call-failed', { error }),
    }
    const registered = (domains: readonly RegisteredName[]) => {
      if (domains.length > 0) this.#tell('domains-registered', { domains })
      void team.load()
    }
    const adding = new AddList(around, registered)
    const team = new TeamList(around, {
      registered,
      deleted: domains => {
        this.#tell('domains-deleted', { domains })
        adding.edit(names => names.followDeletion(domains))
      },
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
