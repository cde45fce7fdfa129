import { optional, type Rule, type Rules, requireOptions } from '../options.ts'
import type { CallFailure, FailedAttempt } from './answer.ts'
import { CallError, type CallOptions, callRules, DEFAULT_PATIENCE, onProgressRule } from './call.ts'
import { type Batch, type BatchOperation, createCalls, type ResultOfName } from './calls.ts'
import { countNames, createNamesSource, type Names } from './names-source.ts'
import type { Part } from './part.ts'
import { createQueue } from './queue.ts'

const DEFAULT_CONCURRENCY = 4

/** Options for sending any number of names. */
export interface NamesOptions<Result> extends CallOptions {
  /** How many calls are under way at once, 1 or more. Default 4. */
  concurrency?: number | undefined
  /** Called after each call, for instance to show progress. What it throws ends the work. */
  onProgress?: ((progress: NamesProgress<Result>) => void) | undefined
}

export interface NamesProgress<Result> {
  /** How many names have a result. */
  readonly done: number
  /** How many names there are: of an array or a `Set`; otherwise `undefined`. */
  readonly total: number | undefined
  /** How many names, counted from the first one, all have a result. To resume after a stop, leave out that many. */
  readonly resumeAt: number
  /** The results of the last call, in the order of its names. */
  readonly results: readonly Result[]
}

/** What was done when the work ended early. */
type NamesState<Result> = Pick<NamesError<Result>, 'results' | 'inputs' | 'resumeAt'>

/** Why the work ended early. What was done stays done. */
export class NamesError<Result> extends CallError {
  /** The results so far, in the order of their names; empty if they were iterated over. */
  readonly results: readonly Result[]
  /** The names that were sent and have no result, in their order. */
  readonly inputs: readonly string[]
  /** How many names, counted from the first one, all have a result. To resume, leave out that many. */
  readonly resumeAt: number

  constructor(failure: CallFailure, { results, inputs, resumeAt }: NamesState<Result>) {
    super(failure)
    this.results = results
    this.inputs = inputs
    this.resumeAt = resumeAt
  }
}

/** An operation with names, and the error that ends it. */
export interface NamesOperation<Result> extends BatchOperation {
  readonly Failure: new (failure: CallFailure, state: NamesState<Result>) => NamesError<Result>
  /** The rules of options that only this operation has. */
  readonly rules?: Rules
}

export const concurrencyRule: Rule = {
  holds: optional(count => Number.isInteger(count) && Number(count) > 0),
  expected: 'an integer above 0',
}

const rules: Rules = {
  ...callRules,
  concurrency: concurrencyRule,
  onProgress: onProgressRule,
}

/**
 * Sends any number of names in calls of 100, several at once, and yields their results in the order of the names. A
 * call that fails is put aside and retried after a while, in halves if it keeps failing, and its
 * results come then. Only the calls under way and those that failed are in memory.
 *
 * @param kept The results that the caller keeps, for the error.
 * @throws {TypeError} for options or names that are wrong.
 */
export async function* sendNames<Result extends ResultOfName>(
  names: Names,
  options: NamesOptions<Result>,
  { Failure, rules: ownRules, ...operation }: NamesOperation<Result>,
  kept: readonly Result[] = [],
): AsyncGenerator<Batch<Result>, void, undefined> {
  requireOptions(options, { ...rules, ...ownRules })
  const { patience = DEFAULT_PATIENCE, concurrency = DEFAULT_CONCURRENCY, signal, onProgress } = options
  signal?.throwIfAborted()
  const bell = createBell()
  const source = createNamesSource(names, bell.ring)
  const queue = createQueue({ concurrency, patience })
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  controller.signal.addEventListener('abort', bell.ring)
  const calls = createCalls<Result>({ ...options, concurrency, signal: controller.signal }, operation, queue, bell.ring)

  function takeNext(): Part | undefined {
    if (!calls.hasRoom() || source.failure()) return undefined
    const due = queue.takeDue()
    if (due) return due
    const next = queue.mayTakeNew() ? source.take() : undefined
    if (next) return queue.markNew(next)
    return source.isAtEnd() ? queue.takeGivenUp() : undefined
  }
  function startCalls(): void {
    for (let part = takeNext(); part; part = takeNext()) calls.start(part)
  }
  function findResumeAt(): number {
    const firsts = [...calls.parts(), ...queue.parts()].map(({ places }) => places[0] as number)
    return Math.min(source.taken(), ...firsts)
  }
  try {
    for (let done = 0; ; ) {
      startCalls()
      for (let batch = calls.takeAnswered(); batch; batch = calls.takeAnswered()) {
        yield batch
        done += batch.results.length
        onProgress?.({ done, total: countNames(names), resumeAt: findResumeAt(), results: batch.results })
      }
      controller.signal.throwIfAborted()
      // The answers that were taken made room.
      startCalls()
      if (calls.areOver()) {
        const isDone = source.isAtEnd() && queue.isEmpty()
        const hasNew = queue.mayTakeNew() && !source.isAtEnd()
        const failure = calls.failure() ?? (isDone ? queue.refusal() : hasNew ? undefined : queue.whyTooLate())
        if (failure) {
          const inputs = toInputs(queue.parts())
          throw new Failure(explain(failure, inputs.length), {
            results: Object.values(kept),
            inputs,
            resumeAt: findResumeAt(),
          })
        }
        if (source.failure()) throw source.failure()?.error
        if (isDone) return
      }
      await bell.wait(calls.hasRoom() ? queue.untilDue() : Number.POSITIVE_INFINITY)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    controller.abort()
    source.close()
  }
}

function explain(failure: FailedAttempt, count: number): CallFailure {
  if (!failure.mayPass) return failure
  const message = `${count} ${count === 1 ? 'name has' : 'names have'} no result. The last failure: ${failure.message}`
  return { ...failure, message }
}

/** The names of parts, in their order among all names. */
function toInputs(parts: readonly Part[]): readonly string[] {
  const placed = parts.flatMap(({ names, places }) =>
    names.map((name, index) => [places[index] as number, name] as const),
  )
  return placed.sort(([one], [other]) => one - other).map(([, name]) => name)
}

/** Wakes one waiter. A ring without a waiter ends the next wait at once. */
function createBell() {
  let hasRung = false
  let wake = () => {}
  return {
    ring() {
      hasRung = true
      wake()
    },
    async wait(milliseconds: number): Promise<void> {
      let timer: ReturnType<typeof setTimeout> | undefined
      if (!hasRung)
        await new Promise<void>(resolve => {
          wake = resolve
          if (milliseconds < Number.POSITIVE_INFINITY) timer = setTimeout(resolve, milliseconds)
        })
      clearTimeout(timer)
      hasRung = false
    },
  }
}
