import { onTestFinished } from 'vitest'
import { type DnsServer, type Reply, type Script, startDnsServer } from './dns-server.ts'

/** Starts a server that stops after the test. */
export async function serveDns(script: Script): Promise<DnsServer> {
  const server = await startDnsServer(script)
  onTestFinished(() => server.close())
  return server
}

/** A server with some replies, by name or by type and name; all other names do not exist. */
export const serveRecords = (replies: Readonly<Record<string, Reply>>): Promise<DnsServer> =>
  serveDns((name, type) => {
    const key = [`${type} ${name}`, name].find(key => Object.hasOwn(replies, key))
    return key === undefined ? { rcode: 'NXDOMAIN' } : (replies[key] as Reply)
  })
