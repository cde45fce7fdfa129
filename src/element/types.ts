import type { CallOptions } from '../client/call.ts'
import type { CallError } from '../client/errors.ts'
import type { DomainResult, ListedDomain } from '../wire/results.ts'

/** Options for the calls of the element: those of the client, except for the URL. */
export type ElementOptions = Omit<CallOptions, 'url' | 'patience' | 'signal'>

/** How a state looks: those of the element itself have the same colors. */
export type Tone = 'waits' | 'ready' | 'registered' | 'failed'

/** Returns what the application shows beside a registered name: text, text with a tone, or a node. */
export type RenderState = (
  name: ListedDomain,
) => string | Node | { readonly text: string; readonly tone: Tone } | null | undefined

/** A name that was registered, or was registered before. */
export type RegisteredName = Exclude<DomainResult, { readonly status: 'invalid' }>

/** The events of the element, by name. They bubble, also out of shadow roots. */
export interface DomainRegistrationEvents {
  /** Names have been registered. Also dispatched after a stop or a failure, if some were registered before it. */
  'domains-registered': CustomEvent<{ readonly domains: readonly RegisteredName[] }>
  /** Names of the team have been deleted. */
  'domains-deleted': CustomEvent<{ readonly domains: readonly string[] }>
  /**
   * Calls have failed, and are not sent again. The element says so, unless the page calls `preventDefault()`, for
   * instance to open its own page for signing in. If the session is over, `error.code` is usually `unauthorized`,
   * `redirected` or `not_from_service`.
   */
  'call-failed': CustomEvent<{ readonly error: CallError }>
}
