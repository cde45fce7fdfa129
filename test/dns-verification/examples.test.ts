import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createResolveTxt } from '../../examples/dns-over-https.ts'
import { type MissingRecord, recheck } from '../../examples/recheck-dns.ts'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { createMemoryStore } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { rejection } from '../fixtures.ts'
import { serveDnsOverHttps } from './dns-over-https-server.ts'
import { type Reply, txt } from './dns-server.ts'
import { serveDns } from './serve-dns.ts'

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'
const { record } = createDnsVerification({ label, secret })

describe('examples/dns-over-https.ts', () => {
  const signal = new AbortController().signal

  test.each<[string, Parameters<typeof serveDnsOverHttps>[0][string], string[][]]>([
    ['one string', { Answer: [{ type: 16, data: '"abc"' }] }, [['abc']]],
    ['several strings', { Answer: [{ type: 16, data: '"a b" "c\\"d"' }] }, [['a b', 'c\\"d']]],
    ['a string without quotes', { Answer: [{ type: 16, data: 'abc' }] }, [['abc']]],
    [
      'an alias',
      {
        Answer: [
          { type: 5, data: 'x.net.' },
          { type: 16, data: '"abc"' },
        ],
      },
      [['abc']],
    ],
    [
      'several records',
      {
        Answer: [
          { type: 16, data: '"a"' },
          { type: 16, data: '"b"' },
        ],
      },
      [['a'], ['b']],
    ],
    ['no record', {}, []],
    ['no such name', { Status: 3 }, []],
  ])('reads %s', async (_, reply, expected) => {
    const { origin, asked } = await serveDnsOverHttps({ '_x.example.com': reply })
    expect(await createResolveTxt(origin)('_x.example.com', { signal })).toEqual(expected)
    expect(asked).toEqual(['TXT _x.example.com application/dns-json'])
  })

  test.each<[string, number | { Status: number }, string | undefined]>([
    ['SERVFAIL', { Status: 2 }, 'ESERVFAIL'],
    ['REFUSED', { Status: 5 }, 'ESERVFAIL'],
    ['an error of HTTP', 503, undefined],
  ])('rejects for %s, so nothing counts as missing', async (_, reply, code) => {
    const { origin } = await serveDnsOverHttps({ '_x.example.com': reply })
    const error = (await rejection(Promise.resolve(createResolveTxt(origin)('_x.example.com', { signal })))) as object
    expect({ code: undefined, ...error }).toMatchObject({ code })
  })
})

describe('examples/recheck-dns.ts', () => {
  /** A run on a day; the DNS, the table and the registry of the test, and what teams were told. */
  async function start(names: Readonly<Record<string, readonly string[]>>, exempt: readonly string[] = []) {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const store = createMemoryStore({
      teams: Object.keys(names).map(id => ({ id, organizationId: '10', state: 'active' as const })),
    })
    for (const [teamId, domains] of Object.entries(names)) await save(store, teamId, domains)
    const replies = new Map<string, Reply>()
    const outage: { reply?: Reply } = {}
    let asked: (name: string) => unknown = () => {}
    const server = await serveDns(name => {
      asked(name)
      const reply = outage.reply ?? replies.get(name)
      return reply === undefined ? { rcode: 'NXDOMAIN' } : reply
    })
    const rows = new Map<string, MissingRecord>()
    const told: string[] = []
    const missing = {
      find: async (teamId: string, domain: string) => rows.get(`${teamId} ${domain}`) ?? null,
      save: async (teamId: string, domain: string, row: MissingRecord) => void rows.set(`${teamId} ${domain}`, row),
      remove: async (teamId: string, domain: string) => void rows.delete(`${teamId} ${domain}`),
      tell: async (teamId: string, domain: string) => void told.push(`${teamId} ${domain}`),
    }
    const secrets = [secret, 'a former secret, which is long enough too']
    const verification = createDnsVerification({ label, secret: secrets, servers: [server.address], onError() {} })
    const run = (day: number, more: { isExpected?: boolean } = {}) => {
      vi.advanceTimersByTime(24 * 3600 * 1000)
      const now = new Date(Date.UTC(2026, 0, 1 + day))
      return recheck(store, verification, { missing, isExempt: (_, domain) => exempt.includes(domain), now, ...more })
    }
    const prove = async (teamId: string, domain: string, made = record) => {
      const { name, value } = await made(teamId, domain)
      const before = replies.get(name) as ReturnType<typeof txt> | undefined
      replies.set(name, { answers: [...(before?.answers ?? []), ...txt(name, value).answers] })
    }
    const domains = async () => (await store.list()).map(({ teamId, domain }) => `${teamId} ${domain}`)
    const onAsked = (listener: typeof asked) => {
      asked = listener
    }
    return { run, prove, replies, outage, told, rows, domains, server, secrets, onAsked }
  }
  const counts = (missing: number, released: number, unreachable: number) => ({
    missing,
    released,
    unreachable,
    old: [],
  })

  test('tells a team after three looks, and releases after 30 days and seven looks, only what is missing', async () => {
    const own = ['proven.com', 'a.proven.com', 'gone.com', '*.gone.com', 'x.broken.com', '8.8.8.8']
    const { run, prove, replies, told, domains, rows } = await start(
      { 1: [...own, 'dept.split.com', 'other.split.com', 'exempt.com'], 2: ['other.gone.com', 'proven.org'] },
      ['exempt.com'],
    )
    replies.set(`${label}.broken.com`, { rcode: 'SERVFAIL' })
    await prove('1', 'proven.com')
    await prove('1', 'dept.split.com')
    await prove('2', 'proven.org')
    for (const [day, tells] of [
      [0, []],
      [1, []],
      [2, ['1 gone.com', '1 split.com', '2 gone.com']],
      [3, []],
    ] as const) {
      expect(await run(day)).toEqual(counts(3, 0, 1))
      expect(told.splice(0).sort()).toEqual(tells)
    }
    // Team 2 adds its record again.
    await prove('2', 'gone.com')
    expect(await run(4)).toEqual(counts(2, 0, 1))
    // 31 days, but six looks; then 32 days and seven.
    expect(await run(31)).toEqual(counts(2, 0, 1))
    expect(await domains()).toHaveLength(11)
    expect(await run(32)).toEqual(counts(2, 3, 1))
    expect(await domains()).toEqual([
      ...['1 proven.com', '1 a.proven.com', '1 x.broken.com', '1 8.8.8.8', '1 dept.split.com', '1 exempt.com'],
      ...['2 other.gone.com', '2 proven.org'],
    ])
    expect(await run(33)).toEqual(counts(0, 0, 1))
    expect([told, rows.size]).toEqual([[], 0])
  })

  test('a resolver that denies everything changes nothing, however often; a customer who leaves does', async () => {
    const teams = Array.from({ length: 50 }, (_, index) => `${index + 1}`)
    const { run, prove, outage, replies, told, rows, domains } = await start(
      Object.fromEntries(teams.map(team => [team, [`t${team}.com`]])),
    )
    for (const team of teams) await prove(team, `t${team}.com`)
    outage.reply = { rcode: 'NXDOMAIN' }
    for (const day of [0, 31, 62]) await expect(run(day)).rejects.toThrow('50 of 50 records have vanished')
    expect([told, rows.size, (await domains()).length]).toEqual([[], 0, 50])
    delete outage.reply
    replies.delete(`${label}.t7.com`)
    for (const day of [63, 64, 65, 66, 67, 68, 94]) await run(day)
    expect([told, (await domains()).length]).toEqual([['7 t7.com'], 49])
    // What is expected, such as a new label, is believed.
    outage.reply = { rcode: 'NXDOMAIN' }
    expect(await run(100, { isExpected: true })).toEqual(counts(49, 0, 0))
  })

  test('a name below that cannot be asked about changes nothing for its zone', async () => {
    const { run, replies, rows } = await start({ 1: ['a.part.com', 'b.part.com'] })
    replies.set(`${label}.a.part.com`, { rcode: 'SERVFAIL' })
    expect(await run(0)).toEqual(counts(0, 0, 1))
    expect(rows.size).toBe(0)
  })

  test.each([
    [11, 44, 'is believed'],
    [11, 43, 'is not believed'],
    [10, 10, 'is believed'],
  ])('that %i of %i records vanish in one run %s', async (vanished, all, outcome) => {
    const teams = Array.from({ length: all }, (_, index) => `${index + 1}`)
    const { run, prove, replies, rows } = await start(Object.fromEntries(teams.map(team => [team, [`t${team}.com`]])))
    for (const team of teams) await prove(team, `t${team}.com`)
    for (const team of teams.slice(0, vanished)) replies.delete(`${label}.t${team}.com`)
    const isBelieved = outcome === 'is believed'
    if (isBelieved) expect(await run(0)).toEqual(counts(vanished, 0, 0))
    else await expect(run(0)).rejects.toThrow(`${vanished} of ${all} records have vanished`)
    expect(rows.size).toBe(isBelieved ? vanished : 0)
  })

  test('the teams of a silent zone follow one another, though their names do not, so it is asked once', async () => {
    const teams = [1, 2, 3, 4, 5]
    const { run, replies, server, onAsked } = await start(
      Object.fromEntries(teams.map(team => [team, [`n${team}0.dead.com`, `n${team}1.fine${team}.com`]])),
    )
    replies.set(`${label}.dead.com`, null)
    // Longer than the silence of a zone is remembered.
    onAsked(name => name.includes('fine') && vi.advanceTimersByTime(31_000))
    expect(await run(0)).toEqual(counts(5, 0, 5))
    expect(server.asked.filter(question => question.includes('dead')).length).toBeLessThanOrEqual(2)
  })

  test('a zone of ten teams that is silent costs one query, and changes nothing', async () => {
    const teams = Array.from({ length: 10 }, (_, index) => `${index + 1}`)
    const { run, replies, server } = await start(Object.fromEntries(teams.map(team => [team, [`t${team}.dead.com`]])))
    replies.set(`${label}.dead.com`, null)
    expect(await run(0)).toEqual(counts(0, 0, 10))
    expect(new Set(server.asked)).toEqual(new Set([`TXT ${label}.dead.com`]))
    // The resolver of Node tries twice.
    expect(server.asked.length).toBeLessThanOrEqual(2)
  })

  test('lists who still has a record of a former secret, also below the zone', async () => {
    const { run, prove, secrets } = await start({ 1: ['a.com', 'x.b.com'], 2: ['c.com'] })
    const former = createDnsVerification({ label, secret: secrets[1] ?? '' }).record
    await prove('1', 'a.com', former)
    await prove('1', 'x.b.com', former)
    await prove('2', 'c.com', former)
    await prove('2', 'c.com')
    expect((await run(0)).old).toEqual([
      { teamId: '1', zone: 'a.com' },
      { teamId: '1', zone: 'b.com' },
    ])
  })
})
