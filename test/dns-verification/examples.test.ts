import { describe, expect, test } from 'vitest'
import { createResolveTxt } from '../../examples/dns-over-https.ts'
import { recheck } from '../../examples/recheck-dns.ts'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, rejection } from '../fixtures.ts'
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

test('examples/recheck-dns.ts tells a team at once, and releases after 30 days, only what is missing', async () => {
  const store = createStore()
  await save(store, '1', ['proven.com', 'a.proven.com', 'gone.com', '*.gone.com', 'x.broken.com', '8.8.8.8'])
  await save(store, '1', ['dept.split.com', 'other.split.com', 'exempt.com'])
  await save(store, '2', ['other.gone.com', 'proven.org'])
  const replies = new Map<string, Reply>([[`${label}.broken.com`, { rcode: 'SERVFAIL' }]])
  for (const [teamId, domain] of [
    ['1', 'proven.com'],
    ['1', 'gone.com'],
    ['1', 'dept.split.com'],
    ['2', 'proven.org'],
    ['2', 'gone.com'],
  ] as const) {
    const { name, value } = await record(teamId, domain)
    const before = replies.get(name) as ReturnType<typeof txt> | undefined
    replies.set(name, { answers: [...(before?.answers ?? []), ...txt(name, value).answers] })
  }
  const server = await serveDns(name => replies.get(name) ?? { rcode: 'NXDOMAIN' })
  const verification = createDnsVerification({ label, secret, servers: [server.address] })

  const since = new Map<string, Date>()
  const told: string[] = []
  const missing = {
    since: async (teamId: string, domain: string) => since.get(`${teamId} ${domain}`) ?? null,
    async begin(teamId: string, domain: string, now: Date) {
      since.set(`${teamId} ${domain}`, now)
      told.push(`${teamId} ${domain}`)
    },
    async end(teamId: string, domain: string) {
      since.delete(`${teamId} ${domain}`)
    },
  }
  const isExempt = (_: string, domain: string) => domain === 'exempt.com'
  const run = (day: number) =>
    recheck(store, verification, { missing, isExempt, now: new Date(Date.UTC(2026, 0, 1 + day)) })
  const domains = async () => (await store.list()).map(({ teamId, domain }) => `${teamId} ${domain}`)

  expect(await run(0)).toEqual({ missing: 1, released: 0, unreachable: 1 })
  expect(told.splice(0)).toEqual(['1 split.com'])
  replies.delete(`${label}.gone.com`)
  expect(await run(1)).toEqual({ missing: 3, released: 0, unreachable: 1 })
  expect(told.splice(0).sort()).toEqual(['1 gone.com', '2 gone.com'])
  // Team 2 adds its record again.
  const { name, value } = await record('2', 'gone.com')
  replies.set(name, txt(name, value))
  expect(await run(29)).toEqual({ missing: 2, released: 0, unreachable: 1 })
  expect(await domains()).toHaveLength(11)
  expect(await run(31)).toEqual({ missing: 2, released: 3, unreachable: 1 })
  expect(await domains()).toEqual(
    ['1 proven.com', '1 a.proven.com', '1 x.broken.com', '1 8.8.8.8', '1 dept.split.com', '1 exempt.com'].concat([
      '2 other.gone.com',
      '2 proven.org',
    ]),
  )
  expect(await run(32)).toEqual({ missing: 0, released: 0, unreachable: 1 })
  expect([told, since.size]).toEqual([[], 0])
})
