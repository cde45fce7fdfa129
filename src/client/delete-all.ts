import { countDeleted, type DeleteDomainsResponse, type DeleteResult } from '../wire/response.ts'
import { NamesError } from './errors.ts'
import type { Names } from './names.ts'
import type { FieldsOf } from './send-batch.ts'
import { createRun, type NamesOptions, type Run } from './send-names.ts'

/** Options of {@link deleteAll}. */
export interface DeleteAllOptions extends NamesOptions<DeleteResult> {}

/** The results of all calls. */
export interface DeleteAllResult {
  /** One result for each name, in the order of the names. */
  readonly results: readonly DeleteResult[]
  readonly totals: DeleteDomainsResponse['data']['totals']
}

/**
 * Why {@link deleteAll} gave up. Names that were already deleted stay deleted. To resume, call `deleteAll` again with
 * the same names.
 *
 * @example
 * if (error instanceof DeleteAllError) console.error(`${error.results.length} names have a result. ${error.message}`)
 */
export class DeleteAllError extends NamesError<DeleteResult> {
  override readonly name = 'DeleteAllError'
}

const fields = {
  deleted: ['domain', 'domainId'],
  missing: [],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<DeleteResult>

/**
 * Deletes any number of registrations of one team, by calling a service that offers this operation (`POST
 * {url}/delete`). Sends the names in calls of 100, four at once. The key needs the scope `domains:delete`. Calls are
 * retried in the same way as by {@link registerAll}. If a name was deleted and the response was lost, the retry returns
 * `missing` for the name.
 *
 * @param domains Names in any spelling, as an array, another iterable, or an async iterable. A wildcard deletes only
 *   itself, not the names below it.
 * @param options `url` is the URL for registering: `https://api.example.com/v1/domains`.
 * @returns When awaited, one result for each name, in the order of the names, and the totals. With `for await`, one
 *   result after another, in the same order as with {@link registerAll}.
 * @throws {DeleteAllError} in the cases in which {@link registerAll} throws a `RegisterAllError`.
 * @throws {TypeError} in the same cases as {@link registerAll}.
 *
 * @example
 * const { totals } = await deleteAll(names, { url: 'https://api.example.com/v1/domains', apiKey })
 * console.log(`${totals.deleted} deleted, ${totals.missing} were not there`)
 */
export function deleteAll(domains: Names, options: DeleteAllOptions): Run<DeleteResult, DeleteAllResult> {
  const operation = { path: '/delete', fields, Failure: DeleteAllError } as const
  return createRun(domains, options, operation, results => ({ results, totals: countDeleted(results) }))
}
