import { countRule, describe, isFunction, isText, type Rules, requireOptions } from '../options.ts'
import { type CallFailure, type CallOptions, callRules, DEFAULT_PATIENCE, onProgressRule } from './call.ts'
import type { NamesError, NamesState } from './errors.ts'
import {
  afterCall,
  afterRead,
  afterSend,
  type BatchOutcome,
  decide,
  initialState,
  type Part,
  type PlacedName,
} from './plan.ts'

/** Hostnames: an array, another iterable, or an async iterable such as the lines of a file. */
export type Names = Iterable<string> | AsyncIterable<string>

/** The maximum number of hostnames in one call. */
const NAMES_PER_CALL = 100

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

/** An operation on names. */
interface NamesOperation<Result> {
  /** Sends the names of one call, once. */
  readonly send: (names: readonly PlacedName[], options: CallOptions) => Promise<BatchOutcome<Result>>
  readonly Failure: new (failure: CallFailure, state: NamesState<Result>) => NamesError<Result>
  /** The rules for the options that only this operation accepts. */
  readonly ownRules?: Rules
}

const runRules: Rules = { ...callRules, concurrency: countRule, onProgress: onProgressRule }

/**
 * Work that begins when you use `await` or `for await`, and that is done once: use one of them. `await` collects all
 * results. `for await` yields each result as it arrives, keeps none, and reads further names only as the loop
 * continues. Unlike a promise, it can no longer be awaited after a loop; that throws a `TypeError`.
 */
export interface Run<Result, Whole> extends Pick<Promise<Whole>, 'then' | 'catch' | 'finally'>, AsyncIterable<Result> {}

/** @param toWhole Called with the results of all names, in the order of the names. */
export function createRun<Result, Whole>(
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
    // biome-ignore lint/suspicious/noThenProperty: it can be awaited
    then: (onResolve, onReject) => toPromise().then(onResolve, onReject),
    catch: onReject => toPromise().catch(onReject),
    finally: onEnd => toPromise().finally(onEnd),
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

/** A call that is under way, or whose results have not been yielded yet. */
interface OpenCall<Result> {
  readonly part: Part
  readonly controller: AbortController
  outcome?: BatchOutcome<Result>
}

/**
 * Sends names, and yields their results in the order of the names. A call that fails is retried after a while, so its
 * results come later; see `plan.ts`. Only the names of calls that are under way or have failed are in memory.
 *
 * @param kept The results that the caller has kept so far. The error contains them.
 */
async function* sendNames<Result>(
  names: Names,
  options: NamesOptions<Result>,
  { send, Failure, ownRules }: NamesOperation<Result>,
  kept: readonly Result[] = [],
): AsyncGenerator<BatchOutcome<Result>, void, undefined> {
  requireOptions(options, { ...runRules, ...ownRules })
  requireNames(names)
  const { patience = DEFAULT_PATIENCE, concurrency = 4, signal, onProgress } = options
  signal?.throwIfAborted()
  const total = Array.isArray(names) ? names.length : names instanceof Set ? names.size : undefined
  const batches = readBatches(names)
  /** In the order in which they were sent. */
  const calls: OpenCall<Result>[] = []
  let state = initialState
  let done = 0
  /** What the iterable of names has thrown. The calls under way are finished first. */
  let broken: { readonly error: unknown } | undefined
  let wake = () => {}

  async function read(): Promise<void> {
    try {
      const { value } = await batches.next()
      state = afterRead(state, value ?? undefined)
    } catch (error) {
      broken = { error }
    }
    wake()
  }
  async function call(part: Part): Promise<void> {
    state = afterSend(state, part)
    if (part.turn === 'first') void read()
    // Each call has a signal of its own, because Node warns about more than ten listeners on one signal.
    const open: OpenCall<Result> = { part, controller: new AbortController() }
    calls.push(open)
    try {
      open.outcome = await send(part.probe ? [part.probe] : part.names, { ...options, signal: open.controller.signal })
      state = afterCall(state, part, open.outcome, { patience, now: performance.now() })
    } catch (error) {
      broken = { error }
      open.outcome = { results: [] }
    }
    wake()
  }
  function stop(): void {
    for (const { controller } of calls) controller.abort(signal?.reason)
    wake()
  }
  const findResumeAt = () =>
    [...calls.map(({ part }) => part), ...state.parts].reduce(
      (least, { names: [first] }) => Math.min(least, first?.place ?? least),
      state.taken,
    )

  signal?.addEventListener('abort', stop, { once: true })
  void read()
  try {
    for (;;) {
      signal?.throwIfAborted()
      const [first] = calls
      if (broken && !first) throw broken.error
      const underWay = calls.filter(({ outcome }) => !outcome).length
      const hasRoom = !broken && underWay < concurrency && calls.length < CALLS_AHEAD * concurrency
      const situation = { hasRoom, isIdle: !first, concurrency, patience, now: performance.now() }
      const move = decide(state, situation)
      if (typeof move === 'object') void call(move)
      else if (first?.outcome) {
        const { outcome } = first
        calls.shift()
        if (outcome.results.length === 0) continue
        yield outcome
        done += outcome.results.length
        const results = outcome.results.map(({ result }) => result)
        await onProgress?.({ done, total, resumeAt: findResumeAt(), results })
      } else if (move === 'end') {
        const left = state.parts.flatMap(part => part.names)
        if (!state.failure || left.length === 0) return
        const inputs = left.sort((one, other) => one.place - other.place).map(({ name }) => name)
        const reached = { results: Object.values(kept), inputs, resumeAt: findResumeAt() }
        throw new Failure(explain(state.failure, inputs.length), reached)
      } else {
        await new Promise<void>(resolve => {
          const timer = move < Number.POSITIVE_INFINITY ? setTimeout(resolve, Math.ceil(move)) : undefined
          wake = () => resolve(clearTimeout(timer))
        })
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
    // Lets the iterable release its resources.
    batches.return(undefined).catch(() => {})
  }
}

function explain(failure: CallFailure, count: number): CallFailure {
  if (!failure.mayPass) return failure
  const message = `${count} ${count === 1 ? 'name has' : 'names have'} no result. The last failure: ${failure.message}`
  return { ...failure, message }
}

/** A single string is iterable too, but its letters would be sent one by one. */
function requireNames(names: Names): void {
  const { [Symbol.iterator]: iterator, [Symbol.asyncIterator]: asyncIterator } = Object(names)
  if (!isText(names) && (isFunction(iterator) || isFunction(asyncIterator))) return
  throw new TypeError(`The names must be an array or another iterable of strings; they are ${describe(names)}`)
}

async function* readBatches(names: Names): AsyncGenerator<readonly PlacedName[], undefined, undefined> {
  let batch: PlacedName[] = []
  let place = 0
  for await (const name of names) {
    if (!isText(name)) throw new TypeError(`The name at index ${place} must be a string; it is ${describe(name)}`)
    batch.push({ name, place })
    place += 1
    if (batch.length < NAMES_PER_CALL) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
