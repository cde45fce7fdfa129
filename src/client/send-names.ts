import { describe, isText, optional, type Rule, type Rules, requireOptions } from '../options.ts'
import { CallError, type CallFailure, type CallOptions, callRules, DEFAULT_PATIENCE, onProgressRule } from './call.ts'
import { createRetries } from './retries.ts'
import { type BatchOperation, type Part, type PartOutcome, type ResultOfName, sendPart } from './send-part.ts'

/** Hostnames: an array, another iterable, or an async iterable such as the lines of a file. */
export type Names = Iterable<string> | AsyncIterable<string>

/** The maximum number of hostnames in one call. */
export const NAMES_PER_CALL = 100

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

/** What had been done when the work ended early. */
type NamesState<Result> = Pick<NamesError<Result>, 'results' | 'inputs' | 'resumeAt'>

/** Why the work ended early. Changes that earlier calls made are not undone. */
export class NamesError<Result> extends CallError {
  /** The results so far, in the order of their names. Empty with `for await`. */
  readonly results: readonly Result[]
  /** The names that were sent and have no result, in their original order. */
  readonly inputs: readonly string[]
  /** The index of the first name without a result. To resume, leave out all names before this one. */
  readonly resumeAt: number

  constructor(failure: CallFailure, { results, inputs, resumeAt }: NamesState<Result>) {
    super(failure)
    this.results = results
    this.inputs = inputs
    this.resumeAt = resumeAt
  }
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
 * Work that begins when you use `await` or `for await`. `await` collects all results. `for await` yields each result as
 * it arrives, keeps none, and reads further names only as the loop continues.
 */
export interface Run<Result, Whole> extends Promise<Whole>, AsyncIterable<Result> {}

/** @param toWhole Called with the results of all names, in the order of the names. */
export function createRun<Result extends ResultOfName, Whole>(
  names: Names,
  options: NamesOptions<Result>,
  operation: NamesOperation<Result>,
  toWhole: (results: readonly Result[]) => Whole,
): Run<Result, Whole> {
  let whole: Promise<Whole> | undefined
  async function collect(): Promise<Whole> {
    const results: Result[] = []
    for await (const batch of sendNames(names, options, operation, results)) {
      for (const [index, place] of batch.places.entries()) results[place] = batch.results[index] as Result
    }
    return toWhole(results)
  }
  async function* iterate(): AsyncGenerator<Result, void, undefined> {
    for await (const { results } of sendNames(names, options, operation)) yield* results
  }
  const toPromise = () => (whole ??= collect())
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise
    then: (onResolve, onReject) => toPromise().then(onResolve, onReject),
    catch: onReject => toPromise().catch(onReject),
    finally: onEnd => toPromise().finally(onEnd),
    [Symbol.toStringTag]: 'Promise',
    [Symbol.asyncIterator]: iterate,
  }
}

/**
 * Sends any number of names in calls of 100, several at once, and yields their results in the order of the names. A
 * call that fails is retried after a while, so its results come later. A call that keeps failing is split in half. Only
 * the names of calls that are under way or have failed are in memory.
 *
 * @param kept The results that the caller has kept so far. The error contains them.
 * @throws {TypeError} if an option or a name is invalid.
 */
async function* sendNames<Result extends ResultOfName>(
  names: Names,
  options: NamesOptions<Result>,
  { Failure, ownRules, ...operation }: NamesOperation<Result>,
  kept: readonly Result[] = [],
): AsyncGenerator<PartOutcome<Result>, void, undefined> {
  requireOptions(options, { ...optionRules, ...ownRules })
  const { patience = DEFAULT_PATIENCE, concurrency = DEFAULT_CONCURRENCY, signal, onProgress } = options
  signal?.throwIfAborted()
  let wake = () => {}
  const source = createNamesSource(names, () => wake())
  const retries = createRetries({ concurrency, patience })
  /** In the order in which they were sent: the calls under way, and those whose results have not been yielded yet. */
  const calls: { part: Part; controller: AbortController; outcome?: PartOutcome<Result> }[] = []
  let crash: CallFailure | undefined

  const failure = () => crash ?? retries.end()
  const isUnderWay = ({ outcome }: { outcome?: unknown }) => outcome === undefined
  const hasRoom = () =>
    !failure() && calls.length < CALLS_AHEAD * concurrency && calls.filter(isUnderWay).length < concurrency
  function takeNext(): Part | undefined {
    const next = retries.mayTakeNew() ? source.take() : undefined
    return next && retries.markNew(next)
  }
  function startCalls(): void {
    while (hasRoom() && !source.failure()) {
      const part = retries.take(false) ?? takeNext() ?? (source.isAtEnd() ? retries.take(true) : undefined)
      if (part === undefined) return
      // Each call has a signal of its own, because Node warns about more than ten listeners on one signal.
      const call: (typeof calls)[number] = { part, controller: new AbortController() }
      calls.push(call)
      sendPart<Result>(part, { ...options, signal: call.controller.signal }, operation)
        .then(outcome => {
          call.outcome = outcome
          retries.settle(part, outcome)
        })
        .catch(cause => {
          call.outcome = { places: [], results: [] }
          crash ??= { message: 'The call could not be sent.', mayPass: false, cause }
        })
        .finally(() => wake())
    }
  }
  function findResumeAt(): number {
    const parts = [...calls.map(({ part }) => part), ...retries.parts()]
    return Math.min(source.taken(), ...parts.map(({ places }) => places[0] as number))
  }
  function throwIfOver(isDone: boolean): void {
    const cause = failure() ?? (isDone || source.isAtEnd() || !retries.mayTakeNew() ? retries.whyStuck() : undefined)
    if (cause) {
      const inputs = toInputs(retries.parts())
      const state = { results: Object.values(kept), inputs, resumeAt: findResumeAt() }
      throw new Failure(explain(cause, inputs.length), state)
    }
    if (source.failure()) throw source.failure()?.error
  }
  function stop(): void {
    for (const { controller } of calls) controller.abort(signal?.reason)
    wake()
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for (let done = 0; ; ) {
      startCalls()
      const { outcome } = calls[0] ?? {}
      if (outcome) {
        calls.shift()
        if (outcome.results.length === 0) continue
        yield outcome
        done += outcome.results.length
        await onProgress?.({ done, total: countNames(names), resumeAt: findResumeAt(), results: outcome.results })
        continue
      }
      signal?.throwIfAborted()
      const isDone = source.isAtEnd() && retries.isEmpty()
      if (calls.length === 0) throwIfOver(isDone)
      if (calls.length === 0 && isDone) return
      const wait = hasRoom() ? retries.untilDue() : Number.POSITIVE_INFINITY
      let timer: ReturnType<typeof setTimeout> | undefined
      await new Promise<void>(resolve => {
        wake = resolve
        if (wait < Number.POSITIVE_INFINITY) timer = setTimeout(resolve, wait)
      })
      clearTimeout(timer)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
    source.close()
  }
}

function explain(failure: CallFailure, count: number): CallFailure {
  if (!failure.mayPass) return failure
  const message = `${count} ${count === 1 ? 'name has' : 'names have'} no result. The last failure: ${failure.message}`
  return { ...failure, message }
}

/** Returns the names of the parts, in their original order. */
function toInputs(parts: readonly Part[]): readonly string[] {
  const placed = parts.flatMap(({ names, places }) =>
    names.map((name, index) => [places[index] as number, name] as const),
  )
  return placed.sort(([one], [other]) => one - other).map(([, name]) => name)
}

/** Returns the number of names, if it is known before they are read. */
function countNames(names: Names): number | undefined {
  if (Array.isArray(names)) return names.length
  return names instanceof Set ? names.size : undefined
}

/**
 * Creates a source of names, which reads the names of the next call in advance.
 *
 * @param onRead Called when names are available, at the end, and after a failure.
 * @throws {TypeError} if the names are not iterable, or are a single string, whose letters would be sent one by one.
 */
function createNamesSource(names: Names, onRead: () => void) {
  if (typeof names !== 'object' || names === null || !(Symbol.iterator in names || Symbol.asyncIterator in names)) {
    throw new TypeError(`The names must be an array or another iterable of strings; they are ${describe(names)}`)
  }
  const parts = readParts(names)
  let next: Part | undefined
  let failure: { readonly error: unknown } | undefined
  let isAtEnd = false
  let read = 0

  function readNext(): void {
    parts
      .next()
      .then(
        ({ value, done }) => {
          isAtEnd = done === true
          next = value ?? undefined
          read += value?.names.length ?? 0
        },
        error => {
          isAtEnd = true
          failure = { error }
        },
      )
      .finally(onRead)
  }
  readNext()

  return {
    take(): Part | undefined {
      const part = next
      next = undefined
      if (part) readNext()
      return part
    },
    isAtEnd: () => isAtEnd,
    /** How many names the source has returned. */
    taken: () => read - (next?.names.length ?? 0),
    /** The error that the iterable threw, or the error about a value that is not a string. */
    failure: () => failure,
    /** Lets the iterable release its resources. */
    close: () => void parts.return(undefined).catch(() => {}),
  }
}

async function* readParts(all: Names): AsyncGenerator<Part, void, undefined> {
  let names: string[] = []
  let place = 0
  const toPart = (): Part => {
    const places = names.map((_, index) => place - names.length + index)
    const part = { names, places, failures: 0, ownFailures: 0, successesBefore: 0, dueAt: 0 }
    names = []
    return part
  }
  for await (const name of all) {
    if (!isText(name)) throw new TypeError(`The name at index ${place} must be a string; it is ${describe(name)}`)
    names.push(name)
    place += 1
    if (names.length === NAMES_PER_CALL) yield toPart()
  }
  if (names.length > 0) yield toPart()
}
