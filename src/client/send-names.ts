import { describe } from '../options.ts'
import { type CallFailure, type FieldsByStatus, readResults } from './answer.ts'
import { CallError, type CallOptions, DEFAULT_MAX_ATTEMPTS, send, waitBeforeRetry } from './call.ts'

/** The most hostnames that the service takes in one call. */
const NAMES_PER_CALL = 100

interface ResultOfName {
  readonly status: string
  readonly code?: string
}

interface NamesOptions<Result> extends CallOptions {
  onProgress?: ((progress: { done: number; total: number; results: readonly Result[] }) => void) | undefined
}

interface Operation<Result> {
  readonly url: string | URL
  /** What a result holds, by its status. */
  readonly fields: FieldsByStatus
  /** Makes the error of the operation from the failure and the results so far. */
  readonly toError: (failure: CallFailure, results: readonly Result[]) => Error
}

/**
 * Sends any number of names in calls of 100, one after another. Names that were answered `internal_error` are sent
 * again after all others, so that one that fails for ever delays none.
 *
 * @returns One result for each name, in the order of the names. None of them is an `internal_error`.
 */
export async function sendNames<Result extends ResultOfName>(
  domains: Iterable<string>,
  options: NamesOptions<Result>,
  { url, fields, toError }: Operation<Result>,
): Promise<readonly Result[]> {
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
        throw error instanceof CallError ? toError(error, results) : error
      })
      for (const [position, index] of part.entries()) results[index] = answered[position] as Result
      done += answered.filter(result => !isInternalError(result)).length
      onProgress?.({ done, total: names.length, results: answered })
    }
    waiting = waiting.filter(index => isInternalError(results[index] as Result))
    if (waiting.length === 0) return results
    if (round === maxAttempts) throw toError(notProcessed(waiting.length, names.length), results)
    await waitBeforeRetry(round, signal)
  }
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
  const index = names.findIndex(name => typeof name !== 'string')
  if (index >= 0) throw new TypeError(`The name at index ${index} must be a string; it is ${describe(names[index])}`)
  return names
}
