import { findBuiltinModule } from '../runtime/builtin-module.ts'
import type { Awaitable } from '../time/awaitable.ts'

/**
 * Resolves to the TXT records at a name, each as an array of strings. Rejects with an error whose `code` is one of
 * `node:dns`: `ENOTFOUND` or `ENODATA` if there are none; any other code means that nobody knows.
 */
export type ResolveTxt = (name: string, options: { signal: AbortSignal }) => Awaitable<readonly (readonly string[])[]>

/** Asks the DNS, until the signal with which it was made is aborted. */
export interface Resolver {
  resolveTxt(name: string, options: { zone: string; signal: AbortSignal }): Awaitable<readonly (readonly string[])[]>
  /**
   * For how many seconds resolvers remember that a name of a zone does not exist (RFC 2308, section 5). Absent if only
   * TXT records can be asked for, or if nobody's memory matters.
   */
  negativeTtl?(zone: string): Promise<number>
}

type Dns = typeof import('node:dns/promises')
type NodeResolver = InstanceType<Dns['Resolver']>

/** Of `node:dns`: the servers to ask, and whether a zone's own servers are asked too. */
export interface NodeResolverOptions {
  /** IP addresses, perhaps with a port. Default: the resolvers of the system. */
  readonly servers?: readonly string[] | undefined
  readonly zoneServers?: ZoneServers | undefined
}

/** How to reach the servers that a zone names as its own. */
export interface ZoneServers {
  readonly port: number
  /** Whether an address that a zone names may be asked. Whoever owns a zone may name any address. */
  isAllowed(address: string): boolean
}

/** How many of a zone's servers are tried, for {@link ZONE_SERVER_TIMEOUT} milliseconds each. */
const MOST_ZONE_SERVERS = 2
const ZONE_SERVER_TIMEOUT = 500

/** Returns `node:dns`, or `undefined` on a runtime that cannot open a resolver of its own. */
export function findNodeDns(): Dns | undefined {
  const dns = findBuiltinModule('node:dns/promises') as Dns | undefined
  return typeof dns?.Resolver === 'function' ? dns : undefined
}

/**
 * Opens resolvers for one call. A resolver of its own has no cache of earlier calls, and canceling it stops no other
 * call. Once the signal is aborted, nothing is sent any more.
 */
export function openNodeResolver(
  dns: Dns,
  { servers, zoneServers }: NodeResolverOptions,
  closed: AbortSignal,
): Resolver {
  const opened: NodeResolver[] = []
  closed.addEventListener('abort', () => opened.forEach(resolver => void resolver.cancel()), { once: true })

  function open(options: { timeout: number; tries: number }, addresses: readonly string[] | undefined): NodeResolver {
    const resolver = new dns.Resolver(options)
    if (addresses) resolver.setServers(addresses)
    opened.push(resolver)
    return resolver
  }

  /** Asks, unless the call is over: a resolver that was canceled would send the next query of a chain all the same. */
  async function ask<T>(query: () => Promise<T>): Promise<T> {
    closed.throwIfAborted()
    return query()
  }

  const recursive = open({ timeout: 1000, tries: 2 }, servers)
  const resolveTxt = (name: string) => ask(() => recursive.resolveTxt(name))
  const negativeTtl = async (zone: string) => (await ask(() => recursive.resolveSoa(zone))).minttl
  return zoneServers ? { resolveTxt: askZoneToo(zoneServers) } : { resolveTxt, negativeTtl }

  /**
   * Where the resolver says that there is no record, also asks the zone's own servers, which remember nothing. What
   * cannot be learned from them leaves the resolver's answer as it is. Any other failure of the resolver stands: it may
   * be a failed validation by DNSSEC.
   */
  function askZoneToo({ port, isAllowed }: ZoneServers): Resolver['resolveTxt'] {
    const resolvers = new Map<string, Promise<NodeResolver | null>>()

    async function openFor(zone: string): Promise<NodeResolver | null> {
      const hosts = await ask(() => recursive.resolveNs(zone)).catch(none)
      const asked = hosts.slice(0, MOST_ZONE_SERVERS).map(host => ask(() => recursive.resolve4(host)).catch(none))
      const addresses = (await Promise.all(asked)).flat().filter(isAllowed).slice(0, MOST_ZONE_SERVERS)
      if (addresses.length === 0) return null
      return open(
        { timeout: ZONE_SERVER_TIMEOUT, tries: 1 },
        addresses.map(address => `${address}:${port}`),
      )
    }

    return async (name, { zone }) => {
      try {
        return await resolveTxt(name)
      } catch (error) {
        if (!isAbsent(error)) throw error
      }
      if (!resolvers.has(zone)) resolvers.set(zone, openFor(zone))
      const own = await resolvers.get(zone)
      if (!own) return []
      const found = await ask(() => own.resolveTxt(name)).catch(toCode)
      if (Array.isArray(found) ? found.length > 0 : found !== 'ENODATA') return Array.isArray(found) ? found : []
      // Something is at this name, but no text: perhaps an alias of a name in another zone.
      const [target] = await ask(() => own.resolveCname(name)).catch(none)
      return target === undefined ? [] : resolveTxt(target)
    }
  }
}

const none = (): never[] => []

/** The code of an error of `node:dns`, or of anything that behaves like it. */
export function toCode(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === 'string' && /^E[A-Z_]+$/.test(code) ? code : 'EUNKNOWN'
}

/** Whether a DNS server has said that there is no such record. */
export const isAbsent = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(toCode(error))
