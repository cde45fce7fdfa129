import type { CallOptions } from '../client/call.ts'
import { CallError } from '../client/errors.ts'
import { showHostname } from '../hostname/shown-hostname.ts'
import type { ElementWords } from './words.ts'

/** What both parts of the element share. */
export interface Surface {
  readonly words: ElementWords
  /** Aborted when the element leaves the page or gets another URL. */
  readonly signal: AbortSignal
  callOptions(signal: AbortSignal): CallOptions
  readonly announcer: ReturnType<typeof createAnnouncer>
}

/** Creates an element. Strings become text nodes, never markup. */
export function create<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.append(...children)
  return element
}

/** Creates a button. `kind` is its class, and its part besides `button`. */
export function createButton(kind: string, text: string, onClick: () => void): HTMLButtonElement {
  const button = create('button', { type: 'button' }, text)
  setKind(button, kind)
  button.addEventListener('click', onClick)
  return button
}

export function setKind(button: HTMLButtonElement, kind: string): void {
  button.className = kind
  button.setAttribute('part', `button ${kind}`.trim())
}

/** Creates a message about an error, with a button if the message is shown with something to try again. */
export function createAlert({ retry }: ElementWords) {
  let tryAgain = () => {}
  const text = create('p')
  const button = createButton('', retry, () => tryAgain())
  const box = create('div', { class: 'alert', part: 'alert', role: 'alert' }, text, button)
  box.hidden = true
  return {
    box,
    show(message: string, onRetry?: () => void): void {
      text.textContent = message
      button.hidden = onRetry === undefined
      if (onRetry) tryAgain = onRetry
      box.hidden = false
    },
    hide(): void {
      box.hidden = true
      text.textContent = ''
    },
  }
}

/** Milliseconds between two announcements, so a screen reader can finish each. */
const BETWEEN_ANNOUNCEMENTS = 4000

/** A live region for screen readers, which announces progress now and then, and results at once. */
export function createAnnouncer() {
  const box = create('div', { class: 'quiet-live', role: 'status', 'aria-live': 'polite' })
  let last = Number.NEGATIVE_INFINITY
  return {
    box,
    say(text: string, isResult = true): void {
      if (!isResult && performance.now() - last < BETWEEN_ANNOUNCEMENTS) return
      last = performance.now()
      box.textContent = text
    },
  }
}

/** The service accepts only known top-level domains, so the element needs no list of them, which is large. */
export const display = (domain: string): string => showHostname(domain, () => true)

/** A name as people read it. The direction of the page does not change the order of its labels. */
export const createName = (domain: string): HTMLElement => create('bdi', { dir: 'ltr' }, display(domain))

/**
 * How long calls may fail before the element tells the user, in milliseconds. A person who looks at the page waits less
 * than a program.
 */
export const PATIENCE = 30_000

/** Whether the service does not offer an operation, or not to this user. */
export const isNotOffered = (error: unknown): boolean =>
  error instanceof CallError &&
  (error.status === 404 || error.status === 405 || error.code === 'insufficient_scope') &&
  error.code !== 'team_not_found'

/** The sentence about a failed call. */
export function explainFailure(error: unknown, { failures }: ElementWords): string {
  if (!(error instanceof CallError)) return String((error as Error)?.message ?? error)
  const sentence = Object.hasOwn(failures, error.code) ? failures[error.code] : undefined
  if (typeof sentence === 'function') return sentence(error)
  return sentence ?? error.message
}
