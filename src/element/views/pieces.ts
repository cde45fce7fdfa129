import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import type { Work } from '../lists/work.ts'
import type { ElementWords } from '../words.ts'

/** `kind` is the button's class, and its part besides `button`. */
export const button = (kind: string, text: string, onClick: (event: Event) => void): TemplateResult =>
  html`<button type="button" class=${kind} part=${`button ${kind}`.trim()} @click=${onClick}>${text}</button>`

/**
 * Whether a key ends what is written in a field; Enter may also choose a word of an input method. There is no form: in
 * a sandboxed frame, forms are submitted only if it has `allow-forms`.
 */
export const isEnter = ({ key, isComposing }: KeyboardEvent): boolean => key === 'Enter' && !isComposing

/** The texts around a name in a sentence: the name itself is isolated, so its direction does not change theirs. */
export function textsAround(sentence: (name: string) => string): readonly [before: string, after: string] {
  const [before = '', after = ''] = sentence('\0').split('\0')
  return [before, after]
}

/** How far a piece of work is. */
export const progress = ({ kind, done, total }: Work, label: string): TemplateResult =>
  html`<progress part="progress" aria-label=${label} ?hidden=${!kind}
    max=${total || 1} .value=${live(done)}></progress>`

/** A message about an error, with a button if there is something to try again. */
export const warn = (
  text: string | undefined,
  words: ElementWords,
  retry?: (() => void) | undefined,
): TemplateResult | typeof nothing =>
  text === undefined
    ? nothing
    : html`<div class="alert" part="alert" role="alert"><p>${text}</p>
        ${retry ? button('', words.retry, retry) : nothing}</div>`
