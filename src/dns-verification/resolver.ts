import { findBuiltinModule } from '../runtime/builtin-module.ts'
import type { Awaitable } from '../time/awaitable.ts'

/**
 * Resolves to the TXT records at a name, each as an array of strings. Rejects with an error whose `code` is one of
 * `node:dns`: `ENOTFOUND` or `ENODATA` if there are none; any other code means that nobody knows.
 */
export type ResolveTxt = (name: string, options: { signal: AbortSignal }) => Awaitable<readonly (readonly string[])[]>

/** The texts at a name, and whose word that is. */
export interface Texts {
  readonly texts: readonly string[]
  /** Whether the zone's own servers say so, which remember nothing. */
  readonly isAuthoritative: boolean
}

/** Asks the DNS, until the signal with which it was made is aborted. Rejects like {@link ResolveTxt}. */
export interface Resolver {
  resolveTexts(name: string, zone: string, signal: AbortSignal): Promise<Texts>
  /** Resolves to the name of which a name is an alias (CNAME). Absent if only TXT records can be asked for. */
  resolveAlias?(name: string): Promise<string | undefined>
}

/** A resolver of the application. */
export const createOwnResolver = (resolveTxt: ResolveTxt): Resolver => ({
  resolveTexts: async (name, _, signal) => toTexts(await resolveTxt(name, { signal })),
})

const toTexts = (records: readonly (readonly string[])[], isAuthoritative = false): Texts => ({
  texts: records.map(strings => strings.join('')),
  isAuthoritative,
})

type Dns = typeof import('node:dns/promises')
type NodeResolver = InstanceType<Dns['Resolver']>

/** Of `node:dns`: the servers to ask, and whether a zone's own servers are asked too. */
interface NodeResolverOptions {
  /** IP addresses, perhaps with a port. Default: the resolvers of the system. */
  readonly servers?: readonly string[] | undefined
  readonly zoneServers?: ZoneServers | undefined
}

/** How to reach the servers that a zone names as its own. */
interface ZoneServers {
  readonly port: number
  /** Whether an address that a zone names may be asked. Whoever owns a zone may name any address. */
  isAllowed(address: string): boolean
}

/** How many of a zone's servers are asked, for {@link ZONE_SERVER_TIMEOUT} milliseconds each. */
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
  const resolveTexts = async (name: string) => toTexts(await ask(() => recursive.resolveTxt(name)))
  const resolveAlias = async (name: string) => (await ask(() => recursive.resolveCname(name)))[0]
  return { resolveTexts: zoneServers ? askZoneToo(zoneServers) : resolveTexts, resolveAlias }

  /**
   * Where the resolver says that there is no record, also asks the zone's own servers, which remember nothing. What
   * cannot be learned from them leaves the resolver's answer as it is. Any other failure of the resolver stands: it may
   * be a failed validation by DNSSEC.
   */
  function askZoneToo({ port, isAllowed }: ZoneServers): Resolver['resolveTexts'] {
    const servers = new Map<string, Promise<readonly string[]>>()

    async function findServers(zone: string): Promise<readonly string[]> {
      const hosts = await ask(() => recursive.resolveNs(zone)).catch(none)
      const asked = hosts.slice(0, MOST_ZONE_SERVERS).map(host => ask(() => recursive.resolve4(host)).catch(none))
      const addresses = (await Promise.all(asked)).flat().filter(isAllowed)
      return [...new Set(addresses)].slice(0, MOST_ZONE_SERVERS)
    }

    /** @returns `null` if the server does not say. */
    async function askServer(address: string, name: string): Promise<readonly string[] | null> {
      const server = open({ timeout: ZONE_SERVER_TIMEOUT, tries: 1 }, [`${address}:${port}`])
      const found = await ask(() => server.resolveTxt(name)).catch(toCode)
      if (Array.isArray(found) && found.length > 0) return toTexts(found).texts
      if (found === 'ENOTFOUND') return []
      if (!Array.isArray(found) && found !== 'ENODATA') return null
      // Something is at this name, but no text: perhaps an alias of a name in another zone.
      const [target] = await ask(() => server.resolveCname(name)).catch(none)
      return target === undefined ? [] : (await resolveTexts(target)).texts
    }

    return async (name, zone) => {
      try {
        return await resolveTexts(name)
      } catch (error) {
        if (!isAbsent(error)) throw error
      }
      const found = servers.get(zone) ?? findServers(zone)
      servers.set(zone, found)
      const addresses = await found
      const answers = await Promise.all(addresses.map(address => askServer(address, name)))
      const [first, second] = answers.filter(answer => answer !== null)
      if (!first || (first.length === 0 && !second?.length)) return { texts: [], isAuthoritative: first !== undefined }
      // Nobody validates these answers, so a forged one must not be enough: a text counts if two answers have it.
      const [answering] = addresses.filter((_, index) => answers[index] !== null)
      const other = second ?? (answering === undefined ? null : await askServer(answering, name))
      return { texts: first.filter(text => other?.includes(text)), isAuthoritative: false }
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
