import { isText } from '../options.ts'
import type { PreviewResult } from '../wire/response.ts'
import { type FailedAttempt, type FieldsByStatus, readResults } from './answer.ts'
import { type CallOptions, sendOnce } from './call.ts'
import type { Part } from './part.ts'
import type { Queue } from './queue.ts'

/** How many responses, per concurrent call, may be kept while an earlier response is missing. */
const ANSWERS_AHEAD = 4

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
}

export const previewFields: FieldsByStatus = {
  created: ['domain'],
  existing: ['domain'],
  invalid: ['code', 'message'],
}

/** The results of one call, and the position of each result's name among all names. */
export interface Batch<Result> {
  readonly places: readonly number[]
  readonly results: readonly Result[]
}

interface Sent<Result> {
  readonly part: Part
  isOver: boolean
  /** Absent if the call failed. */
  batch?: Batch<Result>
}

/**
 * Sends several calls at once, each with one part, and returns their results in the order of the calls.
 *
 * @param onEnd Called at the end of each call.
 */
export function createCalls<Result extends ResultOfName>(
  options: CallOptions & { readonly concurrency: number },
  { path, fields, corrects = false }: BatchOperation,
  queue: Queue,
  onEnd: () => void,
) {
  const { concurrency, teamId } = options
  const url = path === '' ? options.url : toUrlBelow(options.url, path)
  /**
   * The calls in the order in which they were sent: those under way, and those whose results have not been taken yet.
   */
  const sent: Sent<Result>[] = []
  let underWay = 0
  let failure: FailedAttempt | undefined

  function ask<Value>(url: string | URL, names: readonly string[], read: (answer: unknown) => Value) {
    return sendOnce({ url, body: { domains: names, team_id: teamId }, read }, options)
  }

  async function send(call: Sent<Result>): Promise<void> {
    const { names } = call.part
    const corrected = corrects ? await ask(toUrlBelow(url, '/preview'), names, toCorrected(names)) : { value: names }
    if ('failure' in corrected) return fail(call.part, corrected.failure)
    const { value: domains } = corrected
    const read = (answer: unknown) => toInputs(readResults<Result>(answer, domains, fields), names)
    const attempt = await ask(url, domains, read)
    if ('failure' in attempt) return fail(call.part, attempt.failure)
    const answered = pick(call.part, attempt.value, result => !isInternalError(result))
    if (answered.places.length === 0) return fail(call.part, notProcessed)
    queue.succeeded()
    call.batch = answered
    const left = pick(call.part, attempt.value, isInternalError)
    if (left.places.length > 0) queue.setAside({ ...call.part, ...left }, notProcessed)
  }

  function fail(part: Part, cause: FailedAttempt): void {
    const isOver = queue.failed(part, cause)
    if (isOver || !cause.mayPass) failure ??= cause
  }

  return {
    hasRoom: () => !failure && underWay < concurrency && sent.length < ANSWERS_AHEAD * concurrency,
    start(part: Part): void {
      const call: Sent<Result> = { part, isOver: false }
      sent.push(call)
      underWay += 1
      send(call)
        .catch(cause => {
          failure ??= { message: 'The call could not be sent.', mayPass: false, cause }
        })
        .finally(() => {
          underWay -= 1
          call.isOver = true
          onEnd()
        })
    },
    /** Removes and returns the next results, once their call and all earlier calls have ended. */
    takeAnswered(): Batch<Result> | undefined {
      while (sent[0]?.isOver) {
        const { batch } = sent.shift() as Sent<Result>
        if (batch && batch.results.length > 0) return batch
      }
      return undefined
    },
    areOver: () => sent.length === 0,
    /** The failure that ends the run. */
    failure: () => failure,
    parts: () => sent.map(({ part }) => part),
  }
}

/** Requests a preview of names, and returns what to send in place of each name. */
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
