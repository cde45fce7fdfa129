/**
 * Starts the program of `express.ts` on a free port, calls it over HTTP as its users would, and checks every response.
 * Exits with 0 if every response is as expected; otherwise shows the differences and exits with 1.
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual, styleText } from 'node:util'
import type { DomainResult, RegisterDomainsResponse } from 'domain-registration'

process.env.PORT = '0'
Error.stackTraceLimit = 0 // The server then logs each failure in one line.
const { issueKey, monitor, organizationKey, server, store, teamKey } = await import('./express.ts')
if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
const { port } = server.address() as { port: number }
const url = `http://localhost:${port}/v1/domains`

interface Answer {
  status: number
  retryAfter: string | null
  body: Partial<RegisterDomainsResponse> & { error?: string; message?: string }
}

async function register(key: string | null, body: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(key !== null && { Authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    retryAfter: response.headers.get('Retry-After'),
    body: (await response.json()) as Answer['body'],
  }
}

const color = (format: 'bold' | 'dim' | 'green' | 'yellow' | 'red', text: string) =>
  process.stdout.isTTY ? styleText(format, text) : text
const colorByStatus = { created: 'green', existing: 'yellow', invalid: 'red' } as const

function print(title: string, { status, retryAfter, body }: Answer, rows = Number.POSITIVE_INFINITY): void {
  console.log(`\n${color('bold', title)}`)
  if (body.data) {
    const { results, totals } = body.data
    printTable(results.slice(0, rows))
    if (results.length > rows) console.log(color('dim', `  … and ${results.length - rows} more`))
    console.log(`  ${status}: ${totals.created} created, ${totals.existing} existing, ${totals.invalid} invalid`)
  } else {
    const retry = retryAfter === null ? '' : ` (Retry-After: ${retryAfter})`
    console.log(`  ${status} ${body.error}${retry}: ${body.message}`)
  }
}

function printTable(results: readonly DomainResult[]): void {
  const rows = results.map(result =>
    result.status === 'invalid'
      ? { ...result, meaning: result.code, detail: result.message }
      : { ...result, meaning: result.domain, detail: color('dim', result.domainId) },
  )
  const inputWidth = Math.max(...rows.map(({ input }) => displayWidth(input)))
  const meaningWidth = Math.max(...rows.map(({ meaning }) => meaning.length))
  for (const { status, input, meaning, detail } of rows) {
    const padding = ' '.repeat(inputWidth - displayWidth(input))
    const outcome = color(colorByStatus[status], status.padEnd(8))
    console.log(`  ${outcome}  "${input}"${padding}  ${meaning.padEnd(meaningWidth)}  ${detail}`)
  }
}

/** In a terminal, a Chinese, Japanese or Korean character takes two columns. */
const displayWidth = (text: string) =>
  [...text].reduce((width, character) => width + (/[\u1100-\u115f\u2e80-\uffdc]/.test(character) ? 2 : 1), 0)

const differences: string[] = []
function expect(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return
  differences.push(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
}
const totals = (created: number, existing: number, invalid: number) => ({ created, existing, invalid })

const hostnames = readFileSync(new URL('hostnames.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')

const first = await register(organizationKey, { team_id: '1', domains: hostnames })
print('100 well-known hostnames, registered in team 1 with the organization key', first, 12)
expect('the first call', [first.status, first.body.data?.totals], [200, totals(100, 0, 0)])

const again = await register(organizationKey, { team_id: '1', domains: hostnames })
print('The same call again: it changes nothing and returns the same IDs', again, 3)
const existing = first.body.data?.results.map(result => ({ ...result, status: 'existing' }))
expect('the same call again', [again.status, again.body.data?.totals], [200, totals(0, 100, 0)])
expect('its results', again.body.data?.results, existing)

/** The hostnames that team 3 submits, and the expected results. */
const mixedBag = [
  ['WWW.Example.com.', 'created'],
  ['*.example.org', 'created'],
  ['example.org', 'created'],
  ['www.example.com', 'existing'],
  ['8.8.8.8', 'created'],
  [' ', 'empty_domain'],
  ['https://example.com/path', 'invalid_domain'],
  ['example.com:443', 'invalid_domain'],
  ['co.uk', 'public_suffix_domain'],
  ['github.io', 'public_suffix_domain'],
  ['localhost', 'internal_domain'],
  ['www.example.con', 'internal_domain'],
  ['192.168.0.1', 'reserved_ip'],
  ['0x7f.1', 'reserved_ip'],
  ['api.example.org', 'wildcard_conflict'],
  ['*.example.com', 'subdomain_conflict'],
  ['www.wikipedia.org', 'domain_already_licensed'],
] as const
const mixed = await register(teamKey, { domains: mixedBag.map(([input]) => input) })
print('Valid and invalid hostnames in one call of team 3, with its own key: each has its own result', mixed)
expect(
  'the mixed bag',
  mixed.body.data?.results.map(result => [result.input, result.status === 'invalid' ? result.code : result.status]),
  mixedBag,
)

/** Calls that fail as a whole. */
const domains = ['www.example.net']
const failures = [
  ['No key', null, { domains }, 401, 'unauthorized'],
  ['An unknown key', 'svc_team_3_0000', { domains }, 401, 'unauthorized'],
  ['A key without the scope', await issueKey('team', '3', ['domains:read']), { domains }, 403, 'insufficient_scope'],
  ["Another organization's team", organizationKey, { team_id: '3', domains }, 404, 'team_not_found'],
] as const
for (const [title, key, body, status, code] of failures) {
  const answer = await register(key, body)
  print(title, answer)
  expect(title, [answer.status, answer.body.error], [status, code])
}

store.addTeam({ id: '2', organizationId: '10', state: 'suspended' })
const suspended = await register(organizationKey, { team_id: '2', domains })
print('A suspended team', suspended)
expect('a suspended team', [suspended.status, suspended.body.error], [403, 'team_suspended'])

monitor.isOnline = false
const unavailable = await register(teamKey, { domains })
print('The monitor is offline: saved, not yet synchronized', unavailable)
expect('a call while the monitor is offline', unavailable.status, 503)
expect('its code', unavailable.body.error, 'domain_registration_unavailable')

monitor.isOnline = true
const retried = await register(teamKey, { domains })
print('The monitor is online again: the same call succeeds', retried)
expect('the retry', [retried.status, retried.body.data?.totals], [200, totals(0, 1, 0)])
expect('registrations that the monitor knows', monitor.watched.size, 105)

/** Sends one of the other calls. Shows the first lines of the response. */
async function show(title: string, key: string, path: string, body?: object): Promise<string> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
  const response = await fetch(url + path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers })
  const text = await response.text()
  console.log(`\n${color('bold', title)}\n  ${response.status}: ${text.trim().replaceAll('\r\n', '\n       ')}`)
  return text
}

const everything = await issueKey('team', '3', ['domains:create', 'domains:delete', 'domains:read'])
const preview = await show('A preview: what a call would return, with a correction', everything, '/preview', {
  domains: ['https://shop.example.net/'],
})
expect('the suggestion', JSON.parse(preview).data.results[0].suggestion, 'shop.example.net')
const deleted = await show('A deletion', everything, '/delete', { domains: ['www.example.net'] })
expect('the deletion', JSON.parse(deleted).data.totals, { deleted: 1, missing: 0, invalid: 0 })
const list = await show('A page of the list, newest first', everything, '?limit=2&order=newest')
expect('the list', JSON.parse(list).data.domains.length, 2)
const csv = await show('An export as CSV', everything, '/export')
expect('the lines of the export', csv.trim().split('\r\n').length, 5)
await store.synchronizePending()
expect('registrations that the monitor knows at the end', monitor.watched.size, 104)

server.close()
server.closeAllConnections()
for (const difference of differences) console.error(color('red', `\nUnexpected: ${difference}`))
if (differences.length === 0) console.log('\nEvery response was as expected.')
process.exitCode = differences.length === 0 ? 0 : 1
