import { describe, isText, requireOptions } from '../options.ts'
import { type CallFailure, type FieldsByStatus, readResults } from './answer.ts'
import { CallError, type CallOptions, callRules, DEFAULT_MAX_ATTEMPTS, send, waitBeforeRetry } from './call.ts'

/** The most hostnames that the service takes in one call. */
const NAMES_PER_CALL = 100

interface ResultOfName {
  readonly status: string
  readonly code?: string
}

/** Options of what sends any number of names. */
export interface NamesOptions<Result> extends CallOptions {
  /** Called after each call, for instance to show progress. What it throws ends the work. */
  onProgress?: ((progress: NamesProgress<Result>) => void) | undefined
}

export interface NamesProgress<Result> {
  /** How many names have a result other than `internal_error`. */
  readonly done: number
  /** How many names there are. */
  readonly total: number
  /** The results of the last call, in the order of its names. */
  readonly results: readonly Result[]
}

/** Why the work ended early. What was done stays done. */
export class NamesError<Result> extends CallError {
  /** The results so far, which are those of the first names, in their order. */
  readonly results: readonly Result[]

  constructor(failure: CallFailure, results: readonly Result[]) {
    super(failure)
    this.results = results
  }
}

interface Operation<Result> {
  /** Behind the URL for registering. */
  readonly path: '' | '/delete'
  /** What a result holds, by its status. */
  readonly fields: FieldsByStatus
  readonly Failure: new (failure: CallFailure, results: readonly Result[]) => NamesError<Result>
}

/**
 * Sends any number of names in calls of 100, one after another. Names that were answered `internal_error` are sent
 * again after all others, so that one that fails for ever delays none.
 *
 * @returns One result for each name, in the order of the names. None of them is an `internal_error`.
 * @throws {TypeError} for options or names that are wrong.
 */
export async function sendNames<Result extends ResultOfName>(
  domains: Iterable<string>,
  options: NamesOptions<Result>,
  { path, fields, Failure }: Operation<Result>,
): Promise<readonly Result[]> {
  requireOptions(options, callRules)
  const url = path === '' ? options.url : toUrlBelow(options.url, path)
  const { teamId, maxAttempts = DEFAULT_MAX_ATTEMPTS, signal, onProgress } = options
  const names = toNames(domains)
  const results: Result[] = []
  let done = 0
  let waiting = [...names.keys()]
  for (let round = 1; ; round += 1) {
    for (let start = 0; start < waiting.length; start += NAMES_PER_CALL) {
      const part = waiting.slice(start, start + NAMES_PER_CALL)
      const sent = part.map(index => names[index] as string)
      const read = (body: unknown) => readResults<Result>(body, sent, fields)
      const answered = await send({ url, body: { domains: sent, team_id: teamId }, read }, options).catch(error => {
        throw error instanceof CallError ? new Failure(error, results) : error
      })
      for (const [position, index] of part.entries()) results[index] = answered[position] as Result
      done += answered.filter(result => !isInternalError(result)).length
      onProgress?.({ done, total: names.length, results: answered })
    }
    waiting = waiting.filter(index => isInternalError(results[index] as Result))
    if (waiting.length === 0) return results
    if (round === maxAttempts) throw new Failure(notProcessed(waiting.length, names.length), results)
    await waitBeforeRetry(round, signal)
  }
}

function toUrlBelow(url: string | URL, path: string): URL {
  const below = new URL(url)
  below.pathname = below.pathname.replace(/\/$/, '') + path
  return below
}

const isInternalError = ({ status, code }: ResultOfName) => status === 'invalid' && code === 'internal_error'

const notProcessed = (count: number, total: number): CallFailure => ({
  status: 200,
  code: 'internal_error',
  message: `The service could not process ${count} of ${total} names; their results are internal_error.`,
})

/** @throws {TypeError} for anything but strings, and for one string, whose letters would be sent. */
function toNames(domains: Iterable<string>): readonly string[] {
  if (typeof domains !== 'object' || domains === null || !(Symbol.iterator in domains)) {
    throw new TypeError(`The names must be an array or another iterable of strings; they are ${describe(domains)}`)
  }
  const names = [...domains]
  const index = names.findIndex(name => !isText(name))
  if (index >= 0) throw new TypeError(`The name at index ${index} must be a string; it is ${describe(names[index])}`)
  return names
}
