import { countTotals, type DomainResult, type Totals } from '../wire/response.ts'
import { NamesError, type NamesOptions, type NamesProgress, sendNames } from './send-names.ts'

/** Options of {@link registerAll}. */
export interface RegisterAllOptions extends NamesOptions<DomainResult> {}

/** The progress of {@link registerAll}. */
export interface Progress extends NamesProgress<DomainResult> {}

/** The results of all calls. */
export interface RegisterAllResult {
  /** One for each name, in the order of the names. None of them is an `internal_error`. */
  readonly results: readonly DomainResult[]
  readonly totals: Totals
}

/**
 * Why {@link registerAll} gave up. What it registered stays registered: call it again with the same names.
 *
 * @example
 * try {
 *   await registerAll(names, { url, apiKey })
 * } catch (error) {
 *   if (!(error instanceof RegisterAllError)) throw error
 *   console.error(`${error.results.length} of ${names.length} were answered, then: ${error.status} ${error.message}`)
 * }
 */
export class RegisterAllError extends NamesError<DomainResult> {
  override readonly name = 'RegisterAllError'
}

const fields = { created: ['domain', 'domainId'], existing: ['domain', 'domainId'], invalid: ['code', 'message'] }

/**
 * Registers any number of hostnames with a service that offers this operation, in calls of 100, one after another.
 *
 * A call is sent again if its answer was lost, and after 408, 429 and 5xx. Names that were answered `internal_error`
 * are sent again after all others. The wait before that grows exponentially up to 30 s, with jitter; a longer
 * `Retry-After` is respected up to an hour. Sending again is safe: names that were registered before the answer was
 * lost are `existing`, with the same `domainId`.
 *
 * Each answer must hold one result for each name that was sent, in that order; one that does not ends the work.
 *
 * @param domains Hostnames: names, wildcards, public IP addresses. A refused one has a result with the reason.
 * @returns One result for each name, in the same order, and totals.
 * @throws {RegisterAllError} for an answer that a retry would not change, such as 401, after the last attempt, and if
 *   names are `internal_error` to the last. It holds the results so far.
 * @throws {TypeError} for an option that is missing, wrong or does not exist, and for names that are no strings. It
 *   says what to pass instead, and shows neither the key nor the URL.
 *
 * @example
 * const { results, totals } = await registerAll(names, {
 *   url: 'https://api.example.com/v1/domains',
 *   apiKey,
 *   onProgress: ({ done, total }) => console.log(`${done} of ${total}`),
 * })
 * for (const result of results) if (result.status === 'invalid') console.log(result.input, result.message)
 */
export async function registerAll(domains: Iterable<string>, options: RegisterAllOptions): Promise<RegisterAllResult> {
  const results = await sendNames(domains, options, { path: '', fields, Failure: RegisterAllError })
  return { results, totals: countTotals(results) }
}
