import { Page } from './element.ts'
import type { DomainRegistrationEvents, ElementOptions, RenderState } from './types.ts'
import type { ElementWords } from './words.ts'

export type { CallHeaders, CallOptions } from '../client/call.ts'
export type { ListedDomain } from '../wire/results.ts'
export type * from './types.ts'
export type { Counts, ElementWords, ReasonSentence } from './words.ts'

/**
 * The custom element `<domain-registration url="/v1/domains">`: a customer pastes a list of hostnames, sees what is
 * wrong, uses corrections, registers names, and searches and deletes the registered names. Importing the module defines
 * the element.
 *
 * What the element offers depends on the service: with the operation `preview`, names are checked before they are
 * registered; with `list`, the registered names are shown; with `delete`, they can be deleted. Calls that fail are
 * retried for half a minute. The events bubble out of shadow roots.
 *
 * @example
 * import { DomainRegistrationElement } from 'domain-registration/element'
 * const element = new DomainRegistrationElement()
 * element.url = '/v1/domains'
 * element.options = { headers: { 'X-CSRF-Token': token } }
 * element.addEventListener('domains-registered', ({ detail }) => console.log(detail.domains.length))
 * document.body.append(element)
 */
export interface DomainRegistrationElement extends HTMLElement {
  /** The URL for registering, relative to the page. Another one starts the element anew. Also an attribute. */
  url: string | null
  /**
   * How to call the service: `headers`, `credentials`, `teamId` and the other options of the client. By default, the
   * browser sends the cookies of the page's own origin. They apply from the next call on, and nothing is lost; only
   * another `teamId` starts the element anew.
   */
  options: ElementOptions
  /** Words in place of the English ones. `reasons` has the sentences about rejected names, by `reason`. */
  words: Partial<ElementWords>
  /**
   * Returns what your application shows beside a registered name, such as "pending" or a link: text, `{ text, tone }`
   * or a node. It is called once for each name that comes into view. Set another function to have it called anew. A
   * child of the element whose `slot` is the name, in canonical form, replaces it.
   */
  renderState: RenderState | null
  /** Loads the registered names anew, for instance after your page has changed them itself. */
  reload(): Promise<void>
}

/** The properties and events as frameworks with JSX or templates type them; see `docs/customers-page.md`. */
export type DomainRegistrationProps = Partial<
  Pick<DomainRegistrationElement, 'url' | 'options' | 'words' | 'renderState'>
> & {
  readonly [Name in keyof DomainRegistrationEvents as `on${Name}`]?: (event: DomainRegistrationEvents[Name]) => void
}

/**
 * The class of the element, which is defined as `domain-registration`: if the module is loaded twice, by the first one.
 *
 * @example
 * const element = new DomainRegistrationElement()
 * element instanceof HTMLElement // true
 */
export const DomainRegistrationElement: {
  new (): DomainRegistrationElement
  readonly prototype: DomainRegistrationElement
} = (globalThis.customElements?.get('domain-registration') as typeof Page | undefined) ?? Page

declare global {
  interface HTMLElementTagNameMap {
    'domain-registration': DomainRegistrationElement
  }
  interface HTMLElementEventMap extends DomainRegistrationEvents {}
}

if (globalThis.customElements && DomainRegistrationElement === Page) customElements.define('domain-registration', Page)
