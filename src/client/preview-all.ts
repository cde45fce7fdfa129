import { countTotals, type PreviewResult, type Totals } from '../wire/response.ts'
import { get } from './call.ts'
import { NamesError } from './errors.ts'
import type { Names } from './names.ts'
import { previewFields } from './send-batch.ts'
import { createRun, type NamesOptions, type Run } from './send-names.ts'

/** Options of {@link previewAll}. */
export interface PreviewAllOptions extends NamesOptions<PreviewResult> {}

/** The results of all calls. */
export interface PreviewAllResult {
  /** One result for each name, in the order of the names. No result is an `internal_error`. */
  readonly results: readonly PreviewResult[]
  readonly totals: Totals
  /**
   * How many more names the team may register; below 0 if it has more than its limit, `null` if it has no limit. To
   * register more names than that fails.
   */
  readonly room: number | null
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
 * Each call is previewed on its own: a conflict between names of different calls shows when the names are registered.
 * Names for which the team's limit leaves no room are `created` as well; compare their number with `room`.
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
  let room: number | null = null
  const readMore = (data: unknown) => {
    room = readRoom(get(data, 'room'))
  }
  const operation = { path: '/preview', fields: previewFields, Failure: PreviewAllError, readMore } as const
  return createRun(domains, options, operation, results => ({ results, totals: countTotals(results), room }))
}

/** @throws {Error} if the value is wrong: without it, names could be registered that have no room. */
function readRoom(room: unknown): number | null {
  if (room === null || Number.isInteger(room)) return room as number | null
  throw new Error('data.room is neither an integer nor null')
}
