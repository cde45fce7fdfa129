import type { ErrorCode } from '../errors/api-error.ts'

/** The codes that the client gives to what the service has not said. */
export type ClientCode =
  /** No response arrived, or a part of it was lost. */
  | 'unreachable'
  /** A proxy responded in place of the service, with 408, 429 or 5xx. */
  | 'unavailable'
  /** The response is a redirect, often to a page for signing in. In a browser, it has no status. */
  | 'redirected'
  /** Any other response that is not the service's, such as a page for signing in, or the 403 of a proxy. */
  | 'not_from_service'
  /** The response is JSON, but does not fit the call, or is too large. */
  | 'unexpected_response'
  /** The function `headers` failed. */
  | 'headers_failed'
  /** For the last two, see {@link SyncAllError}. */
  | 'names_rejected'
  | 'too_many_deletions'

/** What a {@link CallError} says. */
export type Failure = Pick<CallError, 'code' | 'message' | 'cause'> & Partial<Pick<CallError, 'status'>>

/**
 * Why the client gave up; the base class of all errors of the client. Changes that earlier calls made are not undone.
 *
 * @example
 * const isSessionOver =
 *   error instanceof CallError && ['unauthorized', 'redirected', 'not_from_service'].includes(error.code)
 */
export class CallError extends Error {
  override readonly name: string = 'CallError'
  /** The HTTP status of the last response, or `undefined` if there was no response. */
  readonly status: number | undefined
  /**
   * The code of the last response, such as `unauthorized`; `internal_error` if names still had that result at the end.
   * If the service has not responded, a {@link ClientCode}.
   */
  readonly code: ErrorCode | ClientCode | (string & {})

  constructor({ status, code, message, cause }: Failure) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

/** What had been done when the work ended early. */
export type NamesState<Result> = Pick<NamesError<Result>, 'results' | 'inputs' | 'resumeAt'>

/** Why the work on names ended early. */
export class NamesError<Result> extends CallError {
  /** The results so far, in the order of their names. Empty with `for await`. */
  readonly results: readonly Result[]
  /** The names that were sent and have no result, in their original order. */
  readonly inputs: readonly string[]
  /** The index of the first name without a result. To resume, leave out all names before this one. */
  readonly resumeAt: number

  constructor(failure: Failure, { results, inputs, resumeAt }: NamesState<Result>) {
    super(failure)
    this.results = results
    this.inputs = inputs
    this.resumeAt = resumeAt
  }
}
