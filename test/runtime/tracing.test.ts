import { execFile } from 'node:child_process'
import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parser as promql } from '@prometheus-io/lezer-promql'
import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { authenticate, createMemoryWaitingStore, deleteDomains, hashApiKey, registerDomains } from '../../src/index.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import type { TraceContext } from '../../src/runtime/tracing.ts'
import type { RegistrationRequest } from '../../src/store/contract.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { waitFor } from '../wait-for.ts'

type Told = TraceContext & { readonly step: string }

const steps = ['register', 'delete', 'authenticate', 'push', 'sweep']
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Collects the context of each step when the step ends. */
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

describe('a subscriber gets', () => {
  test('the team, counts and duration of a call, and the counts of a push and a sweep', async () => {
    const told = listen()
    const store = createStore({ synchronize: async () => {} })
    await registerDomains(keyContext, { domains }, store)
    await deleteDomains(keyContext, { domains: ['www.example.com', 'a.example.net'] }, store)
    await store.synchronizePending()
    const done = { duration: expect.any(Number), outcome: 'done' }
    expect(told).toEqual([
      { step: 'push', count: 2, ...done },
      {
        step: 'register',
        teamId: '1',
        count: 3,
        totals: { created: 2, existing: 0, invalid: 1, internal_error: 0 },
        ...done,
      },
      { step: 'delete', teamId: '1', count: 2, totals: { deleted: 1, missing: 1, invalid: 0 }, ...done },
      { step: 'push', count: 1, ...done },
      { step: 'sweep', count: 1, totals: { synchronized: 1, failed: 0 }, ...done },
    ])
  })

  test('the error of a step that fails', async () => {
    const told = listen()
    await expect(registerDomains(keyContext, { domains: [] }, createStore())).rejects.toThrow()
    expect(told).toMatchObject([
      { step: 'register', error: { code: 'invalid_request' }, outcome: 'rejected', duration: expect.any(Number) },
    ])
  })

  test('the count of names that could not be saved, even if the call succeeds', async () => {
    const store = createStore()
    await registerDomains(keyContext, { domains: ['held.example.com'] }, store)
    const told = listen()
    const full = {
      ...store,
      register: (request: RegistrationRequest) =>
        request.registrableDomains.includes('example.org')
          ? Promise.reject(new Error('disk full'))
          : store.register(request),
    }
    const { data } = await registerDomains(keyContext, { domains: ['held.example.com', 'new.example.org'] }, full)
    expect(data.totals).toEqual({ created: 0, existing: 1, invalid: 1 })
    await registerDomains(keyContext, { domains: ['new.example.net', 'new.example.org'] }, full)
    expect(told).toMatchObject([
      { totals: { existing: 1, invalid: 0, internal_error: 1 }, outcome: 'failed', error: { message: 'disk full' } },
      { totals: { created: 1, invalid: 0, internal_error: 1 }, outcome: 'done' },
    ])
  })

  test('the counts of a call whose names were saved but not pushed', async () => {
    const told = listen()
    const store = createStore({ synchronize: () => Promise.reject(new Error('away')) })
    await expect(registerDomains(keyContext, { domains }, store)).rejects.toThrow()
    expect(told).toMatchObject([
      { step: 'push', outcome: 'failed' },
      { step: 'push', outcome: 'failed' },
      { step: 'push', outcome: 'failed' },
      { step: 'register', outcome: 'saved', totals: { created: 2 } },
    ])
  })

  test('the team of a key, but never a key, hash or hostname', async () => {
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
    await authenticate(`Bearer ${await issue('organization', '10')}`, keys)
    expect(told.at(-1)).toEqual({ step: 'authenticate', duration: expect.any(Number), outcome: 'done' })
    const text = JSON.stringify(told)
    for (const secret of [key, await hashApiKey(key), ...domains, 'example']) expect(text).not.toContain(secret)
  })
})

test('a call returns the same result with and without a subscriber', async () => {
  const call = () => registerDomains(keyContext, { domains: ['localhost'] }, createStore())
  const without = await call()
  listen()
  expect(await call()).toEqual(without)
})

/** A store of one name that has been due for two hours. */
function keepOneOverdue() {
  const waiting = createMemoryWaitingStore()
  const refusal = { code: 'invalid_domain', reason: 'not_verified', message: 'Add a record.' } as const
  const late = { wait: -7_200_000, keepFor: 1000, most: 1 }
  waiting.keep('1', [{ domain: 'a.com', registrableDomain: 'a.com', refusal }], late)
  return waiting
}

/** A store whose database does not respond, and whose own time limits are too long to help. */
async function createStoreWithout(state: string) {
  const sockets = new Set<Socket>()
  const database = createServer(socket => void sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(database, 'listening')
  const { port } = database.address() as AddressInfo
  const close = () => {
    for (const socket of sockets) socket.destroy()
    database.close()
  }
  if (state === 'that is stopped') close()
  else onTestFinished(close)
  const pool = new Pool({ host: '127.0.0.1', port, connectionTimeoutMillis: 600_000 })
  pool.on('error', () => {})
  return createPostgresStore({ database: pool, findTeam: () => null, timeLimit: 600_000 })
}

describe('the recipes for tracing and metrics', () => {
  // The recipes ask the store until their process ends, but other test files run in this process.
  beforeEach(() => {
    const started = vi.spyOn(globalThis, 'setInterval')
    return () => {
      for (const { value } of started.mock.results) clearInterval(value)
      started.mockRestore()
    }
  })

  test('examples/opentelemetry.ts creates nested spans, and counts names', async () => {
    const { context, metrics, ROOT_CONTEXT, trace } = await import('@opentelemetry/api')
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
    const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks')
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    const { watchStore, watchWaiting } = await import('../../examples/opentelemetry.ts')

    // As an instrumented driver or client does it.
    const startSpan = (name: string) => trace.getTracer('server').startSpan(name)
    const memory = createStore({ synchronize: async () => startSpan('POST /changes').end() })
    const store = {
      ...memory,
      async register(request: RegistrationRequest) {
        await new Promise(setImmediate)
        startSpan('SELECT').end()
        return memory.register(request)
      },
    }
    watchStore(store)
    watchWaiting(keepOneOverdue())
    const request = startSpan('POST /v1/domains')
    await context.with(trace.setSpan(ROOT_CONTEXT, request), async () => {
      await registerDomains(keyContext, { domains }, store)
      startSpan('response').end()
    })
    request.end()
    const spans = exporter.getFinishedSpans()
    const nameOf = (id?: string) => spans.find(span => span.spanContext().spanId === id)?.name
    const told = spans.map(span => [span.name, nameOf(span.parentSpanContext?.spanId), span.attributes])
    const ofCall = { 'domain_registration.team': '1', 'domain_registration.count': 3 }
    expect(told).toEqual([
      ['SELECT', 'domain-registration register', {}],
      ['POST /changes', 'domain-registration push', {}],
      ['domain-registration push', 'domain-registration register', { 'domain_registration.count': 2 }],
      ['domain-registration register', 'POST /v1/domains', ofCall],
      ['response', 'POST /v1/domains', {}],
      ['POST /v1/domains', undefined, {}],
    ])
    exporter.reset()
    await registerDomains(keyContext, { domains: [] }, store).catch(() => {})
    expect(exporter.getFinishedSpans().map(({ name, attributes, status }) => [name, attributes, status.code])).toEqual([
      ['domain-registration register', {}, 0],
    ])
    const { resourceMetrics } = await reader.collect()
    const points = resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes }) => [descriptor.name, attributes.step, attributes.status ?? attributes.outcome]),
      ),
    )
    expect(points).toContainEqual(['domain_registration.names', 'register', 'created'])
    // Nothing has failed, but an alert needs the 0.
    expect(points).toContainEqual(['domain_registration.names', 'register', 'internal_error'])
    expect(points).toContainEqual(['domain_registration.steps', 'register', 'failed'])
    expect(points).toContainEqual(['domain_registration.step.duration', 'register', 'rejected'])
    const waiting = ['waiting', 'waiting.overdue']
    for (const gauge of ['pending', 'pending.refused', 'pending.oldest', 'round_trip', 'queue.names', ...waiting])
      expect(points).toContainEqual([`domain_registration.${gauge}`, undefined, undefined])
    // Nothing waits for a store that does not respond.
    watchStore(await createStoreWithout('that accepts and never answers'))
    expect((await reader.collect()).errors).toEqual([])
    await reader.shutdown()
  })

  test('examples/prometheus.ts counts names and measures steps', async () => {
    const { register } = await import('prom-client')
    const { watchStore, watchWaiting } = await import('../../examples/prometheus.ts')
    const store = createStore({ synchronize: async () => {} })
    await registerDomains(keyContext, { domains }, store)
    watchStore(store)
    watchWaiting(keepOneOverdue())
    await waitFor(async () => expect(await register.metrics()).toContain('domain_registration_waiting 1\n'))
    const text = await register.metrics()
    expect(text).toMatch(/domain_registration_waiting_overdue_seconds 72\d\d\.?\d*\n/)
    for (const gauge of ['pending', 'pending_refused', 'pending_oldest_seconds', 'queue_names'])
      expect(text).toContain(`domain_registration_${gauge} 0\n`)
    expect(text).toMatch(/domain_registration_round_trip_seconds [0-9.e-]+\n/)
    expect(text).toContain('domain_registration_names_total{step="register",status="created"} 2\n')
    expect(text).toMatch(/domain_registration_step_seconds_count\{step="register",outcome="done"\} 1\n/)
  })

  test.each(['that accepts and never answers', 'that is stopped'])(
    'with a database %s, examples/prometheus.ts serves counters at once, and the gauges of the store are NaN',
    async state => {
      const { register } = await import('prom-client')
      const { watchStore } = await import('../../examples/prometheus.ts')
      for (const gauge of ['pending', 'pending_refused', 'pending_oldest_seconds', 'round_trip_seconds', 'queue_names'])
        register.removeSingleMetric(`domain_registration_${gauge}`)
      watchStore(Object.assign(await createStoreWithout(state), { queueLength: () => 7 }))
      const text = await register.metrics()
      expect(text).toContain('domain_registration_names_total{')
      expect(text).toContain('domain_registration_round_trip_seconds Nan')
      expect(text).toContain('domain_registration_pending Nan')
      expect(text).toContain('domain_registration_queue_names 7')
    },
  )

  test('examples/alerts.yml is valid PromQL, and uses only metrics and labels of examples/prometheus.ts', async () => {
    const { register } = await import('prom-client')
    await import('../../examples/prometheus.ts')
    await registerDomains(keyContext, { domains }, createStore())
    const text = await register.metrics()
    const rules = readFileSync(new URL('../../examples/alerts.yml', import.meta.url), 'utf8')
    const shape = /^ {6}- alert: \w+\n {8}expr: (.+)\n {8}for: \d+m\n {8}annotations:\n {10}summary: [^:]+\.\n/gm
    const expressions = [...rules.matchAll(shape)].map(([, expression = '']) => expression)
    expect(expressions.length).toBe(rules.match(/- alert:/g)?.length)
    const outcomes = ['done', 'saved', 'rejected', 'failed']
    for (const expression of expressions) {
      const read = readPromql(expression)
      expect([expression, read.errors]).toEqual([expression, []])
      expect(read.metrics).not.toEqual([])
      for (const metric of read.metrics) expect(text).toMatch(new RegExp(`^${metric}[ {]`, 'm'))
      for (const matcher of read.matchers) {
        const [label, value] = matcher.split('=')
        if (label === 'outcome') expect(outcomes.map(outcome => `"${outcome}"`)).toContain(value)
        else expect(text).toContain(matcher)
      }
    }
    expect(readPromql('sum(rate(domain_registration_pending[5m]) > 0').errors).not.toEqual([])
  })
})

const PROMTOOL = '/usr/bin/promtool'
const hasPromtool = existsSync(PROMTOOL)

/** A test of examples/alerts.yml with Prometheus' own tool: `tests` as in its documentation. */
const testAlerts = (name: string, makeTests: () => object[] | Promise<object[]>) =>
  test.skipIf(!hasPromtool)(
    hasPromtool ? name : `${name}: skipped, because promtool is not installed (Debian: apt-get install prometheus)`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'alerts-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const alerts = fileURLToPath(new URL('../../examples/alerts.yml', import.meta.url))
      // JSON is YAML.
      const file = join(folder, 'alerts.json')
      const tests = await makeTests()
      await writeFile(file, JSON.stringify({ rule_files: [alerts], evaluation_interval: '15s', tests }))
      const { stdout } = await promisify(execFile)(PROMTOOL, ['test', 'rules', file])
      expect(stdout).toContain('SUCCESS')
    },
  )

testAlerts('Prometheus reports each server that cannot reach its database, even if all cannot', () => {
  const silent = (instance: string) => ({
    exp_labels: { instance },
    exp_annotations: { summary: 'A server cannot reach its database.' },
  })
  const series = (instance: string, value: string) => ({
    series: `domain_registration_round_trip_seconds{instance="${instance}"}`,
    values: Array(12).fill(value).join(' '),
  })
  const suite = (values: [string, string], expected: object[]) => ({
    interval: '15s',
    input_series: [series('a', values[0]), series('b', values[1])],
    alert_rule_test: [{ eval_time: '2m', alertname: 'DomainRegistrationStoreSilent', exp_alerts: expected }],
  })
  return [
    suite(['NaN', 'NaN'], [silent('a'), silent('b')]),
    suite(['NaN', '0.001'], [silent('a')]),
    suite(['0.001', '0.001'], []),
  ]
})

testAlerts('Prometheus reports the first failures of a server, even if all come between two scrapes', async () => {
  const { register } = await import('prom-client')
  register.clear()
  vi.resetModules()
  await import('../../examples/prometheus.ts')
  const scrape = async () =>
    new Map([...(await register.metrics()).matchAll(/^(\w+\{.*\}) (\S+)$/gm)].map(([, name, value]) => [name, value]))
  const before = await scrape()
  const failing = { ...createStore(), register: () => Promise.reject(new Error('disk full')) }
  await expect(registerDomains(keyContext, { domains }, failing)).rejects.toThrow()
  const saving = {
    ...createStore(),
    register: (request: RegistrationRequest) =>
      request.registrableDomains.includes('example.org')
        ? Promise.reject(new Error('disk full'))
        : createStore().register(request),
  }
  await registerDomains(keyContext, { domains: ['new.example.net', 'new.example.org'] }, saving)
  const after = await scrape()
  const alert = (alertname: string, summary: string) => ({
    eval_time: '5m',
    alertname,
    exp_alerts: [{ exp_annotations: { summary } }],
  })
  return [
    {
      interval: '15s',
      // Absent (`_`) before its first failure is what a series without its 0 is.
      input_series: [...after].map(([series, value]) => ({
        series,
        values: `${before.get(series) ?? '_'}x8 ${value}x20`,
      })),
      alert_rule_test: [
        alert('DomainRegistrationFails', 'Calls fail, and their names are not saved.'),
        alert('DomainRegistrationLosesNames', 'Some names in calls cannot be saved.'),
      ],
    },
  ]
})

/** The parts of an expression, parsed with the grammar of Prometheus. */
function readPromql(expression: string) {
  const found: { node: string; text: string; isError: boolean }[] = []
  promql.parse(expression).iterate({
    enter: ({ name, from, to, type }) =>
      void found.push({ node: name, text: expression.slice(from, to), isError: type.isError }),
  })
  const textsOf = (sought: string) => found.filter(({ node }) => node === sought).map(({ text }) => text)
  return {
    errors: found.filter(({ isError }) => isError),
    metrics: textsOf('VectorSelector').map(text => text.replace(/\{.*/, '')),
    matchers: textsOf('UnquotedLabelMatcher'),
  }
}
