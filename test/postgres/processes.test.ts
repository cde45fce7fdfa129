import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/postgres/index.ts'
import { counts } from '../counts.ts'
import { isGiven, throughFirst } from './engine.ts'
import type { RacerReport, RacerTask } from './racer.ts'
import { openDatabase, type TestServer } from './server.ts'

let server: TestServer
const racers: ChildProcess[] = []
beforeAll(async () => {
  server = await openDatabase({ deadlock_timeout: '100ms' })
  await migrate({ database: throughFirst(server.createPool()) })
})
afterAll(async () => {
  for (const racer of racers) if (racer.exitCode === null) racer.kill()
  await server.stop()
})

const RACERS = 4
const CALLS = isGiven ? 150 : counts.racingCalls
const TIME_LIMIT = isGiven ? 600_000 : 60_000
const ZONES = Array.from({ length: 40 }, (_, index) => `zone-${String(index).padStart(2, '0')}.com`)

/** Names that overlap with each other in every way. */
const hostnamesOf = (zone: string) => [zone, `www.${zone}`, `a.b.${zone}`, `*.${zone}`, `*.b.${zone}`]

/** Every other racer begins each call at the other end, and asks for wildcards first. */
function createCalls(racer: number): string[][] {
  return Array.from({ length: CALLS }, (_, call) => {
    const zones = Array.from({ length: 12 }, (_, index) => ZONES[(call + index * 3) % ZONES.length] as string)
    const hostnames = zones.flatMap((zone, index) =>
      hostnamesOf(zone).filter((_, which) => (which + index + racer + call) % 3 !== 0),
    )
    return racer % 2 === 0 ? hostnames : hostnames.reverse()
  })
}

async function start(task: RacerTask): Promise<ChildProcess> {
  const racer = fork(fileURLToPath(new URL('racer.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
  racers.push(racer)
  racer.send(task)
  const [message] = await once(racer, 'message')
  expect(message).toBe('ready')
  return racer
}

test(
  'processes that race for names on one server make one registry: each name once, no overlap',
  async () => {
    const children = await Promise.all(
      Array.from({ length: RACERS }, (_, racer) =>
        // Two teams; each has a racer that goes forward and one that goes backward.
        start({ config: server.config, teamId: racer < 2 ? '1' : '2', calls: createCalls(racer) }),
      ),
    )
    const reports = await Promise.all(
      children.map(async child => {
        const answer = once(child, 'message')
        child.send('go')
        return ((await answer) as [RacerReport])[0]
      }),
    )
    expect(reports.flatMap(({ errors }) => errors)).toEqual([])

    const { rows } = await server
      .createPool()
      .query('SELECT domain, domain_id, team_id FROM domain_registration.names ORDER BY domain')
    const results = reports.flatMap(report => report.results)
    const created = results.flatMap(result =>
      result.status === 'created' ? [`${result.domain} ${result.domainId}`] : [],
    )
    expect(created.toSorted()).toEqual(rows.map(row => `${row.domain} ${row.domain_id}`).toSorted())
    expect(rows.length).toBeGreaterThanOrEqual(ZONES.length)

    const ids = new Map(rows.map(row => [row.domain, row.domain_id]))
    const existing = results.flatMap(result => (result.status === 'existing' ? [result] : []))
    expect(existing.length).toBeGreaterThan(0)
    for (const { domain, domainId } of existing) expect(domainId, domain).toBe(ids.get(domain))

    const domains = rows.map(row => row.domain as string)
    const overlaps = domains
      .filter(domain => domain.startsWith('*.'))
      .flatMap(wildcard => domains.filter(domain => domain !== wildcard && domain.endsWith(wildcard.slice(1))))
    expect(overlaps).toEqual([])
    expect(new Set(domains).size).toBe(domains.length)
    expect(domains.some(domain => domain.startsWith('*.'))).toBe(true)
    expect(results.some(result => result.status === 'invalid' && result.code === 'domain_already_licensed')).toBe(true)

    if (isGiven) return
    expect(server.readLog()).not.toContain('deadlock')
  },
  TIME_LIMIT,
)
