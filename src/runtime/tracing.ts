import type { TracingChannel } from 'node:diagnostics_channel'
import { findBuiltinModule } from './builtin-module.ts'

/**
 * The data that subscribers of a tracing channel get for one step. It contains no key and no hostname; only
 * `error` may quote one, for example in the words of your monitor. Fields are set as they become known: subscribe to
 * `asyncEnd` to see all of them.
 */
export interface TraceContext {
  /** The team that the call acts on. */
  teamId?: string
  /** The label of the key that was checked, if it has one. */
  keyLabel?: string
  /** How many names were submitted, or changes pushed. */
  count?: number
  /**
   * How many results have each status: `{ created: 2, existing: 0, invalid: 1, internal_error: 0 }`. Results with
   * `internal_error` are not counted as `invalid`.
   */
  totals?: Readonly<Record<string, number>>
  /** Milliseconds from start to end. */
  duration?: number
  /**
   * Why the step failed. Set before the channel's `error` and `asyncEnd` events. Also set if a call returned results,
   * but created nothing, and some of the results are `internal_error`.
   */
  error?: unknown
  /**
   * The outcome of the step. `saved`: registered, but not synchronized (503). `rejected`: the call is invalid or not
   * allowed (4xx). `failed`: the call saved nothing new, or a push or a sweep failed.
   */
  outcome?: 'done' | 'saved' | 'rejected' | 'failed'
}

/** The steps that can be traced: the channel of `register` is `domain-registration:register`. */
export type TracedStep = 'register' | 'retry' | 'delete' | 'authenticate' | 'push' | 'sweep'

type Diagnostics = typeof import('node:diagnostics_channel')

const channels = new Map<TracedStep, TracingChannel<unknown, TraceContext> | undefined>()

function channelOf(step: TracedStep) {
  if (!channels.has(step)) {
    const diagnostics = findBuiltinModule('node:diagnostics_channel') as Diagnostics | undefined
    channels.set(step, diagnostics?.tracingChannel(`domain-registration:${step}`))
  }
  return channels.get(step)
}

/**
 * Runs a step, and publishes it to the subscribers of its tracing channel
 * (https://nodejs.org/api/diagnostics_channel.html). Without a subscriber, it only runs the step.
 *
 * @param context What subscribers get; `work` sets its fields.
 */
export function trace<T>(
  step: TracedStep,
  work: (context: TraceContext) => Promise<T>,
  context: TraceContext = {},
): Promise<T> {
  const channel = channelOf(step)
  if (!channel || !(channel.start.hasSubscribers || channel.asyncEnd.hasSubscribers || channel.error.hasSubscribers))
    return work(context)
  const begun = performance.now()
  let result: T
  // The result is kept out of the context, because the result of a call contains hostnames.
  const traced = channel.tracePromise(async () => {
    try {
      result = await work(context)
      context.outcome = context.error === undefined ? 'done' : 'failed'
    } catch (error) {
      context.outcome = toOutcome(error)
      throw error
    } finally {
      context.duration = performance.now() - begun
    }
  }, context)
  return traced.then(() => result)
}

/** Derives the outcome from the properties of an `ApiError`. */
function toOutcome(error: unknown): NonNullable<TraceContext['outcome']> {
  const { code, status } = (error ?? {}) as { readonly code?: unknown; readonly status?: unknown }
  if (code === 'domain_registration_unavailable') return 'saved'
  return Number(status) >= 400 && Number(status) < 500 ? 'rejected' : 'failed'
}
