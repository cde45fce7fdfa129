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

/** An error with a button that tries again. */
export function createAlert() {
  const text = create('p')
  const actions = create('div')
  const box = create('div', { class: 'alert', part: 'alert', role: 'alert' }, text, actions)
  box.hidden = true
  return {
    box,
    show(message: string, ...buttons: readonly HTMLElement[]): void {
      text.textContent = message
      actions.replaceChildren(...buttons)
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
