import { booleanRule, isText } from '../options.ts'
import {
  countDeleted,
  countTotals,
  type DeleteDomainsResponse,
  type DeleteResult,
  type DomainResult,
  type PreviewResult,
  type Totals,
} from '../wire/results.ts'
import { type CallFailure, type CallOptions, get, requireTexts, sendOnce } from './call.ts'
import { NamesError } from './errors.ts'
import type { BatchOutcome, PlacedName } from './plan.ts'
import { createRun, type Names, type NamesOptions, type Run } from './run.ts'

/** A result of registering. */
export type RegisterResult = DomainResult & {
  /** With {@link RegisterAllOptions.fix}, the hostname that was sent in place of the name, if another one was sent. */
  readonly sent?: string
  /** With {@link RegisterAllOptions.fix}, a guess of what is meant, which was not sent: a person must confirm it. */
  readonly suggestion?: string
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
 * if (error instanceof RegisterAllError) console.error(`${error.message} Not registered: ${error.inputs.join(', ')}`)
 */
export class RegisterAllError extends NamesError<RegisterResult> {
  override readonly name = 'RegisterAllError'
}

/**
 * Registers any number of hostnames, by calling a service that offers this operation. Sends the names in calls of 100,
 * four at once.
 *
 * Sending a name again is safe: if a name was registered and the response was lost, the retry returns `existing`, with
 * the same `domainId`. A call is retried if its response was lost, and after 408, 429 and 5xx. Names whose result was
 * `internal_error` are retried as well. Meanwhile, the calls for other names continue. The wait before a retry grows
 * exponentially up to 30 s, with jitter. A longer `Retry-After` is respected up to an hour, but never beyond
 * `patience`. A name that always fails is isolated, and sent once more after all others.
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
 *   `patience`, or the next retry would come after that time; or if some names still fail once all others have a
 *   result. The error has the results so far, the names without a result, and the place to resume from.
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
 */
export function registerAll(domains: Names, options: RegisterAllOptions): Run<RegisterResult, RegisterAllResult> {
  const send = toSend<RegisterResult>({ path: '', fields: registerFields, fix: options?.fix === true })
  const operation = { send, Failure: RegisterAllError, ownRules: { fix: booleanRule } }
  return createRun(domains, options, operation, results => ({ results, totals: countTotals(results) }))
}

/** Options of {@link previewAll}. */
export interface PreviewAllOptions extends NamesOptions<PreviewResult> {}

/** The results of all calls. */
export interface PreviewAllResult {
  /** One result for each name, in the order of the names. No result is an `internal_error`. */
  readonly results: readonly PreviewResult[]
  readonly totals: Totals
  /**
   * How many more names the team may register; below 0 if it has more than its limit, `null` if it has no limit. To
   * register more names than that fails. `undefined` if there were no names, so the service was not asked.
   */
  readonly room: number | null | undefined
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
  let room: number | null | undefined
  const readMore = (data: unknown) => {
    const read = get(data, 'room')
    if (read !== null && !Number.isInteger(read)) throw new Error('data.room is neither an integer nor null')
    room = read as number | null
  }
  const send = toSend<PreviewResult>({ path: '/preview', fields: previewFields, readMore })
  const operation = { send, Failure: PreviewAllError }
  return createRun(domains, options, operation, results => ({ results, totals: countTotals(results), room }))
}

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
  const operation = { send: toSend<DeleteResult>({ path: '/delete', fields: deleteFields }), Failure: DeleteAllError }
  return createRun(domains, options, operation, results => ({ results, totals: countDeleted(results) }))
}

/** The fields that a result has besides `input`, for each status. All are strings. */
type FieldsByStatus = Readonly<Record<string, readonly string[]>>

/**
 * Lets the compiler compare such fields with the type of the results. The schemas of `src/wire` would check them too,
 * but zod would make the client of a page six times as large.
 */
type FieldsOf<Result extends { readonly status: string }> = {
  readonly [Status in Result['status']]: readonly Exclude<
    keyof Extract<Result, { readonly status: Status }>,
    'status' | 'input'
  >[]
}

const registerFields = {
  created: ['domain', 'domainId'],
  existing: ['domain', 'domainId'],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<DomainResult>

const previewFields = {
  created: ['domain'],
  existing: ['domain'],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<PreviewResult>

const deleteFields = {
  deleted: ['domain', 'domainId'],
  missing: [],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<DeleteResult>

/** What a call of an operation sends, and how its response is read. */
interface BatchOperation {
  /** Appended to the URL for registering. */
  readonly path: '' | '/delete' | '/preview'
  readonly fields: FieldsByStatus
  /** Whether to request a preview before each call, and then send the suggestions that are certain. */
  readonly fix?: boolean
  /** Reads what a response has besides results. Throws an error if this is wrong; the message says why. */
  readonly readMore?: (data: unknown) => void
}

/** Returns a function that sends names in one call, after a preview if suggestions are to be sent in their place. */
const toSend =
  <Result extends AnyResult>({ path, fields, fix = false, readMore }: BatchOperation) =>
  async (batch: readonly PlacedName[], options: CallOptions): Promise<BatchOutcome<Result>> => {
    const post = <Value>(suffix: string, domains: readonly string[], read: (body: unknown) => Value) =>
      sendOnce({ url: toUrlBelow(options.url, suffix), body: { domains, team_id: options.teamId }, read }, options)
    const fail = (failure: CallFailure) => ({ results: [], failure })

    const names = batch.map(({ name }) => name)
    const readPreviews = (body: unknown) => readResults<PreviewResult>(body, names, previewFields)
    const previewed = fix ? await post('/preview', names, readPreviews) : { value: [] }
    if ('failure' in previewed) return fail(previewed.failure)
    const suggestions = previewed.value.map(toSuggestion)
    const sent = names.map((name, index) => (suggestions[index]?.certain ? suggestions[index].suggestion : name))

    const attempt = await post(path, sent, body => {
      const results = readResults<Result>(body, sent, fields)
      readMore?.(get(body, 'data'))
      return results
    })
    if ('failure' in attempt) return fail(attempt.failure)
    const all = batch.map(({ name, place }, index) => {
      const result = attempt.value[index] as Result
      return { name, place, result: fix ? describeFix(result, name, suggestions[index]) : result }
    })
    const results = all.filter(({ result }) => !isInternalError(result))
    return results.length === all.length ? { results } : { results, failure: notProcessed }
  }

const toSuggestion = (preview: PreviewResult) =>
  preview.status === 'invalid' && isText(preview.suggestion)
    ? { suggestion: preview.suggestion, certain: preview.certain === true }
    : undefined

/** Puts the name back into its result if a suggestion was sent in its place, and adds a guess to a rejection. */
function describeFix<Result extends AnyResult>(result: Result, input: string, found: ReturnType<typeof toSuggestion>) {
  if (found?.certain) return { ...result, input, sent: found.suggestion }
  return found && result.status === 'invalid' ? { ...result, suggestion: found.suggestion } : result
}

export function toUrlBelow(url: string | URL, path: string): string | URL {
  if (path === '') return url
  const below = new URL(url)
  below.pathname = below.pathname.replace(/\/$/, '') + path
  return below
}

type AnyResult = RegisterResult | PreviewResult | DeleteResult
const isInternalError = (result: AnyResult) => result.status === 'invalid' && result.code === 'internal_error'

const notProcessed: CallFailure = {
  status: 200,
  code: 'internal_error',
  message: 'The service returned internal_error for them.',
  mayPass: true,
}

/**
 * Reads one result for each name that was sent, in the order of the names. Each result is checked, because a 200 may
 * also come from a proxy or another service, or contain the results of another call.
 *
 * @throws {Error} if the body is wrong; the message says what is wrong.
 */
function readResults<Result>(body: unknown, sent: readonly string[], fields: FieldsByStatus): readonly Result[] {
  const results = get(get(body, 'data'), 'results')
  if (!Array.isArray(results)) throw new Error('it has no data.results')
  if (results.length !== sent.length) throw new Error(`it has ${results.length} results for ${sent.length} names`)
  for (const [index, input] of sent.entries()) {
    const [result, path] = [results[index], `results[${index}]`]
    const status = get(result, 'status')
    if (!isText(status) || !Object.hasOwn(fields, status)) {
      throw new Error(`${path}.status is not one of ${Object.keys(fields).join(', ')}`)
    }
    if (get(result, 'input') !== input) throw new Error(`${path}.input is not the name that was sent`)
    requireTexts(path, result, fields[status] ?? [])
  }
  return results
}
