import { describe, isText, optional, type Rule, type Rules, requireOptions } from '../options.ts'
import {
  CallError,
  type CallFailure,
  type CallOptions,
  callRules,
  DEFAULT_PATIENCE,
  onProgressRule,
  toWait,
} from './call.ts'
import { type Batch, type BatchOperation, type BatchOutcome, type ResultOfName, sendBatch } from './send-batch.ts'

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
): AsyncGenerator<BatchOutcome<Result>, void, undefined> {
  requireOptions(options, { ...optionRules, ...ownRules })
  const { patience = DEFAULT_PATIENCE, concurrency = DEFAULT_CONCURRENCY, signal, onProgress } = options
  signal?.throwIfAborted()
  let wake = () => {}
  const queue = createQueue(names, { patience, concurrency, onRead: () => wake() })
  /** In the order in which they were sent: the calls under way, and those whose results have not been yielded yet. */
  const calls: { part: Part; controller: AbortController; outcome?: BatchOutcome<Result> }[] = []

  const isUnderWay = ({ outcome }: { outcome?: unknown }) => outcome === undefined
  const hasRoom = () => calls.length < CALLS_AHEAD * concurrency && calls.filter(isUnderWay).length < concurrency
  function startCalls(): void {
    while (hasRoom()) {
      const part = queue.take()
      if (part === undefined) return
      // Each call has a signal of its own, because Node warns about more than ten listeners on one signal.
      const call: (typeof calls)[number] = { part, controller: new AbortController() }
      calls.push(call)
      sendBatch<Result>(part, { ...options, signal: call.controller.signal }, operation)
        .catch((cause): BatchOutcome<Result> => {
          const failure = { message: 'The call could not be sent.', mayPass: false, cause }
          return { places: [], results: [], left: { ...part, failure } }
        })
        .then(outcome => {
          call.outcome = outcome
          queue.settle(part, outcome)
          wake()
        })
    }
  }
  function findResumeAt(): number {
    const parts = [...calls.map(({ part }) => part), ...queue.left()]
    return Math.min(queue.taken(), ...parts.map(({ places }) => places[0] as number))
  }
  function stop(): void {
    for (const { controller } of calls) controller.abort(signal?.reason)
    wake()
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for (let done = 0; ; ) {
      signal?.throwIfAborted()
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
      if (calls.length === 0) {
        const failure = queue.failure()
        if (failure) {
          const inputs = toInputs(queue.left())
          const state = { results: Object.values(kept), inputs, resumeAt: findResumeAt() }
          throw new Failure(explain(failure, inputs.length), state)
        }
        if (queue.isDone()) return
      }
      const wait = hasRoom() ? queue.untilDue() : Number.POSITIVE_INFINITY
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
    queue.close()
  }
}

function explain(failure: CallFailure, count: number): CallFailure {
  if (!failure.mayPass) return failure
  const message = `${count} ${count === 1 ? 'name has' : 'names have'} no result. The last failure: ${failure.message}`
  return { ...failure, message }
}

/** Returns the names of the batches, in their original order. */
function toInputs(batches: readonly Batch[]): readonly string[] {
  const placed = batches.flatMap(({ names, places }) =>
    names.map((name, index) => [places[index] as number, name] as const),
  )
  return placed.sort(([one], [other]) => one - other).map(([, name]) => name)
}

/** Returns the number of names, if it is known before they are read. */
function countNames(names: Names): number | undefined {
  if (Array.isArray(names)) return names.length
  return names instanceof Set ? names.size : undefined
}

/** While this many parts wait, no new names are sent. This limits the memory in use. */
const MOST_PARTS_WAITING = 200
/** A name that fails alone this many times is put off to the end: the service works, but not for this name. */
const MOST_OWN_FAILURES = 3
/**
 * While every call fails, parts are split only until there are this many. Splitting would isolate a single name that
 * fails, but in an outage it would only cause more calls.
 */
const MOST_PARTS_IN_OUTAGE = 16
/** The `dueAt` of a name that is sent once more, after all others have a result. */
const AT_THE_END = Number.POSITIVE_INFINITY

/** Names that are sent in one call, and what became of them so far. */
interface Part extends Batch {
  /** How many times in a row the part has failed while no other call succeeded. */
  readonly failures: number
  /** How many times the part has failed although the service worked: another call had succeeded in between. */
  readonly ownFailures: number
  /** How many calls had succeeded when the part was last sent or, if it has failed, when it last failed. */
  readonly successesBefore: number
  /** When the part may be sent again, as a time of `performance.now()`. Or `AT_THE_END`. */
  readonly dueAt: number
}

interface QueueOptions {
  readonly concurrency: number
  /** Milliseconds for which all calls may fail before the client gives up. */
  readonly patience: number
  /** Called when names are available, at the end, and after a failure. */
  readonly onRead: () => void
}

/**
 * Decides what to send next, and when to give up. Reads the names of the next call in advance, and keeps the parts that
 * failed until they may be sent again.
 *
 * @throws {TypeError} if the names are not iterable, or are a single string, whose letters would be sent one by one.
 */
function createQueue(names: Names, { concurrency, patience, onRead }: QueueOptions) {
  if (typeof names !== 'object' || names === null || !(Symbol.iterator in names || Symbol.asyncIterator in names)) {
    throw new TypeError(`The names must be an array or another iterable of strings; they are ${describe(names)}`)
  }
  const source = readBatches(names)
  let next: Batch | undefined
  let read = 0
  let isAtEnd = false
  /** The error that the iterable threw, or the error about a value that is not a string. */
  let unreadable: { readonly error: unknown } | undefined

  /** The parts that failed, in the order in which they are due. */
  let waiting: readonly Part[] = []
  /** Names that failed again after all others had a result. */
  const abandoned: Part[] = []
  let successes = 0
  let failuresInARow = 0
  let failingSince: number | undefined
  let lastFailure: CallFailure | undefined
  /** The failure that ends the work at once. */
  let end: CallFailure | undefined

  function readNext(): void {
    next = undefined
    source
      .next()
      .then(
        ({ value, done }) => {
          isAtEnd = done === true
          next = value ?? undefined
          read += value?.names.length ?? 0
        },
        error => {
          isAtEnd = true
          unreadable = { error }
        },
      )
      .finally(onRead)
  }
  readNext()

  /** Whether new names may be sent. If the latest calls have all failed, only waiting parts may be sent. */
  function mayTakeNew(): boolean {
    const count = waiting.findLastIndex(({ dueAt }) => dueAt < AT_THE_END) + 1
    return count === 0 || (failuresInARow < concurrency && count < MOST_PARTS_WAITING)
  }
  function takeWaiting(): Part | undefined {
    const [first, ...others] = waiting
    waiting = others
    return first
  }
  function retryLater(part: Part, failure: CallFailure): void {
    lastFailure = failure
    if (part.dueAt === AT_THE_END) return void abandoned.push(part)
    const isOfService = failure.code === 'domain_registration_unavailable' || failure.code === 'internal_error'
    const isOwnFailure = isOfService && successes > part.successesBefore
    const ownFailures = part.ownFailures + (isOwnFailure ? 1 : 0)
    const failures = isOwnFailure ? 1 : part.failures + 1
    const isPutOff = part.names.length === 1 && ownFailures >= MOST_OWN_FAILURES
    const dueAt = isPutOff ? AT_THE_END : performance.now() + toWait(failures, failure.retryAfter)
    const again = { ...part, failures, ownFailures, successesBefore: successes, dueAt }
    const isSplit = isOfService && part.dueAt > 0 && (isOwnFailure || waiting.length < MOST_PARTS_IN_OUTAGE)
    const parts = isSplit && part.names.length > 1 ? split(again) : [again]
    waiting = [...waiting, ...parts].sort((one, other) => (one.dueAt < other.dueAt ? -1 : 1))
  }

  return {
    /** First a part that failed and is due, then new names, and at the very end a name that was put off. */
    take(): Part | undefined {
      if (end || unreadable) return undefined
      const { dueAt } = waiting[0] ?? {}
      if (dueAt !== undefined && dueAt <= performance.now()) return takeWaiting()
      if (next && mayTakeNew()) {
        const part = { ...next, failures: 0, ownFailures: 0, successesBefore: successes, dueAt: 0 }
        readNext()
        return part
      }
      return isAtEnd && dueAt === AT_THE_END ? takeWaiting() : undefined
    },
    /** Takes account of a call that has ended. */
    settle(part: Part, { results, left }: BatchOutcome): void {
      if (results.length > 0) {
        successes += 1
        failuresInARow = 0
        failingSince = undefined
      } else if (left) {
        failuresInARow += 1
        failingSince ??= performance.now()
        if (!left.failure.mayPass || performance.now() - failingSince >= patience) end ??= left.failure
      }
      if (left) retryLater({ ...part, names: left.names, places: left.places }, left.failure)
    },
    /** All parts that were sent and have no result. */
    left: () => [...waiting, ...abandoned],
    /** How many names were taken from the iterable. */
    taken: () => read - (next?.names.length ?? 0),
    /** Milliseconds until a part is due; infinite if none will be. */
    untilDue: () => (end || unreadable ? AT_THE_END : (waiting[0]?.dueAt ?? AT_THE_END)) - performance.now(),
    /**
     * Why the work is over, if no call is under way: a call failed for good, names were abandoned, or the next retry
     * would come after `patience`.
     */
    failure(): CallFailure | undefined {
      if (end || (!isAtEnd && mayTakeNew())) return end
      const { dueAt } = waiting[0] ?? {}
      if (dueAt === undefined) return abandoned.length > 0 ? lastFailure : undefined
      return dueAt < AT_THE_END && dueAt > (failingSince ?? performance.now()) + patience ? lastFailure : undefined
    },
    /** @throws The error of the iterable. */
    isDone(): boolean {
      if (unreadable) throw unreadable.error
      return isAtEnd && waiting.length === 0
    },
    /** Lets the iterable release its resources. */
    close: () => void source.return(undefined).catch(() => {}),
  }
}

function split(part: Part): readonly Part[] {
  const middle = Math.ceil(part.names.length / 2)
  return [
    { ...part, names: part.names.slice(0, middle), places: part.places.slice(0, middle) },
    { ...part, names: part.names.slice(middle), places: part.places.slice(middle) },
  ]
}

async function* readBatches(all: Names): AsyncGenerator<Batch, void, undefined> {
  let names: string[] = []
  let places: number[] = []
  let place = 0
  for await (const name of all) {
    if (!isText(name)) throw new TypeError(`The name at index ${place} must be a string; it is ${describe(name)}`)
    names.push(name)
    places.push(place)
    place += 1
    if (names.length < NAMES_PER_CALL) continue
    yield { names, places }
    names = []
    places = []
  }
  if (names.length > 0) yield { names, places }
}
