import type { CallOptions } from '../client/call.ts'
import { createAddNames } from './add-names.ts'
import { create, createAnnouncer, type Surface } from './panel.ts'
import { style } from './style.ts'
import { createTeamNames } from './team-names.ts'
import { type ElementWords, english } from './words.ts'

export type { CallHeaders, CallOptions } from '../client/call.ts'
export type { ElementWords, ReasonSentence } from './words.ts'

/** On a server, where modules of a page are also imported, there is no `HTMLElement`. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/** Options for the calls of the element: those of the client, except the URL. */
export type ElementOptions = Omit<CallOptions, 'url' | 'patience' | 'signal'>

/**
 * The custom element `<domain-registration url="/v1/domains">`: a customer pastes a list of hostnames, sees what is
 * wrong, uses corrections, registers names, and searches and deletes the registered names. Importing the module defines
 * the element.
 *
 * The attribute `url` is the URL for registering, relative to the page. What the element offers depends on the service:
 * with the operation `preview`, names are checked before they are registered; with `list`, the registered names are
 * shown; with `delete`, they can be deleted. Calls that fail are retried for half a minute.
 *
 * @example
 * import { DomainRegistrationElement } from 'domain-registration/element'
 * const element = new DomainRegistrationElement()
 * element.setAttribute('url', '/v1/domains')
 * element.options = { headers: { 'X-CSRF-Token': token } }
 * document.body.append(element)
 */
export class DomainRegistrationElement extends Base {
  static readonly observedAttributes = ['url']
  #options: ElementOptions = {}
  #words: Partial<ElementWords> = {}
  /** Ends all calls of the element. */
  #controller: AbortController | undefined
  #isPlanned = false

  /**
   * How to call the service: `headers`, `credentials`, `teamId` and the other options of the client. By default, the
   * browser sends the cookies of the page's own origin. Setting this property starts the element anew.
   */
  get options(): ElementOptions {
    return this.#options
  }
  set options(options: ElementOptions) {
    this.#options = options
    this.#plan()
  }

  /**
   * Words in place of the English ones. `reasons` has the sentences about rejected names, by `reason`. Setting this
   * property starts the element anew.
   */
  get words(): Partial<ElementWords> {
    return this.#words
  }
  set words(words: Partial<ElementWords>) {
    this.#words = words
    this.#plan()
  }

  connectedCallback(): void {
    // Properties that were set before the element was defined hide its accessors.
    for (const name of ['options', 'words'] as const) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name] as never
      delete (this as Partial<Pick<this, typeof name>>)[name]
      this[name] = value
    }
    this.#plan()
  }

  disconnectedCallback(): void {
    this.#controller?.abort()
  }

  attributeChangedCallback(): void {
    this.#plan()
  }

  /** Starts once, even if several properties are set one after another. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    queueMicrotask(() => {
      this.#isPlanned = false
      if (this.isConnected) this.#start()
    })
  }

  #start(): void {
    this.#controller?.abort()
    const controller = new AbortController()
    this.#controller = controller
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    if (root.adoptedStyleSheets.length === 0) {
      // A strict Content-Security-Policy allows constructed style sheets, but no inline style.
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(style)
      root.adoptedStyleSheets = [sheet]
    }
    const url = this.getAttribute('url')
    if (url === null) {
      root.replaceChildren(create('p', {}, 'The attribute "url" is missing.'))
      return
    }
    const surface: Surface = {
      words: {
        ...english,
        ...this.#words,
        failures: { ...english.failures, ...this.#words.failures },
      },
      signal: controller.signal,
      announcer: createAnnouncer(),
      callOptions: signal => ({ ...this.#options, url: new URL(url, this.baseURI), signal }),
    }
    const adding = createAddNames(surface, () => void team.load())
    const team = createTeamNames(surface, adding.followDeletion)
    root.replaceChildren(surface.announcer.box, adding.section, team.section)
    void team.load()
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'domain-registration': DomainRegistrationElement
  }
}

if (globalThis.customElements && !customElements.get('domain-registration')) {
  customElements.define('domain-registration', DomainRegistrationElement)
}
