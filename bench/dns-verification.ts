/**
 * Counts the queries of the costliest call of verification by DNS, and prints the queries and the time of others,
 * against a scripted name server in this process. Behind a real dnsmasq, counts the calls about a proven name that fail
 * while another team asks about silent zones.
 */
import { createDnsVerification } from 'domain-registration/dns-verification'
import { startDnsServer, txt } from '../test/dns-verification/dns-server.ts'
import { findMissing, startNameServer } from '../test/dns-verification/name-servers.ts'
import { report } from './measure.ts'

const ROUNDS = 10
const label = '_example-challenge'
const secret = 'the secret of a benchmark, 32 bytes and more'

const { record } = createDnsVerification({ label, secret })
const domains = Array.from({ length: 100 }, (_, index) => `d${index}.com`)
const values = new Map<string, string>(
  await Promise.all(domains.map(async domain => [`${label}.${domain}`, (await record('1', domain)).value] as const)),
)
const server = await startDnsServer(name => {
  const value = values.get(name)
  return value === undefined ? { rcode: 'NXDOMAIN' } : txt(name, value)
})

/** @returns The number of queries of one call. */
async function measure(what: string, names: readonly string[]): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    server.asked.length = 0
    // A new instance remembers nothing.
    const { verify } = createDnsVerification({ label, secret, servers: [server.address] })
    const begun = performance.now()
    await verify('1', names)
    times.push(performance.now() - begun)
  }
  const median = times.sort((a, b) => a - b)[ROUNDS / 2]?.toFixed(0)
  console.log(`${what}: ${server.asked.length} queries, ${median} ms`)
  return server.asked.length
}

await measure(
  '100 names of one proven domain',
  domains.map((_, index) => `n${index}.d0.com`),
)
await measure('100 proven domains', domains)
await measure(
  '100 names of one domain that is not proven',
  domains.map((_, index) => `n${index}.example.com`),
)
const dnsQueries = await measure(
  '100 names, four levels each, none proven',
  domains.map((_, index) => `a.b.c.e${index}.com`),
)
server.close()
report({ dnsQueries, ...(await countRefused()) })

async function countRefused() {
  if (findMissing('dnsmasq').length > 0) {
    console.log('dnsmasq is not installed: nothing is counted beside silent zones')
    return {}
  }
  const { name, value } = await record('2', 'example.com')
  const authority = await startDnsServer(asked => (asked === name ? txt(name, value) : null))
  const dnsmasq = await startNameServer('dnsmasq', `server=127.0.0.1#${authority.port}`)
  const { verify } = createDnsVerification({ label, secret, servers: [dnsmasq.address] })
  let isOver = false
  const calls = Promise.all(
    Array.from({ length: 10 }, (_, call) =>
      verify(
        '1',
        domains.map(domain => `s${call}${domain}`),
      ),
    ),
  ).finally(() => {
    isOver = true
  })
  let count = 0
  let dnsNeighbour = 0
  for (; count < 40 || !isOver; count += 1) {
    const [result] = await verify('2', ['www.example.com'])
    if (result?.status !== 'verified') dnsNeighbour += 1
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  await calls
  await dnsmasq.close()
  authority.close()
  console.log(`${dnsNeighbour} of ${count} calls about a proven name are not answered beside 1,000 silent zones`)
  return { dnsNeighbour }
}
