import { pathToFileURL } from 'node:url'
import autocannon, { type Client, type Request, type Result } from 'autocannon'
import { apiKey, headers, namesOfCall, path, toBody } from './http-calls.ts'
import { startServerProcess, type Usage } from './server-process.ts'

/**
 * A minute of full load on Express with the memory store: every kind of call in turn, on each of many connections, and
 * each with the one answer that is documented for it. Memory is read when the store holds as many names as it ever
 * will: each connection registers new names for ever, and releases those of its last lap but some. Run it with
 * `node --import tsx bench/soak.ts`.
 */
export interface Soak {
  readonly result: Result
  /** Answers by kind of call, and how many of them were not the documented one. */
  readonly calls: ReadonlyMap<string, { answered: number; wrong: number }>
  readonly start: Usage
  readonly end: Usage
}

const WARM_UP_SECONDS = 15
const SECONDS = 60
const CONNECTIONS = 32
/** Calls whose names a connection leaves registered: 96,000 names on all connections together. */
const CALLS_HELD = 30

interface Call {
  readonly kind: string
  readonly method?: 'POST' | 'DELETE'
  readonly headers?: Record<string, string>
  body(lap: Lap): Buffer
  readonly status: number
  /** What the body ends with. */
  readonly end: string
}

/** The names that a connection registers this time, and those that it releases. */
interface Lap {
  readonly names: readonly string[]
  readonly released: readonly string[]
}

const totals = (status: 'created' | 'existing' | 'invalid') =>
  `"totals":${JSON.stringify({ created: 0, existing: 0, invalid: 0, [status]: 100 })}}}`

const mistakes = [
  'localhost',
  '10.0.0.1',
  'co.uk',
  'https://www.example.com/',
  'my_host.example.com',
  '[::1]',
  'a b',
  ' ',
]
const invalid = toBody(Array.from({ length: 100 }, (_, index) => mistakes[index % mistakes.length] as string))
const wrongKey = { ...headers, Authorization: `Bearer ${apiKey.slice(0, -1)}6` }

const lapOfCalls: readonly Call[] = [
  { kind: 'new names', body: ({ names }) => toBody(names), status: 200, end: totals('created') },
  { kind: 'existing names', body: ({ names }) => toBody(names), status: 200, end: totals('existing') },
  { kind: 'invalid names', body: () => invalid, status: 200, end: totals('invalid') },
  { kind: 'names released', method: 'DELETE', body: ({ released }) => toBody(released), status: 204, end: '' },
  {
    kind: 'wrong key',
    headers: wrongKey,
    body: ({ names }) => toBody(names),
    status: 401,
    end: 'with an active organization or team key."}',
  },
  {
    kind: 'malformed body',
    body: ({ names }) => toBody(names).subarray(0, -2),
    status: 400,
    end: String.raw`is not valid JSON; send {\"domains\": [\"www.example.com\"]}."}`,
  },
  {
    kind: 'not JSON',
    headers: { ...headers, 'Content-Type': 'text/plain' },
    body: ({ names }) => toBody(names),
    status: 415,
    end: String.raw`send \"Content-Type: application/json\"."}`,
  },
]

export async function soak(): Promise<Soak> {
  const server = await startServerProcess('Express 5, ours, and names released')
  try {
    const load = createLoad()
    await load.run(server.url, WARM_UP_SECONDS)
    load.calls.clear()
    const start = await server.settledUsage()
    const result = await load.run(server.url, SECONDS)
    return { result, calls: load.calls, start, end: await server.settledUsage() }
  } finally {
    server.end()
  }
}

function createLoad() {
  const calls = new Map<string, { answered: number; wrong: number }>()
  let clients = 0
  let laps = 0

  /** What a connection registered before the load was stopped stays, to be released by the next with its number. */
  const held = Array.from({ length: CONNECTIONS }, () => [] as (readonly string[])[])

  function setUp(client: Client): void {
    const own = held[clients++ % CONNECTIONS] as (readonly string[])[]
    let lap: Lap
    const requests = lapOfCalls.map(
      ({ kind, method = 'POST', body, status, end, ...call }, index): Request => ({
        method,
        headers: call.headers ?? headers,
        setupRequest(request) {
          if (index === 0) {
            own.push(namesOfCall(laps++))
            lap = {
              names: own.at(-1) ?? [],
              released: own.length > CALLS_HELD ? (own.shift() ?? []) : [],
            }
          }
          return { ...request, body: body(lap) }
        },
        onResponse(actual, answer) {
          const count = calls.get(kind) ?? { answered: 0, wrong: 0 }
          count.answered += 1
          if (actual !== status || !answer.endsWith(end)) count.wrong += 1
          calls.set(kind, count)
        },
      }),
    )
    client.setRequests(requests)
  }

  const run = (url: string, duration: number): Promise<Result> =>
    // One process and no wait between calls: as much as the server takes.
    Promise.resolve(autocannon({ url: url + path, connections: CONNECTIONS, duration, setupClient: setUp }))
  return { calls, run }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { result, calls, start, end } = await soak()
  const sum = (count: (call: { answered: number; wrong: number }) => number) =>
    [...calls.values()].reduce((total, call) => total + count(call), 0)
  const [answered, wrong] = [sum(call => call.answered), sum(call => call.wrong)]
  console.log(`Express 5 under full load for ${result.duration} s, ${CONNECTIONS} connections`)
  for (const [kind, call] of calls)
    console.log(`  ${kind.padEnd(16)} ${String(call.answered).padStart(8)} answers, ${call.wrong} wrong`)
  console.log(`  calls            ${answered}, ${(answered / result.duration).toFixed(0)} a second`)
  console.log(`  errors           ${wrong} wrong answers, ${result.errors} cut or without an answer`)
  console.log(
    `  latency          p50 ${result.latency.p50} ms, p99 ${result.latency.p99} ms, longest ${result.latency.max} ms`,
  )
  const mebibytes = ({ rss, heap }: Usage) =>
    `RSS ${(rss / 2 ** 20).toFixed(0)} MiB, heap ${(heap / 2 ** 20).toFixed(1)} MiB`
  console.log(`  memory           at start ${mebibytes(start)}; at the end ${mebibytes(end)}`)
  if (answered === 0 || wrong + result.errors > 0) process.exitCode = 1
}
