/** Counts and measures each step of the library for Prometheus. Serve `await register.metrics()` at `/metrics`. */
import { tracingChannel } from 'node:diagnostics_channel'
import type { TraceContext } from 'domain-registration'
import { Counter, Histogram } from 'prom-client'

const durations = new Histogram({
  name: 'domain_registration_step_seconds',
  help: 'How long the steps of domain-registration took',
  labelNames: ['step', 'outcome'] as const,
})
const names = new Counter({
  name: 'domain_registration_names_total',
  help: 'Names by what became of them',
  labelNames: ['step', 'status'] as const,
})

for (const step of ['register', 'delete', 'authenticate', 'push', 'sweep']) {
  tracingChannel<string, TraceContext>(`domain-registration:${step}`).subscribe({
    start() {},
    end() {},
    asyncStart() {},
    error() {},
    asyncEnd({ totals = {}, duration = 0, error }) {
      durations.observe({ step, outcome: error ? 'failed' : 'done' }, duration / 1000)
      for (const [status, number] of Object.entries(totals)) names.inc({ step, status }, number)
    },
  })
}
