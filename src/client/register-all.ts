import { optional, type Rules } from '../options.ts'
import { countTotals, type DomainResult, type Totals } from '../wire/response.ts'
import { NamesError } from './errors.ts'
import type { Names } from './names.ts'
import type { FieldsOf } from './send-batch.ts'
import { createRun, type NamesOptions, type Run } from './send-names.ts'

/** A result of registering. */
export type RegisterResult = DomainResult & {
  /**
   * With {@link RegisterAllOptions.fix}, the hostname that was sent in place of the name. Absent if the name itself was
   * sent.
   */
  readonly sent?: string
}

/** Options of {@link registerAll}. */
export interface RegisterAllOptions extends NamesOptions<RegisterResult> {
  /**
   * Before each call, requests a preview of its names. If the preview rejects a name and has a certain suggestion, that
   * is sent instead: `example.com` for `https://example.com/`. A guess, such as `example.com` for `example.con`, is not
   * sent. The service must offer the operation `preview`. Default `false`.
   */
  fix?: boolean | undefined
}

/** The results of all calls. */
export interface RegisterAllResult {
  /** One result for each name, in the order of the names. No result is an `internal_error`. */
  readonly results: readonly RegisterResult[]
  readonly totals: Totals
}

/**
 * Why {@link registerAll} gave up. Names that were already registered stay registered. To resume, call `registerAll`
 * again with the same names, or without the first `resumeAt` of them.
 *
 * @example
 * try {
 *   await registerAll(names, { url, apiKey })
 * } catch (error) {
 *   if (!(error instanceof RegisterAllError)) throw error
 *   console.error(`${error.status} ${error.message} Not registered: ${error.inputs.join(', ')}`)
 * }
 */
export class RegisterAllError extends NamesError<RegisterResult> {
  override readonly name = 'RegisterAllError'
}

const ownRules: Rules = { fix: { holds: optional(value => typeof value === 'boolean'), expected: 'true or false' } }

/** The fields of a registration result, for each status. */
const registerFields = {
  created: ['domain', 'domainId'],
  existing: ['domain', 'domainId'],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<DomainResult>

/**
 * Registers any number of hostnames, by calling a service that offers this operation. Sends the names in calls of 100,
 * four at once.
 *
 * Sending a name again is safe: if a name was registered and the response was lost, the retry returns `existing`, with
 * the same `domainId`. A call is retried if its response was lost, and after 408, 429 and 5xx. Names whose result was
 * `internal_error` are retried as well. Meanwhile, the calls for other names continue. The wait before a retry grows
 * exponentially up to 30 s, with jitter. A longer `Retry-After` is respected up to an hour, but never beyond
 * `patience`. If a call keeps failing while others succeed, its names are repeatedly split in half until the names that
 * cause the failure are isolated.
 *
 * Each response must contain one result for each name that was sent, in the order of the names. Otherwise the work
 * ends.
 *
 * @param domains Names, wildcards and public IP addresses, as an array, another iterable, or an async iterable. The
 *   result of a rejected hostname gives the reason.
 * @returns When awaited, one result for each name, in the order of the names, and the totals. With `for await`, one
 *   result after another, also in the order of the names, except that retried names come later. So only a few calls are
 *   in memory, even with millions of names. The work begins when you use `await` or `for await`.
 * @throws {RegisterAllError} if a retry would not change the response, such as 401; if every call has failed for
 *   `patience`, or the next retry would come after that time; or if some names still get `internal_error` once all
 *   others have a result. The error has the results so far, the names without a result, and the place to resume from.
 * @throws {TypeError} if an option is missing, invalid or unknown, or if a name is not a string. The message says what
 *   to pass instead, and shows neither the key nor the URL.
 *
 * @example
 * const { results, totals } = await registerAll(names, {
 *   url: 'https://api.example.com/v1/domains',
 *   apiKey,
 *   onProgress: ({ done, total }) => console.log(`${done} of ${total}`),
 * })
 * for (const result of results) if (result.status === 'invalid') console.log(result.input, result.message)
 *
 * @example
 * const { results } = await registerAll(names, { url: 'https://api.example.com/v1/domains', apiKey, fix: true })
 * for (const { input, sent } of results) if (sent !== undefined) console.log(`${input} was sent as ${sent}`)
 *
 * @example
 * for await (const result of registerAll(new Set(names), { url: 'https://api.example.com/v1/domains', apiKey })) {
 *   if (result.status === 'invalid') console.log(result.input, result.message)
 * }
 */
export function registerAll(domains: Names, options: RegisterAllOptions): Run<RegisterResult, RegisterAllResult> {
  const corrects = options?.fix === true
  const operation = { path: '', fields: registerFields, Failure: RegisterAllError, corrects, ownRules } as const
  return createRun(domains, options, operation, results => ({ results, totals: countTotals(results) }))
}
