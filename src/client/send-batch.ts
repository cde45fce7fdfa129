import { isText } from '../options.ts'
import type { PreviewResult } from '../wire/response.ts'
import { type Attempt, type CallFailure, type CallOptions, get, requireTexts, sendOnce } from './call.ts'

/** Names that are sent in one call. */
export interface Batch {
  readonly names: readonly string[]
  /** The position of each name among all names, starting at 0, in ascending order. */
  readonly places: readonly number[]
}

/** What a call with names has achieved. */
export interface BatchOutcome<Result = unknown> {
  readonly results: readonly Result[]
  /** The position of each result's name among all names. */
  readonly places: readonly number[]
  /** The names that have no result, and why. */
  readonly left?: Batch & { readonly failure: CallFailure }
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
  /** The result of a name for which the team's limit leaves no room. By default, such a name ends the work. */
  readonly resultAtLimit?: (input: string) => ResultOfName
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

/** Sends names in one call, or in several if the operation needs that. */
export async function sendBatch<Result extends ResultOfName>(
  batch: Batch,
  options: CallOptions,
  { path, fields, corrects = false, resultAtLimit }: BatchOperation,
): Promise<BatchOutcome<Result>> {
  const { url, teamId } = options
  const post = <Value>(suffix: string, names: readonly string[], read: (body: unknown) => Value) =>
    sendOnce(
      { url: suffix === '' ? url : toUrlBelow(url, suffix), body: { domains: names, team_id: teamId }, read },
      options,
    )

  /** Splits a call that does not fit into the team's limit, until the names that have no room are isolated. */
  async function postForResults(names: readonly string[]): Promise<Attempt<readonly Result[]>> {
    const attempt = await post(path, names, body => readResults<Result>(body, names, fields))
    const isFull = 'failure' in attempt && attempt.failure.code === 'domain_limit_reached'
    if (!isFull || resultAtLimit === undefined) return attempt
    if (names.length === 1) return { value: names.map(name => resultAtLimit(name) as Result) }
    const middle = names.length >> 1
    const first = await postForResults(names.slice(0, middle))
    if ('failure' in first) return first
    const second = await postForResults(names.slice(middle))
    return 'failure' in second ? second : { value: [...first.value, ...second.value] }
  }

  const { names } = batch
  const corrected = corrects ? await post('/preview', names, toCorrected(names)) : { value: names }
  const attempt = 'failure' in corrected ? corrected : await postForResults(corrected.value)
  if ('failure' in attempt) return { places: [], results: [], left: { ...batch, failure: attempt.failure } }
  const results = restoreInputs(attempt.value, names)
  const left = pick(batch, results, isInternalError)
  const outcome = pick(batch, results, result => !isInternalError(result))
  return left.names.length === 0 ? outcome : { ...outcome, left: { ...left, failure: notProcessed } }
}

/** Reads a preview of names, and returns what to send in place of each name. */
const toCorrected = (names: readonly string[]) => (body: unknown) =>
  readResults<PreviewResult>(body, names, previewFields).map(result => {
    if (result.status !== 'invalid' || result.certain !== true) return result.input
    return isText(result.suggestion) ? result.suggestion : result.input
  })

/** Puts the original names back into the results if suggestions were sent in their place. */
const restoreInputs = <Result>(results: readonly Result[], names: readonly string[]): readonly Result[] =>
  results.map((result, index) => {
    const { input: sent } = result as { readonly input: string }
    return sent === names[index] ? result : { ...result, input: names[index], sent }
  })

function toUrlBelow(url: string | URL, path: string): URL {
  const below = new URL(url)
  below.pathname = below.pathname.replace(/\/$/, '') + path
  return below
}

/** Returns the results for which `isChosen` returns true, with their names and positions. */
function pick<Result>({ names, places }: Batch, results: readonly Result[], isChosen: (result: Result) => boolean) {
  const isPicked = (_: unknown, index: number) => isChosen(results[index] as Result)
  return { names: names.filter(isPicked), places: places.filter(isPicked), results: results.filter(isChosen) }
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
