import { countDeleted, type DeleteDomainsResponse, type DeleteResult } from '../wire/response.ts'
import type { Names } from './names-source.ts'
import { createRun, type Run } from './run.ts'
import { NamesError, type NamesOptions, type NamesProgress } from './send-names.ts'

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
 * calls of 100, four at once. The key needs the scope `domains:delete`. Retries are those of {@link registerAll}.
 * What was deleted before a response was lost is then `missing`.
 *
 * @param domains Names as they were registered, or any spelling of them; an array, another iterable, or an async
 *   iterable. A wildcard deletes itself, and nothing below.
 * @param options `url` is the one for registering: `https://api.example.com/v1/domains`.
 * @returns A promise of one result for each name, in the same order, and totals; iterated over, the results themselves.
 *   Both are as with {@link registerAll}.
 * @throws {DeleteAllError} as {@link RegisterAllError}.
 * @throws {TypeError} as {@link registerAll}.
 *
 * @example
 * const { totals } = await deleteAll(names, { url: 'https://api.example.com/v1/domains', apiKey })
 * console.log(`${totals.deleted} deleted, ${totals.missing} were not there`)
 */
export function deleteAll(domains: Names, options: DeleteAllOptions): Run<DeleteResult, DeleteAllResult> {
  const operation = { path: '/delete', fields, Failure: DeleteAllError } as const
  return createRun(domains, options, operation, results => ({ results, totals: countDeleted(results) }))
}
