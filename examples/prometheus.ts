/**
 * Counts and measures each step of the library for Prometheus. Serve `await register.metrics()` at `/metrics`. The
 * file `alerts.yml` has alerts for these metrics.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { ManagedStore, TraceContext } from 'domain-registration'
import { Counter, Gauge, Histogram } from 'prom-client'

const durations = new Histogram({
  name: 'domain_registration_step_seconds',
  help: 'How long the steps of domain-registration took',
  labelNames: ['step', 'outcome'] as const,
})
const names = new Counter({
  name: 'domain_registration_names_total',
  help: 'Names by the status of their result',
  labelNames: ['step', 'status'] as const,
})

for (const step of ['register', 'delete', 'authenticate', 'push', 'sweep']) {
  tracingChannel<string, TraceContext>(`domain-registration:${step}`).subscribe({
    start() {},
    end() {},
    asyncStart() {},
    error() {},
    asyncEnd({ totals = {}, duration = 0, outcome = '' }) {
      durations.observe({ step, outcome }, duration / 1000)
      for (const [status, number] of Object.entries(totals)) names.inc({ step, status }, number)
    },
  })
}

/** Call this once. The gauges are NaN while the store does not respond. */
export function watchStore(store: ManagedStore): void {
  const gauge = (name: string, help: string) => new Gauge({ name: `domain_registration_${name}`, help })
  const pending = gauge('pending', 'Changes that have not reached the monitor yet')
  const refused = gauge('pending_refused', 'Pending changes that the monitor has refused')
  const oldest = gauge('pending_oldest_seconds', 'Age of the oldest pending change; 0 if none is pending')
  new Gauge({
    name: 'domain_registration_round_trip_seconds',
    help: 'Median duration of five queries to the store',
    async collect() {
      const { stats, roundTrip } = await askStore(store).catch(() => ({ stats: undefined, roundTrip: Number.NaN }))
      this.set(roundTrip / 1000)
      pending.set(stats?.count ?? Number.NaN)
      refused.set(stats?.refused ?? Number.NaN)
      oldest.set(stats ? (Date.now() - (stats.oldest?.getTime() ?? Date.now())) / 1000 : Number.NaN)
    },
  })
}

async function askStore(store: ManagedStore) {
  const times: number[] = []
  for (let index = 0; index < 5; index += 1) {
    const begun = performance.now()
    await store.find({ teamId: '', domains: ['example.com'], bases: [] })
    times.push(performance.now() - begun)
  }
  const roundTrip = times.sort((one, other) => one - other)[2] as number
  return { roundTrip, stats: await store.pendingStats() }
}
