import { tracingChannel } from 'node:diagnostics_channel'
import { afterEach, describe, expect, test } from 'vitest'
import { authenticate, deleteDomains, hashApiKey, registerDomains } from '../../src/index.ts'
import type { TraceContext } from '../../src/runtime/tracing.ts'
import { createKeys, createStore } from '../fixtures.ts'

type Told = TraceContext & { readonly step: string }

const steps = ['register', 'delete', 'authenticate', 'push', 'sweep']
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Collects the contexts of all steps, as they are at their end. */
function listen(): Told[] {
  const told: Told[] = []
  for (const step of steps) {
    const channel = tracingChannel<string, TraceContext>(`domain-registration:${step}`)
    const nothing = () => {}
    const asyncEnd = (context: TraceContext) => void told.push({ step, ...context })
    const subscribers = { start: nothing, end: nothing, asyncStart: nothing, error: nothing, asyncEnd }
    channel.subscribe(subscribers)
    stops.push(() => channel.unsubscribe(subscribers))
  }
  return told
}

const keyContext = { type: 'team', teamId: '1', scopes: ['domains:create', 'domains:delete'] } as const
const domains = ['www.example.com', 'shop.example.org', 'localhost']

describe('a subscriber learns', () => {
  test('of a call the team, counts and duration; of a push and a sweep what was pushed', async () => {
    const told = listen()
    const store = createStore({ synchronize: async () => {} })
    await registerDomains(keyContext, { domains }, store)
    await deleteDomains(keyContext, { domains: ['www.example.com', 'a.example.net'] }, store)
    await store.synchronizePending()
    const duration = expect.any(Number)
    expect(told).toEqual([
      { step: 'push', count: 2, duration },
      { step: 'register', teamId: '1', count: 3, totals: { created: 2, existing: 0, invalid: 1 }, duration },
      { step: 'delete', teamId: '1', count: 2, totals: { deleted: 1, missing: 1, invalid: 0 }, duration },
      { step: 'push', count: 1, duration },
      { step: 'sweep', count: 1, totals: { synchronized: 1, failed: 0 }, duration },
    ])
  })

  test('why a step failed', async () => {
    const told = listen()
    await expect(registerDomains(keyContext, { domains: [] }, createStore())).rejects.toThrow()
    expect(told).toMatchObject([{ step: 'register', error: { code: 'invalid_request' }, duration: expect.any(Number) }])
  })

  test('of a key whose team it is, and no step tells a key, a hash or a hostname', async () => {
    const told = listen()
    const { keys, issue } = createKeys()
    const key = await issue('team', '1', { label: 'deploy' })
    const caller = await authenticate(`Bearer ${key}`, keys)
    const store = createStore({ synchronize: async () => {} })
    await registerDomains(caller, { domains }, store)
    expect(told.map(({ step, teamId }) => [step, teamId])).toEqual([
      ['authenticate', '1'],
      ['push', undefined],
      ['register', '1'],
    ])
    expect(told[0]).toMatchObject({ keyLabel: 'deploy' })
    const text = JSON.stringify(told)
    for (const secret of [key, await hashApiKey(key), ...domains, 'example']) expect(text).not.toContain(secret)
  })
})

test('a step has the same result with a subscriber and without', async () => {
  const call = () => registerDomains(keyContext, { domains: ['localhost'] }, createStore())
  const without = await call()
  listen()
  expect(await call()).toEqual(without)
})

describe('a recipe', () => {
  test('examples/opentelemetry.ts makes a span of each step, and counts names', async () => {
    const { metrics, trace } = await import('@opentelemetry/api')
    const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await import(
      '@opentelemetry/sdk-trace-base'
    )
    const sdk = await import('@opentelemetry/sdk-metrics')
    const exporter = new InMemorySpanExporter()
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
    const reader = new sdk.PeriodicExportingMetricReader({
      exporter: new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE),
    })
    metrics.setGlobalMeterProvider(new sdk.MeterProvider({ readers: [reader] }))
    await import('../../examples/opentelemetry.ts')

    const store = createStore({ synchronize: async () => {} })
    await registerDomains(keyContext, { domains }, store)
    await registerDomains(keyContext, { domains: [] }, store).catch(() => {})
    expect(exporter.getFinishedSpans().map(({ name, attributes, status }) => [name, attributes, status.code])).toEqual([
      ['domain-registration push', { 'domain_registration.count': 2 }, 0],
      ['domain-registration register', { 'domain_registration.team': '1', 'domain_registration.count': 3 }, 0],
      ['domain-registration register', {}, 2],
    ])
    const { resourceMetrics } = await reader.collect()
    const points = resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes }) => [descriptor.name, attributes.step, attributes.status ?? attributes.outcome]),
      ),
    )
    expect(points).toContainEqual(['domain_registration.names', 'register', 'created'])
    expect(points).toContainEqual(['domain_registration.step.duration', 'register', 'failed'])
    await reader.shutdown()
  })

  test('examples/prometheus.ts counts names and measures steps', async () => {
    const { register } = await import('prom-client')
    await import('../../examples/prometheus.ts')
    await registerDomains(keyContext, { domains }, createStore())
    const text = await register.metrics()
    expect(text).toContain('domain_registration_names_total{step="register",status="created"} 2\n')
    expect(text).toMatch(/domain_registration_step_seconds_count\{step="register",outcome="done"\} 1\n/)
  })
})
