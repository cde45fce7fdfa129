import { isText } from '../options.ts'
import type { PreviewResult } from '../wire/response.ts'
import { type CallFailure, type CallOptions, get, requireTexts, sendOnce } from './call.ts'

/** A name, and its position among all names, starting at 0. */
export interface PlacedName {
  readonly name: string
  readonly place: number
}

/** What a call with names has achieved. */
export interface BatchOutcome<Result = unknown> {
  readonly results: readonly { readonly result: Result; readonly place: number }[]
  /** The names that have no result, in their original order. */
  readonly left: readonly PlacedName[]
  /** Why names are left. */
  readonly failure?: CallFailure
}

export interface ResultOfName {
  readonly status: string
  readonly code?: string
}

export interface BatchOperation {
  /** Appended to the URL for registering. */
  readonly path: '' | '/delete' | '/preview'
  /** The fields of a result, for each status. */
  readonly fields: FieldsByStatus
  /** Whether to request a preview before each call, and then send the hostnames that are certain corrections. */
  readonly corrects?: boolean
  /** Reads what a response has besides results. Throws an error if this is wrong; the message says why. */
  readonly readMore?: (data: unknown) => void
}

/** The fields that a result has besides `input`, for each status. All are strings. */
type FieldsByStatus = Readonly<Record<string, readonly string[]>>

/**
 * Lets the compiler compare such fields with the type of the results. The schemas of `src/wire` would check them too,
 * but zod would make the client of a page six times as large.
 */
export type FieldsOf<Result extends { readonly status: string }> = {
  readonly [Status in Result['status']]: readonly Exclude<
    keyof Extract<Result, { readonly status: Status }>,
    'status' | 'input'
  >[]
}

export const previewFields = {
  created: ['domain'],
  existing: ['domain'],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<PreviewResult>

/** Sends names in one call, or in two if the operation needs a preview. */
export async function sendBatch<Result extends ResultOfName>(
  batch: readonly PlacedName[],
  options: CallOptions,
  { path, fields, corrects = false, readMore }: BatchOperation,
): Promise<BatchOutcome<Result>> {
  const { url, teamId } = options
  const post = <Value>(suffix: string, domains: readonly string[], read: (body: unknown) => Value) =>
    sendOnce({ url: suffix === '' ? url : toUrlBelow(url, suffix), body: { domains, team_id: teamId }, read }, options)

  const names = batch.map(({ name }) => name)
  const corrected = corrects ? await post('/preview', names, body => toCorrected(body, names)) : { value: names }
  if ('failure' in corrected) return { results: [], left: batch, failure: corrected.failure }
  const attempt = await post(path, corrected.value, body => {
    const results = readResults<Result>(body, corrected.value, fields)
    readMore?.(get(body, 'data'))
    return results
  })
  if ('failure' in attempt) return { results: [], left: batch, failure: attempt.failure }
  const all = batch.map(({ name, place }, index) => ({
    place,
    result: withInput(attempt.value[index] as Result, name),
  }))
  const results = all.filter(({ result }) => !isInternalError(result))
  const left = batch.filter((_, index) => isInternalError(attempt.value[index] as Result))
  return left.length === 0 ? { results, left } : { results, left, failure: notProcessed }
}

/** Reads a preview of names, and returns what to send in place of each name. */
const toCorrected = (body: unknown, names: readonly string[]) =>
  readResults<PreviewResult>(body, names, previewFields).map(result => {
    if (result.status !== 'invalid' || result.certain !== true) return result.input
    return isText(result.suggestion) ? result.suggestion : result.input
  })

/** Puts the original name back into its result if a suggestion was sent in its place. */
function withInput<Result>(result: Result, input: string): Result {
  const { input: sent } = result as { readonly input: string }
  return sent === input ? result : { ...result, input, sent }
}

function toUrlBelow(url: string | URL, path: string): URL {
  const below = new URL(url)
  below.pathname = below.pathname.replace(/\/$/, '') + path
  return below
}

const isInternalError = ({ status, code }: ResultOfName) => status === 'invalid' && code === 'internal_error'

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
