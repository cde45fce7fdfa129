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
  /** The maximum number of calls under way at once, 1 or more. Default 4. */
  concurrency?: number | undefined
  /** Called after each call, for instance to show progress. If this function throws or rejects, the work ends. */
  onProgress?: ((progress: NamesProgress<Result>) => void) | undefined
}

export interface NamesProgress<Result> {
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
 * call that fails is retried after a while, so its results come later. A call that keeps failing is split in half. Only
 * the names of calls that are under way or have failed are in memory.
 *
 * @param kept The results that the caller has kept so far. The error contains them.
 * @throws {TypeError} if an option or a name is invalid.
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
        await onProgress?.({ done, total: countNames(names), resumeAt: findResumeAt(), results: batch.results })
      }
      controller.signal.throwIfAborted()
      // Taking results has made room for further calls.
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

/** Returns the names of the parts, in their original order. */
function toInputs(parts: readonly Part[]): readonly string[] {
  const placed = parts.flatMap(({ names, places }) =>
    names.map((name, index) => [places[index] as number, name] as const),
  )
  return placed.sort(([one], [other]) => one - other).map(([, name]) => name)
}

/** Creates a bell. `ring` ends the current `wait` or, if there is none, the next `wait`. */
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
