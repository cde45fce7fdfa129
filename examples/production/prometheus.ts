/**
 * Counts and measures each step of the library for Prometheus. Serve `await register.metrics()` at `/metrics`,
 * with `register.contentType`. The file `alerts.yml` of the examples has alerts for these metrics.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { ManagedStore, TraceContext, WaitingStore } from 'domain-registration'
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

// A series that first appears with a failure has no increase, so no alert would see that failure: each begins with 0.
for (const status of ['created', 'existing', 'invalid', 'internal_error']) names.inc({ step: 'register', status }, 0)
for (const step of ['register', 'delete', 'authenticate', 'push', 'sweep']) {
  for (const outcome of ['done', 'saved', 'rejected', 'failed']) durations.zero({ step, outcome })
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

const gauge = (name: string, help: string) => new Gauge({ name: `domain_registration_${name}`, help })

/**
 * Call this once. Asks the store every ten seconds, and never waits for it: a scrape that did would take as long as the
 * store's time limit just when the alerts must fire. The gauges are NaN while the store does not respond,
 * except the length of its queue.
 */
export function watchStore(store: ManagedStore & { queueLength?(): number }): void {
  const pending = gauge('pending', 'Changes that have not reached the monitor yet')
  const refused = gauge('pending_refused', 'Pending changes that the monitor has refused')
  const oldest = gauge('pending_oldest_seconds', 'Age of the oldest pending change; 0 if none is pending')
  const roundTrip = gauge('round_trip_seconds', 'Median duration of five queries to the store')
  const queue = gauge('queue_names', 'Names of calls that wait for PostgreSQL, or are in a transaction')

  function show(answer?: Awaited<ReturnType<typeof askStore>>): void {
    roundTrip.set(answer?.roundTrip ?? Number.NaN)
    pending.set(answer?.count ?? Number.NaN)
    refused.set(answer?.refused ?? Number.NaN)
    oldest.set(answer?.age ?? Number.NaN)
    queue.set(store.queueLength?.() ?? 0)
  }
  async function ask(): Promise<void> {
    const late = setTimeout(show, 1000)
    show(await askStore(store).catch(() => undefined))
    clearTimeout(late)
  }
  show()
  ask()
  setInterval(ask, 10_000).unref()
}

/** Call this once if you have a store of names that wait. */
export function watchWaiting(waiting: WaitingStore): void {
  const names = gauge('waiting', 'Names that wait to be registered')
  const overdue = gauge('waiting_overdue_seconds', 'For how long one of them has been due; 0 if none is due')
  async function ask(): Promise<void> {
    const stats = await Promise.resolve(waiting.stats()).catch(() => undefined)
    names.set(stats?.count ?? Number.NaN)
    overdue.set(stats ? stats.overdue / 1000 : Number.NaN)
  }
  ask()
  setInterval(ask, 10_000).unref()
}

/** In seconds. */
async function askStore(store: ManagedStore) {
  const times: number[] = []
  for (let index = 0; index < 5; index += 1) {
    const begun = performance.now()
    await store.find({ teamId: '', domains: ['example.com'], bases: [] })
    times.push(performance.now() - begun)
  }
  const roundTrip = (times.sort((one, other) => one - other)[2] as number) / 1000
  const { count, refused, oldest } = await store.pendingStats()
  return { roundTrip, count, refused, age: oldest ? (Date.now() - oldest.getTime()) / 1000 : 0 }
}
