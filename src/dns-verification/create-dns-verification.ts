import { createFailureLog, ignoreErrors } from '../errors/failure-log.ts'
import { classifyHostname } from '../hostname/classify.ts'
import type { CheckNames } from '../operations/check-names.ts'
import {
  booleanRule,
  countRule,
  isFunction,
  isText,
  matches,
  optional,
  type Rules,
  requireOptions,
} from '../options.ts'
import { baseOf } from '../rules/name.ts'
import type { DnsRecord } from '../rules/submitted.ts'
import type { DomainStore } from '../store/contract.ts'
import { createCache } from '../time/cache.ts'
import { timeLimitRule } from '../time/deadline.ts'
import type { Shared } from './ask.ts'
import { type ClaimResult, claimNames, type MovedRegistration } from './claim.ts'
import { createRecords } from './records.ts'
import { toRefusal } from './refusal.ts'
import { createOwnResolver, findNodeDns, openNodeResolver, type Resolver, type ResolveTxt } from './resolver.ts'
import { createSilenceWatch } from './silence.ts'
import { createQueryTurns } from './turns.ts'
import { type Verification, verifyNames } from './verify.ts'

/** Options of {@link createDnsVerification}. */
export interface DnsVerificationOptions {
  /**
   * The first label of each record: one label of your own product, with an underscore, such as `_example-challenge`.
   * Two products with the same label would take each other's records for theirs. The underscore is required: who may
   * choose a hostname below a domain, such as a customer of a hosting provider, cannot choose one with an underscore
   * (RFC 8552), and so cannot prove the whole domain.
   */
  label: string
  /**
   * A random string of 32 characters or more, such as the output of `openssl rand -base64 32`. During a rotation, pass
   * an array of the new secret and the old one: records are made with the new one, and both prove. Whoever has the
   * secret can make the value of any team.
   */
  secret: string | readonly string[]
  /**
   * Asks the DNS instead of `node:dns`, for runtimes without it. Each query has three seconds.
   */
  resolveTxt?: ResolveTxt | undefined
  /**
   * The IP addresses of the resolvers to ask, perhaps with a port. The next one is asked if one cannot be reached or is
   * silent for a second, but not if it answers SERVFAIL or REFUSED. Default: those of the system.
   */
  servers?: readonly string[] | undefined
  /**
   * Whether to ask a zone's own servers if your resolver says that there is no record. Resolvers remember that answer,
   * often for an hour, so they do not find a record that a customer has just added. Default `false`.
   *
   * - Costs up to three more round trips for a missing record, and needs port 53 to the whole Internet.
   * - The answer is not validated by DNSSEC, even if your resolver validates. So a record counts if two of the zone's
   *   servers have it. A failure of your resolver, such as a failed validation, is never overridden.
   * - Only public addresses are asked: a zone may name any address as its server, such as one in your network.
   * - Only IPv4, and only the servers of the registrable domain. A record in a zone that is delegated below it is found
   *   once your resolver finds it.
   */
  asksZoneServers?: boolean | undefined
  /** How many milliseconds a call may take in total; below the time limit of your calls. Default 10,000. */
  timeLimit?: number | undefined
  /**
   * The maximum number of simultaneous queries of all calls, 1 or more. Teams share them: one team alone has half.
   * Default 100; dnsmasq answers 150 at once.
   */
  atOnce?: number | undefined
  /**
   * Called if your resolver cannot be reached, or if the queries of all calls, about several zones, have failed for a
   * minute; at most once a minute. Default: logs to the console.
   */
  onError?: ((error: Error) => unknown) | undefined
}

type Names = readonly (string | { readonly domain: string })[]

/** What {@link createDnsVerification} returns. */
export interface DnsVerification {
  /** The option `checkNames` of registering and of previews. A zone that fails refuses its own names alone. */
  checkNames: CheckNames
  /**
   * Returns the record that proves a domain and everything below it to be the team's. Its value is the same for all
   * names with the same registrable domain. It never changes, and is not secret: it proves nothing for any other team.
   *
   * @param domain A name, or a wildcard, which stands for its base. To need one record for all names of a customer,
   *   pass the registrable domain.
   * @throws {TypeError} if the domain is not a name that can be registered.
   */
  record(teamId: string, domain: string): Promise<DnsRecord>
  /**
   * Verifies names, registered or not: for rechecks.
   *
   * @param names Hostnames in any spelling, or objects with a `domain`, such as registrations.
   * @returns One verification for each name, in the same order. A failure of the DNS is `unreachable`, not an error.
   * @throws {TypeError} if an argument is invalid.
   * @throws The reason of `signal`, once this signal is aborted.
   */
  verify(
    teamId: string,
    names: Names,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Verification[]>
  /**
   * Transfers registrations of other teams that overlap with the hostnames to the claiming team, if this team can prove
   * them now and the other cannot. If both can, or the DNS of one does not answer, nothing moves. For a wildcard, these
   * are also the registrations below it: delete them before you register the wildcard.
   *
   * Tell the other team first: a record that was removed by mistake is missing too.
   *
   * @param store A bundled store, or one that has the methods `find`, `list` and `transfer`.
   * @returns One result for each hostname, in the same order.
   * @throws {ClaimError} if it fails after some registrations have moved: it has them as `moved`.
   * @throws {ApiError} as for {@link transfer}, such as 403 `domain_limit_reached`, if nothing has moved.
   * @throws {TypeError} if an argument is invalid, or the store lacks a method.
   * @throws The failure of the store, or the reason of `signal`, if nothing has moved.
   */
  claim(
    store: DomainStore,
    teamId: string,
    hostnames: readonly string[],
    options?: ClaimOptions,
  ): Promise<readonly ClaimResult[]>
}

/** Options of `claim`. */
export interface ClaimOptions {
  readonly signal?: AbortSignal | undefined
  /** Called after each step with what has moved, from whom, and its IDs: to tell the other team, and for an audit. */
  readonly onMoved?: ((moved: readonly MovedRegistration[]) => unknown) | undefined
}

const DEFAULT_TIME_LIMIT = 10_000
const QUERY_TIME_LIMIT = 3000
const DEFAULT_AT_ONCE = 100
/** How many names of records are remembered that nothing was found at. */
const MOST_REMEMBERED = 10_000
const SHORTEST_SECRET = 32
/** How many names below a zone a customer's call looks at, so made-up names do not make this server ask a zone much. */
const MOST_BELOW = 10

const isSecret = (secret: unknown) => isText(secret) && secret.length >= SHORTEST_SECRET

const verificationRules: Rules = {
  label: {
    holds: matches(/^_[a-z0-9](?:[a-z0-9-]{0,60}[a-z0-9])?$/),
    expected: 'one label of your own product in lower case, with an underscore first, such as "_example-challenge"',
  },
  secret: {
    holds: secret => isSecret(secret) || (Array.isArray(secret) && secret.length > 0 && secret.every(isSecret)),
    expected: `a string of at least ${SHORTEST_SECRET} characters, or an array of them, the newest first`,
    isSecret: true,
  },
  resolveTxt: {
    holds: (resolve, { servers, asksZoneServers }) =>
      resolve === undefined || (isFunction(resolve) && servers === undefined && !asksZoneServers),
    expected: 'a function that resolves to TXT records, and excludes "servers" and "asksZoneServers"',
  },
  servers: {
    holds: optional(servers => Array.isArray(servers) && servers.length > 0 && servers.every(isText)),
    expected: 'an array of IP addresses, perhaps with a port, such as ["192.0.2.53"]',
  },
  asksZoneServers: booleanRule,
  timeLimit: timeLimitRule,
  atOnce: countRule,
  onError: { holds: optional(isFunction), expected: 'a function that takes an error' },
}

/**
 * Verifies that whoever controls the DNS of a name wants a team to have it: a TXT record at `<label>.<domain>` contains
 * a value that only this server can make, for this team and this registrable domain. The record proves the domain and
 * everything below it. It is looked for at the registrable domain, so one record and one query are enough for any
 * number of names, and then at the name itself and between. Nothing is stored, and nothing expires: the record stays,
 * and removing it shows at the next recheck.
 *
 * This says that at this moment, seen from one place, somebody who may write into the zone wanted the team to have the
 * name. It does not prove ownership, nor anything about tomorrow, and is only as trustworthy as your resolver.
 *
 * | the DNS says | the result of the name | `reason` in a preview |
 * | --- | --- | --- |
 * | the value of the team is there | it is registered | |
 * | there is no such record, or only other values | `invalid_domain`, with the record to add | `not_verified` |
 * | SERVFAIL, REFUSED, or nothing within three seconds | `invalid_domain` | `dns_unreachable` |
 * | (not asked: an IP address) | `invalid_domain` | `not_verifiable` |
 *
 * @throws {TypeError} if an option is missing, invalid or unknown. The message does not show the secret.
 *
 * @example
 * const verification = createDnsVerification({ label: '_example-challenge', secret })
 * app.use(domainsRouter({ store, keys, checkNames: verification.checkNames }))
 */
export function createDnsVerification(options: DnsVerificationOptions): DnsVerification {
  requireOptions(options, verificationRules)
  return createVerification(options, toOpenResolver(options))
}

type OpenResolver = (closed: AbortSignal) => Resolver

function toOpenResolver({ resolveTxt, servers, asksZoneServers }: DnsVerificationOptions): OpenResolver {
  if (resolveTxt) return () => createOwnResolver(resolveTxt)
  const dns = findNodeDns()
  if (!dns) throw new TypeError('This runtime has no "node:dns": pass the option "resolveTxt"')
  // A zone may name any address as that of its server, also one in your network.
  const isAllowed = (address: string) => classifyHostname(address).valid
  const zoneServers = asksZoneServers ? { port: 53, isAllowed } : undefined
  const open: OpenResolver = closed => openNodeResolver(dns, { servers, zoneServers }, closed)
  try {
    open(AbortSignal.abort())
  } catch (cause) {
    throw new TypeError(`The option "servers" must be ${verificationRules.servers?.expected}`, { cause })
  }
  return open
}

/** {@link createDnsVerification}, with servers and a limit that only tests change. */
export function createVerification(
  { label, secret, timeLimit = DEFAULT_TIME_LIMIT, atOnce = DEFAULT_AT_ONCE, onError }: DnsVerificationOptions,
  openResolver: OpenResolver,
  queryTimeLimit = QUERY_TIME_LIMIT,
): DnsVerification {
  const records = createRecords(label, typeof secret === 'string' ? [secret] : secret)
  const log = createFailureLog()
  const shared: Shared = {
    queryTimeLimit,
    turns: createQueryTurns(atOnce),
    memory: createCache(MOST_REMEMBERED),
    watch: createSilenceWatch(failure => {
      if (onError) ignoreErrors(onError)(failure)
      else log(failure, { step: 'asking the DNS' })
    }),
  }
  const settings = { ...shared, records, openResolver, timeLimit }

  async function verifyEach(teamId: string, names: Names, signal: AbortSignal | undefined, mostBelow: number) {
    requireTeamId(teamId)
    const domains = Array.isArray(names) ? names.map(name => (isText(name) ? name : name?.domain)) : [undefined]
    if (!domains.every(isText))
      throw new TypeError('The names must be an array of strings, or of objects with a "domain"')
    return verifyNames(settings, teamId, domains, { signal, mostBelow })
  }
  const verify: DnsVerification['verify'] = async (teamId, names, { signal } = {}) =>
    verifyEach(teamId, names, signal, Number.POSITIVE_INFINITY)

  return {
    async checkNames(names, { team, signal }) {
      return (await verifyEach(team.id, names, signal, MOST_BELOW)).map(toRefusal)
    },
    async record(teamId, domain) {
      requireTeamId(teamId)
      const hostname = classifyHostname(domain)
      if (!hostname.valid) throw new TypeError(hostname.message)
      if (hostname.kind === 'ip') throw new TypeError('A DNS record cannot prove an IP address')
      const { registrableDomain } = hostname
      return records.create(teamId, { domain: baseOf(hostname.domain), registrableDomain })
    },
    verify,
    async claim(store, teamId, hostnames, { signal, onMoved } = {}) {
      requireTeamId(teamId)
      return claimNames((team, domains) => verify(team, domains, { signal }), store, teamId, hostnames, onMoved)
    },
  }
}

/** The value of a record depends on the team's ID as a string. */
function requireTeamId(teamId: unknown): void {
  if (!isText(teamId) || teamId === '') throw new TypeError('The ID of a team must be a string')
}
