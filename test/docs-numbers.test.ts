import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(path, 'utf8').replaceAll(/\s+/g, ' ')

/** The limits that pages name: words of the page, the file that sets the limit, and its words there. */
const limits: Readonly<Record<string, readonly (readonly [words: string, file: string, source: string])[]>> = {
  'AGENTS.md': [['in place of 256 KiB', 'src/http/options.ts', 'DEFAULT_BODY_LIMIT = 256 * 1024']],
  'SECURITY.md': [
    ['The webhook reads at most 16 KiB', 'src/webhook/create-webhook.ts', 'BODY_LIMIT = 16 * 1024'],
    ['the client at most 4 MiB', 'src/client/call.ts', 'BODY_LIMIT = 4 '],
    ['An export stops about five seconds', 'src/http/export.ts', 'CALLER_IS_CURRENT_FOR = 5000'],
  ],
  'docs/calls.md': [
    ['within 10 seconds by default', 'src/outbox/start-synchronizing.ts', 'DEFAULT_INTERVAL = 10_000'],
    ['on a page, 1 to 1,000', 'src/store/contract.ts', 'MOST_AT_ONCE = 1000'],
    ['at most 1,000, sorted by `domain`', 'src/operations/keep-waiting.ts', 'MOST_WAITING = 1000'],
    ['`pageTimeLimit` (30 seconds by default)', 'src/http/options.ts', 'DEFAULT_PAGE_TIME_LIMIT = 30_000'],
  ],
  'docs/check-names.md': [
    ['kept: for 14 days', 'src/operations/keep-waiting.ts', 'KEPT_FOR = 14 * 24 * 60 * MINUTE'],
    [
      'after 1, 2, 5, 10, 30 and 60 minutes, then after 2 hours, then every 4 hours',
      'src/operations/keep-waiting.ts',
      'waits = [1, 2, 5, 10, 30, 60, 120, 240]',
    ],
    ['A team has at most 1,000 such names', 'src/operations/keep-waiting.ts', 'MOST_WAITING = 1000'],
    ['retried for an hour', 'src/operations/keep-waiting.ts', 'MOST_OVERDUE = 60 * MINUTE'],
    ['nothing within 3 seconds', 'src/dns-verification/create-dns-verification.ts', 'QUERY_TIME_LIMIT = 3000'],
    ['A query has 3 seconds', 'src/dns-verification/create-dns-verification.ts', 'QUERY_TIME_LIMIT = 3000'],
    ['a call 10 (`timeLimit`)', 'src/dns-verification/create-dns-verification.ts', 'DEFAULT_TIME_LIMIT = 10_000'],
    ['remembered for 10 seconds', 'src/dns-verification/ask.ts', 'ABSENCE_TIME = 10_000'],
    ['is silent for 30.', 'src/dns-verification/ask.ts', 'SILENCE_TIME = 30_000'],
    ['after 30 days and seven looks', 'examples/recheck-dns.ts', 'RELEASE = 7 const GRACE = 30 * 24 * 3600 * 1000'],
    [
      'more than ten records, and more than a quarter',
      'examples/recheck-dns.ts',
      'vanished > 10 && vanished > fine / 4',
    ],
  ],
  'docs/citus.md': [['the 1,000 changes of a line', 'src/postgres/outbox.ts', 'engine.isDistributed ? MOST_AT_ONCE']],
  'docs/cli.md': [['for up to an hour', 'src/outbox/contract.ts', 'LONGEST_WAIT = 3_600_000']],
  'docs/client.md': [
    ['The wait grows up to 30 s', 'src/client/call.ts', 'LONGEST_BACKOFF = 30_000'],
    ['respected up to an hour', 'src/outgoing/send-request.ts', 'LONGEST_RETRY_AFTER = 3_600_000'],
    ['made up to a tenth longer', 'src/client/call.ts', 'retryAfter / 10'],
    ['larger than 4 MiB', 'src/client/call.ts', 'BODY_LIMIT = 4 '],
  ],
  'docs/custom-domains.md': [
    [
      'owners for 60 seconds and absences for 10',
      'src/operations/owner-lookup.ts',
      'ownerTime = 60_000, absenceTime = 10_000',
    ],
    ['beyond 10,000, a host', 'src/operations/owner-lookup.ts', 'MOST_WAITING = 10_000'],
    ['waits for a quarter of a second', 'src/operations/owner-lookup.ts', 'PATIENCE = 250'],
  ],
  'docs/customers-page.md': [
    ['retried for half a minute', 'src/element/lists/work.ts', 'PATIENCE = 30_000'],
    ['every 20 seconds for ten minutes', 'src/element/element.ts', 'BETWEEN_LOOKS = 20_000'],
    ['for ten minutes', 'src/element/element.ts', 'MOST_QUICK_LOOKS = 30'],
    ['Outside the document for 3 seconds', 'src/element/element.ts', 'LONGEST_MOVE = 3000'],
  ],
  'docs/errors.md': [
    ['`bodyLimit`, 256 KiB by default', 'src/http/options.ts', 'DEFAULT_BODY_LIMIT = 256 * 1024'],
    ['`bodyTimeLimit`, 10 seconds by default', 'src/http/options.ts', 'DEFAULT_BODY_TIME_LIMIT = 10_000'],
  ],
  'docs/metrics.md': [['asks every ten seconds', 'examples/production/prometheus.ts', 'setInterval(ask, 10_000)']],
  'docs/monitoring.md': [
    ['beyond 10,000 of a team', 'src/time/team-lines.ts', 'MOST_OF_TEAM = 10_000'],
    ['*backoff*: 5 s, 10 s, 20 s … up to an hour', 'src/outbox/policy.ts', 'firstWait(timeLimit) * 2 ** refusals'],
    ['at least that long, at most an hour', 'src/outbox/contract.ts', 'LONGEST_WAIT = 3_600_000'],
    ['push (30 s by default)', 'src/outbox/policy.ts', 'DEFAULT_PUSH_TIME_LIMIT = 30_000'],
    [
      'together take twice this limit',
      'src/outbox/synchronizer.ts',
      'pushingTime = (timeLimit: number) => 2 * timeLimit',
    ],
    [
      'a lease lasts three times the limit',
      'src/outbox/synchronizer.ts',
      'leaseFor = (timeLimit: number) => 3 * timeLimit',
    ],
    ['after a sixth of the limit', 'src/outbox/policy.ts', 'timeLimit / 6'],
    ['`timeLimit` (10 s by default)', 'src/outbox/start-synchronizing.ts', 'DEFAULT_STOP_TIME_LIMIT = 10_000'],
    ['at most eight pushes', 'src/outbox/policy.ts', 'MOST_FAILURES_IN_A_ROW = 8'],
    ['the following ones three', 'src/outbox/policy.ts', 'FEW_FAILURES_IN_A_ROW = 3'],
    ['taken by three sweeps or more', 'src/outbox/contract.ts', 'MOST_SWEEPS_AS_NEW = 3'],
    ['each sweep, up to a minute', 'src/outbox/start-synchronizing.ts', 'LONGEST_PAUSE = 60_000'],
    ['One second before that limit', 'src/outbox/start-synchronizing.ts', 'ABORTED_WITHIN = 1000'],
  ],
  'docs/orm.md': [['The bridge sets ten seconds', 'examples/bridge-prisma.ts', 'timeout: 10_000']],
  'docs/own-store.md': [['after 10 seconds', 'examples/mariadb-transact.ts', 'timeLimit = 10_000']],
  'docs/postgres.md': [
    ['If 10,000 names of a team wait', 'src/postgres/queue.ts', 'MOST_NAMES = 10_000'],
    ['runs six transactions at once, at most three of them for small', 'src/postgres/queue.ts', 'six: 6, small: 3,'],
    ['three such transactions wait at once', 'src/postgres/queue.ts', 'beside: 3,'],
    ['at most ten of a team', 'src/postgres/queue.ts', 'MOST_OF_TEAM = 10'],
    [
      '`timeLimit` (10 seconds by default)',
      'src/postgres/drivers/driver-options.ts',
      'DEFAULT_TRANSACTION_TIME_LIMIT = 10_000',
    ],
  ],
  'docs/production.md': [['(after 90 seconds by default)', 'src/outbox/policy.ts', 'DEFAULT_PUSH_TIME_LIMIT = 30_000']],
  'docs/serverless.md': [
    ['for at most half a minute', 'examples/sweep-by-cron.ts', 'AbortSignal.timeout(30_000)'],
    ['for up to 90 seconds', 'src/outbox/policy.ts', 'DEFAULT_PUSH_TIME_LIMIT = 30_000'],
  ],
  'docs/sqlite.md': [
    ['`timeLimit` (5 seconds by default)', 'src/sqlite/connection.ts', 'DEFAULT_LOCK_TIME_LIMIT = 5000'],
    ['If 10,000 calls of a team wait', 'src/time/team-lines.ts', 'MOST_OF_TEAM = 10_000'],
  ],
  'docs/stores.md': [['handle at most 1,000 registrations', 'src/store/contract.ts', 'MOST_AT_ONCE = 1000']],
  'docs/webhook.md': [
    ['more than five minutes (`tolerance`)', 'src/webhook/verify-webhook.ts', 'DEFAULT_TOLERANCE = 300_000'],
    ['`timeLimit` (15 s by default)', 'src/webhook/create-webhook.ts', 'RESPONSE_TIME_LIMIT = 15_000'],
  ],
  'docs/your-server.md': [
    ["twice the adapter's `timeLimit`", 'src/http/options.ts', 'DEFAULT_BODY_TIME_LIMIT = 10_000'],
    ['by default after 70 s', 'src/operations/call.ts', 'Default 30,000'],
  ],
  'examples/production/README.md': [
    ['within `DRAIN` and 12 seconds', 'examples/production/server.ts', 'server.closeAllConnections(), 8000)'],
    ['`DRAIN` and 12 seconds', 'examples/production/server.ts', 'timeLimit: 3000 })'],
    ['and 12 seconds', 'examples/production/server.ts', 'sleep(1000)'],
  ],
}

/** Numbers that are no limit of this package, with the reason. */
const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'AGENTS.md': { 'by default 100 kB': 'of Express' },
  'docs/check-names.md': { 'half an hour or longer': 'of resolvers (RFC 2308)' },
  'docs/customers-page.md': { 'render it ten times': 'test/frameworks/frameworks.test.js' },
  'docs/monitoring.md': { 'five minutes ago': 'advice' },
  'docs/orm.md': { 'by default five seconds': 'of Prisma' },
  'docs/postgres.md': { 'more than five times as large': 'advice', 'for example to five minutes': 'advice' },
  'docs/proof.md': { 'half an hour each': 'the TIMES of the commands below' },
  'docs/your-server.md': {
    'nginx and AWS for 60 s, Caddy for 120 s, Google for 600 s': 'of these proxies',
    'Node only for 5 s': 'of Node',
    'nginx and AWS wait 60 s': 'of these proxies',
  },
}

const count = 'two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|a quarter of an?|an|a few hundred|million'
const unit = 'ms|s|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|bytes|kB|KiB|MB|MiB|×|times'
const numbers = new RegExp(
  `(?<![\\w.,-])(?:(?:\\d[\\d,.]*|${count})[ -](?:${unit})(?!\\w)|\\d[\\d,.]*\\d? ?%|\\d{1,3}(?:,\\d{3})+)`,
  'g',
)

/** The prose of a page: programs are run, and lists that the package prints are compared, by other tests. */
const readProse = (page: string) =>
  readFileSync(page, 'utf8')
    .replaceAll(/^ *```.*?^ *```/gms, '')
    .replaceAll(/<!-- printed.*?<!-- end -->|`[^`]*`/gs, text => (text.startsWith('`') ? text.replaceAll('%', '') : ''))
    .replaceAll(/\s+/g, ' ')

const pages = [
  ...['AGENTS.md', 'SECURITY.md', 'examples/production/README.md', 'examples/nextjs/README.md'],
  ...readdirSync('docs')
    .filter(file => file.endsWith('.md'))
    .map(file => `docs/${file}`),
]

test.each(pages)('each duration, size and large number of %s is a limit that the code sets, or has a reason', page => {
  const prose = readProse(page)
  const words = [...(limits[page] ?? []).map(([words]) => words), ...Object.keys(others[page] ?? {})]
  expect(words.filter(each => !prose.includes(each))).toEqual([])
  const rest = words.reduce((text, each) => text.replaceAll(each, '_'), prose)
  expect([...rest.matchAll(numbers)].map(({ index }) => rest.slice(Math.max(0, index - 40), index + 40))).toEqual([])
})

test.each(Object.entries(limits))('the limits of %s are those of the code', (_, rows) => {
  expect(rows.filter(([, file, source]) => !read(file).includes(source))).toEqual([])
})

test('README.md names the medians of bench/figures.json', () => {
  const figures: Readonly<Record<string, { readonly starts: readonly number[] }>> = JSON.parse(
    read('bench/figures.json'),
  )
  const median = (name: string, digits = 2) => {
    const starts = [...(figures[name]?.starts ?? [])].sort((a, b) => a - b)
    return starts[starts.length >> 1]?.toFixed(digits)
  }
  const adapters = ['express', 'fastify', 'fetch'].map(name => median(name)).sort()
  const readme = read('README.md')
  for (const row of [
    `${median('postgres')} times one \`INSERT\``,
    `${median('sqlite')} times 100 prepared inserts`,
    `${adapters[0]} to ${adapters[2]} times a route by hand`,
    `${median('ascii', 1)} times \`tldts.parse\``,
  ])
    expect(readme).toContain(row)
})
