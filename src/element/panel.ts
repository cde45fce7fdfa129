import { CallError, type CallOptions } from '../client/call.ts'
import { showHostname } from '../hostname/shown-hostname.ts'
import type { createAnnouncer } from './dom.ts'
import type { ElementWords } from './words.ts'

/** What both parts of the element share. */
export interface Surface {
  readonly words: ElementWords
  /** Aborted when the element leaves the page or gets another URL. */
  readonly signal: AbortSignal
  callOptions(signal: AbortSignal): CallOptions
  readonly announcer: ReturnType<typeof createAnnouncer>
}

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
  const code = error.code ?? (error.status === undefined ? 'unreachable' : codeOf(error.status))
  const sentence = Object.hasOwn(failures, code) ? failures[code] : undefined
  if (typeof sentence === 'function') return sentence(error)
  return sentence ?? error.message
}

/** A proxy may answer in place of the service, without a code. */
function codeOf(status: number): string {
  if (status === 401) return 'unauthorized'
  if (status === 429) return 'too_many_requests'
  return status >= 500 ? 'internal_error' : ''
}

/** The service accepts only known top-level domains, so the element needs no list of them, which is large. */
export const display = (domain: string): string => showHostname(domain, () => true)

/** A name as people read it. The direction of the page does not change the order of its labels. */
export function createName(domain: string): HTMLElement {
  const name = document.createElement('bdi')
  name.dir = 'ltr'
  name.textContent = display(domain)
  return name
}
