/** Tells OpenTelemetry of each step of the library. Load it before your server: `node --import ./opentelemetry.js`. */
import { tracingChannel } from 'node:diagnostics_channel'
import { metrics, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { TraceContext } from 'domain-registration'

const tracer = trace.getTracer('domain-registration')
const meter = metrics.getMeter('domain-registration')
const durations = meter.createHistogram('domain_registration.step.duration', { unit: 'ms' })
const names = meter.createCounter('domain_registration.names')

for (const step of ['register', 'delete', 'authenticate', 'push', 'sweep']) {
  const spans = new WeakMap<object, Span>()
  tracingChannel<string, TraceContext>(`domain-registration:${step}`).subscribe({
    start: context => void spans.set(context, tracer.startSpan(`domain-registration ${step}`)),
    end() {},
    asyncStart() {},
    error() {},
    asyncEnd(context) {
      const { teamId, count, totals = {}, duration = 0, error } = context
      const span = spans.get(context)
      if (teamId !== undefined) span?.setAttribute('domain_registration.team', teamId)
      if (count !== undefined) span?.setAttribute('domain_registration.count', count)
      if (error) span?.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
      span?.end()
      durations.record(duration, { step, outcome: error ? 'failed' : 'done' })
      for (const [status, number] of Object.entries(totals)) names.add(number, { step, status })
    },
  })
}
