import type { CallOptions } from '../../client/call.ts'
import { CallError } from '../../client/errors.ts'
import type { ElementWords } from '../words.ts'

/** A sentence that is made when it is shown, so that it follows the words. */
export type Sentence = (words: ElementWords) => string

/** What a part of the element needs from its surroundings. */
export interface Surroundings {
  /** How to call the service, as the options of the element are now. */
  callOptions(): CallOptions
  /** Something is to be drawn anew: after progress now and then, otherwise with the next frame. */
  changed(isProgress?: boolean): void
  /** Tells a screen reader. */
  say(sentence: Sentence): void
  /** Gives the focus to an element after the next drawing. */
  focus(selector: string): void
  /** @returns Whether the page leaves it to the element to show the failure. */
  tellFailure(error: CallError): boolean
}

/**
 * How long calls may fail before the element tells the user, in milliseconds. A person who looks at the page waits less
 * than a program.
 */
const PATIENCE = 30_000

/** Milliseconds between two announcements of progress, so a screen reader can finish each. */
const BETWEEN_ANNOUNCEMENTS = 4000

export type Ending = 'done' | 'stopped' | 'failed' | 'busy'
type Kind = 'check' | 'register' | 'delete' | 'export'

const progressOf = {
  check: 'checking',
  register: 'registering',
  delete: 'deleting',
  export: 'exporting',
} as const satisfies Record<Kind, keyof ElementWords>

/** One piece of work at a time: how far it is, how it is stopped, and why it failed. */
export class Work {
  kind: Kind | undefined
  done = 0
  total = 0
  failure: Sentence | undefined
  /** Whether the last call failed and is sent again. */
  #isRetrying = false
  #saidAt = 0
  #controller = new AbortController()
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** What is going on. */
  get status(): Sentence | undefined {
    const { kind, done, total } = this
    if (this.#isRetrying) return words => words.retrying
    return kind && (words => words[progressOf[kind]](done, total))
  }
  stop(): void {
    this.#controller.abort()
  }

  /** @param work Gets the options for its calls, and a function that notes how many names have a result. */
  async run(
    kind: Kind,
    total: number,
    work: (options: CallOptions, onStep: (done: number) => void) => Promise<void>,
  ): Promise<Ending> {
    if (this.kind) return 'busy'
    this.#controller = new AbortController()
    const { signal } = this.#controller
    Object.assign(this, { kind, total, done: 0, failure: undefined })
    this.#saidAt = performance.now()
    this.#around.changed()
    try {
      await work({ ...this.options(), signal }, done => {
        this.done = done
        this.#around.changed(true)
        if (performance.now() - this.#saidAt < BETWEEN_ANNOUNCEMENTS) return
        this.#saidAt = performance.now()
        this.#around.say(words => words[progressOf[kind]](done, total))
      })
      return 'done'
    } catch (error) {
      if (signal.aborted) return 'stopped'
      this.fail(error)
      return 'failed'
    } finally {
      this.kind = undefined
      this.#isRetrying = false
      this.#around.changed()
    }
  }

  fail(error: unknown): void {
    this.#isRetrying = false
    const failure = toCallError(error)
    if (this.#around.tellFailure(failure)) this.failure = words => explainFailure(failure, words)
  }

  /** Options for calls whose failures are noticed as soon as the first one is tried again. */
  options(): CallOptions {
    const options = this.#around.callOptions()
    const notice = (isRetrying: boolean) => {
      if (this.#isRetrying === isRetrying) return
      this.#isRetrying = isRetrying
      if (isRetrying) this.#around.say(words => words.retrying)
      this.#around.changed()
    }
    const send: typeof fetch = async (...request) => {
      try {
        const response = await (options.fetch ?? fetch)(...request)
        notice(response.status === 408 || response.status === 429 || response.status >= 500)
        return response
      } catch (error) {
        if (!this.#controller.signal.aborted) notice(true)
        throw error
      }
    }
    return { ...options, patience: PATIENCE, fetch: send }
  }
}

export const hasCode = (error: unknown, code: string): boolean => error instanceof CallError && error.code === code

/** Whether the service does not offer an operation. */
export const isNotOffered = (error: unknown): boolean =>
  error instanceof CallError && (error.status === 404 || error.status === 405) && error.code !== 'team_not_found'

/** A wrong option is a mistake of the page, and not a failed call. */
const toCallError = (error: unknown): CallError =>
  error instanceof CallError ? error : new CallError({ message: String(error), code: 'invalid_options', cause: error })

function explainFailure(error: CallError, { failures }: ElementWords): string {
  const sentence = Object.hasOwn(failures, error.code) ? failures[error.code] : undefined
  return (typeof sentence === 'function' ? sentence(error) : sentence) ?? error.message
}
