import { isText } from '../options.ts'
import type { PreviewResult } from '../wire/response.ts'
import { type Attempt, type FailedAttempt, type FieldsByStatus, type FieldsOf, readResults } from './answer.ts'
import { type CallOptions, sendOnce } from './call.ts'
import type { Part, PartOutcome } from './retries.ts'

export interface ResultOfName {
  readonly status: string
  readonly code?: string
}

export interface BatchOperation {
  /** Appended to the URL for registering. */
  readonly path: '' | '/delete' | '/preview'
  /** The fields of a result, for each status. */
  readonly fields: FieldsByStatus
  /** Whether to request a preview before each call, and then send the hostnames that the preview suggests. */
  readonly corrects?: boolean
  /** The result of a name for which the team's limit leaves no room. By default, such a name ends the work. */
  readonly resultAtLimit?: (input: string) => ResultOfName
}

export const previewFields = {
  created: ['domain'],
  existing: ['domain'],
  invalid: ['code', 'message'],
} as const satisfies FieldsOf<PreviewResult>

/** Sends the names of a part in one call, or in several if the operation needs that. */
export async function sendPart<Result extends ResultOfName>(
  part: Part,
  options: CallOptions,
  { path, fields, corrects = false, resultAtLimit }: BatchOperation,
): Promise<PartOutcome<Result>> {
  const { url, teamId } = options
  const ask = <Value>(suffix: string, names: readonly string[], read: (answer: unknown) => Value) =>
    sendOnce(
      { url: suffix === '' ? url : toUrlBelow(url, suffix), body: { domains: names, team_id: teamId }, read },
      options,
    )

  /** Splits a call that does not fit into the team's limit, until the names that have no room are isolated. */
  async function askForResults(names: readonly string[]): Promise<Attempt<readonly Result[]>> {
    const attempt = await ask(path, names, answer => readResults<Result>(answer, names, fields))
    const isFull = 'failure' in attempt && attempt.failure.code === 'domain_limit_reached'
    if (!isFull || resultAtLimit === undefined) return attempt
    if (names.length === 1) return { value: names.map(name => resultAtLimit(name) as Result) }
    const middle = names.length >> 1
    const first = await askForResults(names.slice(0, middle))
    if ('failure' in first) return first
    const second = await askForResults(names.slice(middle))
    return 'failure' in second ? second : { value: [...first.value, ...second.value] }
  }

  const { names } = part
  const corrected = corrects ? await ask('/preview', names, toCorrected(names)) : { value: names }
  const attempt = 'failure' in corrected ? corrected : await askForResults(corrected.value)
  if ('failure' in attempt) return { places: [], results: [], left: part, failure: attempt.failure }
  const results = toInputs(attempt.value, names)
  const left = pick(part, results, isInternalError)
  const outcome = pick(part, results, result => !isInternalError(result))
  return left.names.length === 0 ? outcome : { ...outcome, left: { ...part, ...left }, failure: notProcessed }
}

/** Reads a preview of names, and returns what to send in place of each name. */
const toCorrected = (names: readonly string[]) => (answer: unknown) =>
  readResults<PreviewResult>(answer, names, previewFields).map(result => {
    const suggestion = 'suggestion' in result ? result.suggestion : undefined
    return isText(suggestion) ? suggestion : result.input
  })

/** Puts the original names back into the results if suggestions were sent in their place. */
const toInputs = <Result>(results: readonly Result[], names: readonly string[]): readonly Result[] =>
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
function pick<Result>({ names, places }: Part, results: readonly Result[], isChosen: (result: Result) => boolean) {
  const isPicked = (_: unknown, index: number) => isChosen(results[index] as Result)
  return { names: names.filter(isPicked), places: places.filter(isPicked), results: results.filter(isChosen) }
}

const isInternalError = ({ status, code }: ResultOfName) => status === 'invalid' && code === 'internal_error'

const notProcessed: FailedAttempt = {
  status: 200,
  code: 'internal_error',
  message: 'The service returned internal_error for them.',
  mayPass: true,
}
