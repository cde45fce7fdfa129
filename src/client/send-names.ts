import { optional, type Rule, type Rules, requireOptions } from '../options.ts'
import { type CallFailure, type CallOptions, callRules, DEFAULT_PATIENCE, onProgressRule } from './call.ts'
import type { NamesError, NamesState } from './errors.ts'
import { countNames, NameReader, type Names } from './names.ts'
import { afterCall, decide, initialState, type Part } from './plan.ts'
import { type BatchOperation, type BatchOutcome, type ResultOfName, sendBatch } from './send-batch.ts'

const DEFAULT_CONCURRENCY = 4

/** How many calls, per concurrent call, may be sent while the results of an earlier one are missing. */
const CALLS_AHEAD = 4

/** Options for sending any number of names. */
export interface NamesOptions<Result> extends CallOptions {
  /** The maximum number of calls under way at once, 1 or more. Default 4. */
  concurrency?: number | undefined
  /** Called after each call, for instance to show progress. If this function throws or rejects, the work ends. */
  onProgress?: ((progress: Progress<Result>) => void) | undefined
}

/** The progress of {@link registerAll}, {@link deleteAll} or {@link previewAll}. */
export interface Progress<Result = unknown> {
  /** How many names have a result. */
  readonly done: number
  /** How many names there are, if they are an array or a `Set`. Otherwise `undefined`. */
  readonly total: number | undefined
  /** The index of the first name without a result. To resume after a stop, leave out all names before this one. */
  readonly resumeAt: number
  /** The results of the last call, in the order of its names. */
  readonly results: readonly Result[]
}

/** An operation on names, and the class of its error. */
export interface NamesOperation<Result> extends BatchOperation {
  readonly Failure: new (failure: CallFailure, state: NamesState<Result>) => NamesError<Result>
  /** The rules for the options that only this operation accepts. */
  readonly ownRules?: Rules
}

export const concurrencyRule: Rule = {
  holds: optional(count => Number.isInteger(count) && Number(count) > 0),
  expected: 'an integer above 0',
}

const optionRules: Rules = {
  ...callRules,
  concurrency: concurrencyRule,
  onProgress: onProgressRule,
}

/**
 * Work that begins when you use `await` or `for await`, and that is done once: use one of them. `await` collects all
 * results. `for await` yields each result as it arrives, keeps none, and reads further names only as the loop
 * continues.
 */
export interface Run<Result, Whole> extends Promise<Whole>, AsyncIterable<Result> {}

/** @param toWhole Called with the results of all names, in the order of the names. */
export function createRun<Result extends ResultOfName, Whole>(
  names: Names,
  options: NamesOptions<Result>,
  operation: NamesOperation<Result>,
  toWhole: (results: readonly Result[]) => Whole,
): Run<Result, Whole> {
  let use: Promise<Whole> | 'for await' | undefined
  async function collect(): Promise<Whole> {
    const results: Result[] = []
    for await (const outcome of sendNames(names, options, operation, results)) {
      for (const { result, place } of outcome.results) results[place] = result
    }
    return toWhole(results)
  }
  async function* iterate(): AsyncGenerator<Result, void, undefined> {
    for await (const { results } of sendNames(names, options, operation)) yield* results.map(({ result }) => result)
  }
  async function toPromise(): Promise<Whole> {
    if (use === 'for await') throw usedTwice()
    use ??= collect()
    return use
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise
    then: (onResolve, onReject) => toPromise().then(onResolve, onReject),
    catch: onReject => toPromise().catch(onReject),
    finally: onEnd => toPromise().finally(onEnd),
    [Symbol.toStringTag]: 'Promise',
    [Symbol.asyncIterator]() {
      if (use) throw usedTwice()
      use = 'for await'
      return iterate()
    },
  }
}

const usedTwice = () =>
  new TypeError(
    'The names have been sent already: use either "await" or one "for await" loop, or call the function again',
  )

/** A call that is under way, or whose results have not been passed on yet. */
interface OpenCall<Result> {
  readonly part: Part
  readonly controller: AbortController
  outcome?: BatchOutcome<Result>
}

/**
 * Sends any number of names in calls of 100, several at once, and yields their results in the order of the names. A
 * call that fails is retried after a while, so its results come later; see `plan.ts`. Only the names of calls that are
 * under way or have failed are in memory.
 *
 * @param kept The results that the caller has kept so far. The error contains them.
 * @throws {TypeError} if an option or a name is invalid.
 */
async function* sendNames<Result extends ResultOfName>(
  names: Names,
  options: NamesOptions<Result>,
  { Failure, ownRules, ...operation }: NamesOperation<Result>,
  kept: readonly Result[] = [],
): AsyncGenerator<BatchOutcome<Result>, void, undefined> {
  requireOptions(options, { ...optionRules, ...ownRules })
  const { patience = DEFAULT_PATIENCE, concurrency = DEFAULT_CONCURRENCY, signal, onProgress } = options
  signal?.throwIfAborted()
  let wake = () => {}
  let state = initialState
  let done = 0
  const reader = new NameReader(names, () => wake())
  /** In the order in which they were sent: the calls under way, and those whose results have not been yielded yet. */
  const calls: OpenCall<Result>[] = []

  function send(part: Part): void {
    if (part.turn === 'first') reader.take()
    state = { ...state, parts: state.parts.filter(other => other !== part) }
    // Each call has a signal of its own, because Node warns about more than ten listeners on one signal.
    const call: OpenCall<Result> = { part, controller: new AbortController() }
    calls.push(call)
    sendBatch<Result>(part.names, { ...options, signal: call.controller.signal }, operation)
      .catch((cause): BatchOutcome<Result> => {
        const failure = { code: 'unreachable', message: 'The call could not be sent.', mayPass: false, cause }
        return { results: [], left: part.names, failure }
      })
      .then(outcome => {
        call.outcome = outcome
        state = afterCall(state, part, outcome, { patience, now: performance.now() })
        wake()
      })
  }
  function stop(): void {
    for (const { controller } of calls) controller.abort(signal?.reason)
    wake()
  }
  const findLeft = () => state.parts.flatMap(part => part.names).sort((one, other) => one.place - other.place)
  const findResumeAt = () =>
    [...calls.map(({ part }) => part), ...state.parts].reduce(
      (least, { names: [first] }) => Math.min(least, first?.place ?? least),
      reader.taken,
    )

  signal?.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (reader.failure && calls.length === 0) throw reader.failure.error
      const { outcome } = calls[0] ?? {}
      const underWay = calls.filter(call => !call.outcome).length
      const move = decide(state, {
        next: reader.next,
        isAtEnd: reader.isAtEnd,
        hasRoom: !reader.failure && underWay < concurrency && calls.length < CALLS_AHEAD * concurrency,
        isIdle: calls.length === 0,
        now: performance.now(),
        concurrency,
        patience,
      })
      if (typeof move === 'object' && 'names' in move) send(move)
      else if (outcome) {
        calls.shift()
        if (outcome.results.length === 0) continue
        yield outcome
        done += outcome.results.length
        const results = outcome.results.map(({ result }) => result)
        await onProgress?.({ done, total: countNames(names), resumeAt: findResumeAt(), results })
      } else if (move === 'end') {
        const inputs = findLeft().map(({ name }) => name)
        if (!state.failure || inputs.length === 0) return
        const reached = { results: Object.values(kept), inputs, resumeAt: findResumeAt() }
        throw new Failure(explain(state.failure, inputs.length), reached)
      } else {
        await new Promise<void>(resolve => {
          const timer = move.wait < Number.POSITIVE_INFINITY ? setTimeout(resolve, move.wait) : undefined
          wake = () => resolve(clearTimeout(timer))
        })
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
    reader.close()
  }
}

function explain(failure: CallFailure, count: number): CallFailure {
  if (!failure.mayPass) return failure
  const message = `${count} ${count === 1 ? 'name has' : 'names have'} no result. The last failure: ${failure.message}`
  return { ...failure, message }
}
