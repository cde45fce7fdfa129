import dns from 'node:dns/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createVerification } from '../../src/dns-verification/create-dns-verification.ts'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { openNodeResolver } from '../../src/dns-verification/resolver.ts'
import { type DnsServer, type Reply, startDnsServer, txt } from './dns-server.ts'
import { serveDns, serveRecords } from './serve-dns.ts'

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'
const name = `${label}.example.com`
const { value } = await createDnsVerification({ label, secret }).record('1', 'example.com')

/** The resolver remembers that there is no record, and knows the zone's server. */
const remembering = (more: Readonly<Record<string, Reply>> = {}, address = '127.0.0.1') => ({
  'NS example.com': { answers: [{ type: 'NS' as const, name: 'example.com', data: 'ns.example.net' }] },
  'A ns.example.net': { answers: [{ type: 'A' as const, name: 'ns.example.net', data: address }] },
  ...more,
})

const create = (resolver: DnsServer, own: DnsServer) =>
  createVerification({ label, secret }, closed =>
    openNodeResolver(
      dns,
      { servers: [resolver.address], zoneServers: { port: own.port, isAllowed: () => true } },
      closed,
    ),
  )

test('a record that only the zone has yet proves all its names, by three round trips more', async () => {
  const resolver = await serveRecords(remembering())
  const own = await serveRecords({ [name]: txt(name, value) })
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.example.com`)
  const results = await create(resolver, own).verify('1', names)
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['verified']))
  expect(resolver.asked).toEqual([`TXT ${name}`, 'NS example.com', 'A ns.example.net'])
  // Twice, because nobody validates the answer.
  expect(own.asked).toEqual([`TXT ${name}`, `TXT ${name}`])
})

test('an alias that only the zone has yet is followed', async () => {
  const target = 'proofs.example.org'
  const resolver = await serveRecords(remembering({ [target]: txt(target, value) }))
  const own = await serveRecords({ [name]: { answers: [{ type: 'CNAME', name, data: target }] } })
  expect(await create(resolver, own).verify('1', ['example.com'])).toMatchObject([{ status: 'verified' }])
})

test.each<[string, Readonly<Record<string, Reply>>, Reply]>([
  ['says the same', remembering(), { rcode: 'NXDOMAIN' }],
  ['refuses', remembering(), { rcode: 'REFUSED' }],
  ['is silent', remembering(), null],
  ['is not known', {}, txt(name, value)],
  ['has no address', remembering({ 'A ns.example.net': {} }), txt(name, value)],
  ['cannot be found', remembering({ 'A ns.example.net': { rcode: 'SERVFAIL' } }), txt(name, value)],
])('if the server of the zone %s, the record is missing', async (case_, replies, reply) => {
  const own = await serveDns(() => reply)
  const results = await create(await serveRecords(replies), own).verify('1', ['example.com'])
  const isAuthoritative = case_ === 'says the same'
  expect(results).toMatchObject([{ status: 'missing', isAuthoritative }])
})

describe('nobody validates what a server of the zone says, so it counts if a second answer agrees', () => {
  /** Two servers of the zone on one port. */
  async function serveZone(first: Reply, second: Reply) {
    const own = await serveRecords({ [name]: first })
    const other = await startDnsServer(() => second, '127.0.0.2', own.port)
    onTestFinished(other.close)
    const resolver = await serveRecords(
      remembering({
        'A ns.example.net': {
          answers: ['127.0.0.1', '127.0.0.2'].map(data => ({ type: 'A' as const, name: 'ns.example.net', data })),
        },
      }),
    )
    const results = await create(resolver, own).verify('1', ['example.com'])
    return { results, asked: [own.asked, other.asked] }
  }
  const proof = txt(name, value)
  const question = [`TXT ${name}`]

  test.each<[string, Reply, Reply, object]>([
    ['both have it', proof, proof, { status: 'verified' }],
    ['only the first has it', proof, { rcode: 'NXDOMAIN' }, { status: 'missing', isAuthoritative: false }],
    ['only the second has it', {}, proof, { status: 'missing', isAuthoritative: false }],
    ['neither has it', {}, { rcode: 'NXDOMAIN' }, { status: 'missing', isAuthoritative: true }],
  ])('%s', async (_, first, second, expected) => {
    const { results, asked } = await serveZone(first, second)
    expect(results).toMatchObject([expected])
    expect(asked.map(names => names.filter(asked => question.includes(asked)))).toEqual([question, question])
  })

  test('if the other one fails, the first is asked twice', async () => {
    const { results, asked } = await serveZone(proof, { rcode: 'REFUSED' })
    expect(results).toMatchObject([{ status: 'verified' }])
    expect(asked).toEqual([[...question, ...question], question])
  })

  test('a server that has it only once does not prove it', async () => {
    let count = 0
    const own = await serveDns(() => (++count > 1 ? { rcode: 'NXDOMAIN' } : proof))
    const results = await create(await serveRecords(remembering()), own).verify('1', ['example.com'])
    expect(results).toMatchObject([{ status: 'missing', isAuthoritative: false }])
  })
})

test.each(['SERVFAIL', 'REFUSED'])('%s of the resolver is never overridden: the zone is not asked', async rcode => {
  const resolver = await serveRecords(remembering({ [name]: { rcode } }))
  const own = await serveRecords({ [name]: txt(name, value) })
  const results = await create(resolver, own).verify('1', ['example.com'])
  expect(results).toMatchObject([{ status: 'unreachable', cause: `E${rcode}` }])
  expect([resolver.asked, own.asked]).toEqual([[`TXT ${name}`], []])
})

test.each(['10.0.0.53', '127.0.0.1', '169.254.169.254', '100.64.0.1'])(
  'a zone that names %s as its server does not make us ask there',
  async address => {
    const setServers = vi.spyOn(dns.Resolver.prototype, 'setServers')
    const resolver = await serveRecords(remembering({}, address))
    const { verify } = createDnsVerification({ label, secret, servers: [resolver.address], asksZoneServers: true })
    expect(await verify('1', ['example.com'])).toMatchObject([{ status: 'missing' }])
    expect(resolver.asked).toContain('A ns.example.net')
    expect(setServers.mock.calls.flat(2).filter(server => server !== resolver.address)).toEqual([])
    setServers.mockRestore()
  },
)

test('a public address that a zone names is asked on port 53', async () => {
  const original = dns.Resolver.prototype.setServers
  const setServers = vi.spyOn(dns.Resolver.prototype, 'setServers')
  const resolver = await serveRecords(remembering({}, '192.0.43.8'))
  const { verify } = createDnsVerification({ label, secret, servers: [resolver.address], asksZoneServers: true })
  const controller = new AbortController()
  // No packet leaves this machine: the call ends when the address becomes known.
  setServers.mockImplementation(function (this: dns.Resolver, servers) {
    if (servers.includes('192.0.43.8:53')) controller.abort(new Error('left'))
    else original.call(this, servers)
  })
  await expect(verify('1', ['example.com'], controller)).rejects.toThrow('left')
  setServers.mockRestore()
})
