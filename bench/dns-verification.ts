/**
 * Counts the queries of the costliest call of verification by DNS, and prints the queries and the time of others,
 * against a scripted name server in this process.
 */
import { createDnsVerification } from 'domain-registration/dns-verification'
import { startDnsServer, txt } from '../test/dns-verification/dns-server.ts'
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
const { verify } = createDnsVerification({ label, secret, servers: [server.address] })

/** @returns The number of queries of one call. */
async function measure(what: string, names: readonly string[]): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    server.asked.length = 0
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
report({ dnsQueries })
