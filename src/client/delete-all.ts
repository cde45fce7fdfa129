import { isFunction, optional, type Rules, requireOptions } from '../options.ts'
import type { DeleteDomainsResponse, DeleteResult } from '../wire/response.ts'
import type { CallFailure } from './answer.ts'
import { CallError, type CallOptions, callRules } from './call.ts'
import { sendNames } from './send-names.ts'

/** Options of {@link deleteAll}. */
export interface DeleteAllOptions extends CallOptions {
  /** Called after each call, for instance to show progress. What it throws ends the work. */
  onProgress?: ((progress: DeleteProgress) => void) | undefined
}

/** The progress of {@link deleteAll}. */
export interface DeleteProgress {
  /** How many names have a result. */
  readonly done: number
  /** How many names there are. */
  readonly total: number
  /** The results of the last call, in the order of its names. */
  readonly results: readonly DeleteResult[]
}

/** The results of all calls. */
export interface DeleteAllResult {
  /** One for each name, in the order of the names. */
  readonly results: readonly DeleteResult[]
  readonly totals: DeleteDomainsResponse['data']['totals']
}

/**
 * Why {@link deleteAll} gave up. What it deleted stays deleted: call it again with the same names.
 *
 * @example
 * if (error instanceof DeleteAllError) console.error(`${error.results.length} were answered, then: ${error.message}`)
 */
export class DeleteAllError extends CallError {
  override readonly name = 'DeleteAllError'
  /** The results so far, which are those of the first names, in their order. */
  readonly results: readonly DeleteResult[]

  constructor(failure: CallFailure, results: readonly DeleteResult[]) {
    super(failure)
    this.results = results
  }
}

const rules: Rules = {
  ...callRules,
  onProgress: { holds: optional(isFunction), expected: 'a function that takes the progress' },
}

const fields = { deleted: ['domain', 'domainId'], missing: [], invalid: ['code', 'message'] }

/**
 * Deletes any number of registrations of one team with a service that offers this operation (`POST {url}/delete`), in
 * calls of 100, one after another. The key needs the scope `domains:delete`. Retries are those of {@link registerAll}.
 * What was deleted before an answer was lost is then `missing`.
 *
 * @param domains Names as they were registered, or any spelling of them. A wildcard deletes itself, and nothing below.
 * @param options `url` is the one for registering: `https://api.example.com/v1/domains`.
 * @returns One result for each name, in the same order, and totals.
 * @throws {DeleteAllError} for an answer that a retry would not change, such as 403, and after the last attempt. It
 *   holds the results so far.
 * @throws {TypeError} as {@link registerAll}.
 *
 * @example
 * const { totals } = await deleteAll(names, { url: 'https://api.example.com/v1/domains', apiKey })
 * console.log(`${totals.deleted} deleted, ${totals.missing} were not there`)
 */
export async function deleteAll(domains: Iterable<string>, options: DeleteAllOptions): Promise<DeleteAllResult> {
  requireOptions(options, rules)
  const toError = (failure: CallFailure, results: readonly DeleteResult[]) => new DeleteAllError(failure, results)
  const url = new URL(options.url)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/delete`
  const results = await sendNames<DeleteResult>(domains, options, { url, fields, toError })
  const totals = { deleted: 0, missing: 0, invalid: 0 }
  for (const { status } of results) totals[status] += 1
  return { results, totals }
}
