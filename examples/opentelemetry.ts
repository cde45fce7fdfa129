/**
 * Reports each step of the library to OpenTelemetry: a span within the request's span, and metrics. Start your SDK
 * first: `node --import ./sdk.js --import ./opentelemetry.js server.js`.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { context as active, type Context, metrics, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ManagedStore, TraceContext, WaitingStore } from 'domain-registration'

const tracer = trace.getTracer('domain-registration')
const meter = metrics.getMeter('domain-registration')
const durations = meter.createHistogram('domain_registration.step.duration', { unit: 'ms' })
const steps = meter.createCounter('domain_registration.steps')
const names = meter.createCounter('domain_registration.names')
// A series that first appears with a failure has no increase, so no alert would see that failure: each begins with 0.
for (const status of ['created', 'existing', 'invalid', 'internal_error']) names.add(0, { step: 'register', status })

/**
 * Where the SDK keeps the active span, so that pushes and queries are within the span of their call. No public API
 * returns it. With another context manager, only pushes are within the span of their call.
 */
function findActiveSpans(): AsyncLocalStorage<Context> {
  const found: unknown = Object(active)._getContextManager?.()?._asyncLocalStorage
  return found instanceof AsyncLocalStorage ? found : new AsyncLocalStorage()
}

const activeSpans = findActiveSpans()

for (const step of ['register', 'delete', 'authenticate', 'push', 'sweep']) {
  for (const outcome of ['done', 'saved', 'rejected', 'failed']) steps.add(0, { step, outcome })
  const spans = new WeakMap<object, Span>()
  const channel = tracingChannel<Context, TraceContext>(`domain-registration:${step}`)
  channel.start.bindStore(activeSpans, context => {
    const parent = activeSpans.getStore() ?? active.active()
    const span = tracer.startSpan(`domain-registration ${step}`, {}, parent)
    spans.set(context, span)
    return trace.setSpan(parent, span)
  })
  channel.subscribe({
    start() {},
    end() {},
    asyncStart() {},
    error() {},
    asyncEnd(context) {
      const { teamId, count, totals = {}, duration = 0, outcome = '', error } = context
      const span = spans.get(context)
      if (teamId !== undefined) span?.setAttribute('domain_registration.team', teamId)
      if (count !== undefined) span?.setAttribute('domain_registration.count', count)
      if (outcome === 'failed') span?.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
      span?.end()
      durations.record(duration, { step, outcome })
      steps.add(1, { step, outcome })
      for (const [status, number] of Object.entries(totals)) names.add(number, { step, status })
    },
  })
}

/**
 * Call this once. Asks the store every ten seconds, so that no export of metrics waits for it. While the store does not
 * respond, only the length of its queue is reported.
 */
export function watchStore(store: ManagedStore & { queueLength?(): number }): void {
  const pending = meter.createObservableGauge('domain_registration.pending')
  const refused = meter.createObservableGauge('domain_registration.pending.refused')
  const oldest = meter.createObservableGauge('domain_registration.pending.oldest', { unit: 's' })
  const roundTrip = meter.createObservableGauge('domain_registration.round_trip', { unit: 'ms' })
  const queue = meter.createObservableGauge('domain_registration.queue.names')

  let answer: Awaited<ReturnType<typeof askStore>> | undefined
  async function ask(): Promise<void> {
    const late = setTimeout(() => {
      answer = undefined
    }, 1000)
    answer = await askStore(store).catch(() => undefined)
    clearTimeout(late)
  }
  ask()
  setInterval(ask, 10_000).unref()
  meter.addBatchObservableCallback(
    result => {
      result.observe(queue, store.queueLength?.() ?? 0)
      if (!answer) return
      result.observe(roundTrip, answer.roundTrip)
      result.observe(pending, answer.count)
      result.observe(refused, answer.refused)
      result.observe(oldest, answer.age)
    },
    [pending, refused, oldest, roundTrip, queue],
  )
}

/** Call this once if you have a store of names that wait. */
export function watchWaiting(waiting: WaitingStore): void {
  const names = meter.createObservableGauge('domain_registration.waiting')
  const overdue = meter.createObservableGauge('domain_registration.waiting.overdue', { unit: 's' })
  let stats: Awaited<ReturnType<WaitingStore['stats']>> | undefined
  async function ask(): Promise<void> {
    stats = await Promise.resolve(waiting.stats()).catch(() => undefined)
  }
  ask()
  setInterval(ask, 10_000).unref()
  meter.addBatchObservableCallback(
    result => {
      if (!stats) return
      result.observe(names, stats.count)
      result.observe(overdue, stats.overdue / 1000)
    },
    [names, overdue],
  )
}

/** The round trip in milliseconds, the age of the oldest pending change in seconds. */
async function askStore(store: ManagedStore) {
  const times: number[] = []
  for (let index = 0; index < 5; index += 1) {
    const begun = performance.now()
    await store.find({ teamId: '', domains: ['example.com'], bases: [] })
    times.push(performance.now() - begun)
  }
  const roundTrip = times.sort((one, other) => one - other)[2] as number
  const { count, refused, oldest } = await store.pendingStats()
  return { roundTrip, count, refused, age: oldest ? (Date.now() - oldest.getTime()) / 1000 : 0 }
}
