import { countDeleted, type DeleteDomainsResponse, type DeleteResult } from '../wire/response.ts'
import { NamesError, type NamesOptions, type NamesProgress, sendNames } from './send-names.ts'

/** Options of {@link deleteAll}. */
export interface DeleteAllOptions extends NamesOptions<DeleteResult> {}

/** The progress of {@link deleteAll}. */
export interface DeleteProgress extends NamesProgress<DeleteResult> {}

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
export class DeleteAllError extends NamesError<DeleteResult> {
  override readonly name = 'DeleteAllError'
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
  const results = await sendNames(domains, options, { path: '/delete', fields, Failure: DeleteAllError })
  return { results, totals: countDeleted(results) }
}
