/** Verification through resolvers as people run them. */

import dns from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { createVerification } from '../../src/dns-verification/create-dns-verification.ts'
import { createDnsVerification } from '../../src/dns-verification/index.ts'
import { openNodeResolver } from '../../src/dns-verification/resolver.ts'
import { previewDomains } from '../../src/index.ts'
import { createStore, team1 } from '../fixtures.ts'
import { waitFor } from '../wait-for.ts'
import { txt } from './dns-server.ts'
import { findMissing, type NameServer, startNameServer } from './name-servers.ts'
import { serveDns } from './serve-dns.ts'

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'
const { record } = createDnsVerification({ label, secret })

/** A test with name servers, which is skipped if one is not installed. */
function testWith(servers: readonly NameServer[], name: string, run: () => Promise<void>): void {
  const missing = findMissing(...servers)
  if (missing.length === 0) test(name, run)
  else test.skip(`${name}: skipped, because ${missing} is not installed (Debian: apt-get install ${missing.join(' ')})`)
}

async function start(...parameters: Parameters<typeof startNameServer>) {
  const server = await startNameServer(...parameters)
  onTestFinished(server.close)
  return server
}

testWith(
  ['dnsmasq'],
  'beside ten calls of 100 silent zones, dnsmasq answers about the names of another team',
  async () => {
    const domains = Array.from({ length: 20 }, (_, index) => `proven${index}.org`)
    const proofs = new Map(
      await Promise.all(
        domains.map(async domain => {
          const { name, value } = await record('2', domain)
          return [name, txt(name, value)] as const
        }),
      ),
    )
    const authority = await serveDns(name => proofs.get(name) ?? null)
    const dnsmasq = await start('dnsmasq', `server=127.0.0.1#${authority.port}`)
    const { verify } = createDnsVerification({ label, secret, servers: [dnsmasq.address], onError() {} })
    const leaving = new AbortController()
    const calls = Array.from({ length: 10 }, async (_, call) => {
      const silent = Array.from({ length: 100 }, (_, index) => `d${index}-${call}.com`)
      await verify('1', silent, leaving).catch(() => {})
    })
    // dnsmasq has half of the queries, which it goes on with, though their caller leaves.
    await waitFor(() => expect(authority.asked.length).toBeGreaterThanOrEqual(50))
    leaving.abort()
    await Promise.all(calls)
    const more = verify('1', ['d.com'], { signal: AbortSignal.timeout(1000) }).catch(() => {})
    for (const domain of domains) expect(await verify('2', [domain])).toMatchObject([{ status: 'verified' }])
    await more
  },
)

const signed = readFileSync(new URL('signed.example.com.zone', import.meta.url), 'utf8')
const anchor = 'example.com. DS 5878 15 2 921fc93699d062b768a16363728cafba688de43a0fe67bbeadb6c89eff5e8bc6'
const { name, value } = await record('1', 'example.com')

/** The servers of example.com. */
const serveZone = (zone: string) =>
  start('nsd', 'zone:\n name: example.com\n zonefile: zone', { zone: zone.replace(/ ;\{.*\}$/gm, '') })
const toZone = (...records: readonly string[]) =>
  ['$ORIGIN example.com.', '$TTL 3600', '@ SOA ns a 1 1 1 1 1800', '@ NS ns', 'ns A 127.0.0.1', ...records, ''].join(
    '\n',
  )

const resolvers = {
  unbound: (port: number) =>
    start('unbound', ` trust-anchor: "${anchor}"\nstub-zone:\n name: example.com\n stub-addr: 127.0.0.1@${port}\n`),
  unvalidated: (port: number) => start('unbound', `stub-zone:\n name: example.com\n stub-addr: 127.0.0.1@${port}\n`),
  dnsmasq: (port: number) => start('dnsmasq', `server=127.0.0.1#${port}`),
}

async function preview(servers: readonly string[]) {
  const { checkNames } = createDnsVerification({ label, secret, servers })
  const { data } = await previewDomains(team1, { domains: ['www.example.com'] }, createStore(), { checkNames })
  return data.results[0]
}

testWith(['unbound', 'nsd'], 'a resolver that validates a signed zone finds its record, and no other one', async () => {
  const { port } = await serveZone(signed)
  const { address } = await resolvers.unbound(port)
  const { verify } = createDnsVerification({ label, secret, servers: [address] })
  expect(await verify('1', ['www.example.com'])).toMatchObject([{ status: 'verified', at: name }])
  expect(await verify('2', ['www.example.com'])).toMatchObject([
    { status: 'missing', mistake: { kind: 'other', text: value, count: 1 } },
  ])
})

testWith(['unbound', 'nsd'], 'a record whose signature is wrong counts nowhere, whatever the zone says', async () => {
  // The value of the team is in place of the one that was signed.
  const own = createDnsVerification({ label, secret: `${secret}!` })
  const { port } = await serveZone(signed.replace(value, (await own.record('1', 'example.com')).value))
  const { address } = await resolvers.unbound(port)
  const zoneServers = { port, isAllowed: () => true }
  const { checkNames } = createVerification({ label, secret: `${secret}!` }, closed =>
    openNodeResolver(dns, { servers: [address], zoneServers }, closed),
  )
  const { data } = await previewDomains(team1, { domains: ['www.example.com'] }, createStore(), { checkNames })
  expect(data.results[0]).toMatchObject({
    reason: 'dns_unreachable',
    message: expect.stringContaining('(SERVFAIL), so the record may or may not be there. If this lasts, ask your DNS'),
  })
})

testWith(
  ['unbound', 'nsd'],
  'a record that the resolver does not know yet is found at the zone, if asked',
  async () => {
    const before = await serveZone(toZone())
    const { address } = await resolvers.unvalidated(before.port)
    expect(await preview([address])).toMatchObject({ message: expect.stringContaining('resolvers may remember') })
    // The customer adds the record. The resolver remembers for half an hour that it was missing.
    const { port } = await serveZone(toZone(`_example-challenge TXT "${value}"`))
    expect(await preview([address])).toMatchObject({ reason: 'not_verified' })
    const { verify } = createVerification({ label, secret }, closed =>
      openNodeResolver(dns, { servers: [address], zoneServers: { port, isAllowed: () => true } }, closed),
    )
    expect(await verify('1', ['www.example.com'])).toMatchObject([{ status: 'verified' }])
    expect(await verify('2', ['www.example.com'])).toMatchObject([{ status: 'missing', isAuthoritative: false }])
  },
)

for (const resolver of ['unvalidated', 'dnsmasq'] as const) {
  const program = resolver === 'dnsmasq' ? 'dnsmasq' : 'unbound'
  for (const [mistake, records, sentence] of [
    ['a wildcard', ['* TXT "v=spf1 -all"'], '"v=spf1 -all" is there, from a record for all names (*.example.com)'],
    ['an alias', ['_example-challenge CNAME x', 'x TXT "other"'], 'is an alias (CNAME) of "x.example.com"'],
    ['an alias of nothing', ['_example-challenge CNAME x'], 'is an alias (CNAME) of "x.example.com"'],
    ['an alias for all names', ['* CNAME ns'], 'resolvers may remember'],
    [
      'the zone twice',
      [`_example-challenge.example.com TXT ${value}`],
      'your DNS provider adds "example.com" by itself',
    ],
    ['no label', [`@ TXT "token=${value}"`], 'The value is at example.com:'],
    ['a near miss', [`_example-challenge TXT ${value.slice(1)}`], `There is "${value.slice(1)}"; add yours`],
  ] as const)
    testWith([program, 'nsd'], `through ${program}, ${mistake} is recognized`, async () => {
      const { port } = await serveZone(toZone(...records))
      const { address } = await resolvers[resolver](port)
      expect(await preview([address])).toMatchObject({ message: expect.stringContaining(sentence) })
    })
}
