import { countTotals, type PreviewResult, type Totals } from '../wire/response.ts'
import { previewFields } from './send-batch.ts'
import { createRun, type Names, NamesError, type NamesOptions, type Run } from './send-names.ts'

/** Options of {@link previewAll}. */
export interface PreviewAllOptions extends NamesOptions<PreviewResult> {}

/** The results of all calls. */
export interface PreviewAllResult {
  /** One result for each name, in the order of the names. No result is an `internal_error`. */
  readonly results: readonly PreviewResult[]
  readonly totals: Totals
}

/**
 * Why {@link previewAll} gave up. To resume, call `previewAll` again without the first `resumeAt` names.
 *
 * @example
 * if (error instanceof PreviewAllError) console.error(`${error.results.length} names were checked. ${error.message}`)
 */
export class PreviewAllError extends NamesError<PreviewResult> {
  override readonly name = 'PreviewAllError'
}

/**
 * Previews the registration of any number of hostnames, by calling a service that offers this operation (`POST
 * {url}/preview`). Registers nothing. Sends the names in calls of 100, four at once. The key needs the scope
 * `domains:create`. Calls are retried in the same way as by {@link registerAll}.
 *
 * Each call is previewed on its own: a conflict between names of different calls, and a limit of the team that only
 * several calls together would exceed, show when the names are registered.
 *
 * @param domains Names in any spelling, as an array, another iterable, or an async iterable.
 * @param options `url` is the URL for registering: `https://api.example.com/v1/domains`.
 * @returns When awaited, one result for each name, in the order of the names, and the totals. With `for await`, one
 *   result after another, in the same order as with {@link registerAll}. The result of a rejected name has a `reason`
 *   and, if it is clear what was meant, a `suggestion`; if its `certain` is `false`, ask the person who wrote the name.
 * @throws {PreviewAllError} in the cases in which {@link registerAll} throws a `RegisterAllError`.
 * @throws {TypeError} in the same cases as {@link registerAll}.
 *
 * @example
 * const { results } = await previewAll(names, { url: 'https://api.example.com/v1/domains', apiKey })
 * for (const result of results) if (result.status === 'invalid') console.log(result.input, result.suggestion)
 */
export function previewAll(domains: Names, options: PreviewAllOptions): Run<PreviewResult, PreviewAllResult> {
  const operation = { path: '/preview', fields: previewFields, Failure: PreviewAllError } as const
  return createRun(domains, options, operation, results => ({ results, totals: countTotals(results) }))
}

/** The result of a name for which the team's limit leaves no room has no `domain`. */
export type PreviewPastLimit = PreviewResult | { status: 'created'; input: string; domain?: undefined }

/** Previews names, including those for which the team's limit leaves no room. */
export const previewPastLimit = (names: Names, options: NamesOptions<PreviewPastLimit>) =>
  createRun<PreviewPastLimit, readonly PreviewPastLimit[]>(
    names,
    options,
    {
      path: '/preview',
      fields: previewFields,
      Failure: NamesError,
      resultAtLimit: input => ({ status: 'created', input }),
    },
    results => results,
  )
