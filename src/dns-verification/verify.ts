import { classifyHostname } from '../hostname/classify.ts'
import { ancestorsOf, baseOf, type Name } from '../rules/name.ts'
import type { DnsRecord } from '../rules/submitted.ts'
import { TimeLimitError } from '../time/deadline.ts'
import { type Ask, createAsk } from './ask.ts'
import type { Records } from './records.ts'
import type { Resolver } from './resolver.ts'

/** Whether a team can prove a name by a TXT record, as seen now and from here. */
export type Verification = {
  /** The name in canonical form; as it was passed if it is not a hostname. */
  readonly domain: string
} & (
  | {
      readonly status: 'verified'
      /** The name of the record that proves it. */
      readonly at: string
    }
  | {
      /** The DNS says that there is no such record. */
      readonly status: 'missing'
      /** How many other values are at the name of `record`. */
      readonly found: number
      /** Whether the value is at a name that ends in the domain twice: the DNS provider appends it by itself. */
      readonly doubled: boolean
      /** Until when resolvers may remember that there is no such record, if the zone says so. */
      readonly rememberedUntil?: Date | undefined
      /** The record to add. */
      readonly record: DnsRecord
    }
  | {
      /** The DNS did not say whether there is such a record. */
      readonly status: 'unreachable'
      /** The name of the record that could not be asked for. */
      readonly at: string
      /** Why, as a code of `node:dns`: `ESERVFAIL`, `ETIMEOUT`. */
      readonly cause: string
      /** The record to add, if it is not there. */
      readonly record: DnsRecord
    }
  | {
      /** No record can prove this: it is an IP address, not a hostname, or too long with the label. */
      readonly status: 'impossible'
    }
)

/** How one instance verifies. */
export interface VerifySettings {
  readonly records: Records
  /** @param closed Aborted at the end of the call. */
  openResolver(closed: AbortSignal): Resolver
  readonly timeLimit: number
  readonly queryTimeLimit: number
  readonly atOnce: number
  /** Called if nobody answered any query of a call: the zones of a call do not all fail at once. */
  report(failure: Error, teamId: string, count: number): void
}

/** The record of the registrable domain comes first, then those of two levels below it, and of the name itself. */
const MOST_LEVELS = 4
/** RFC 1035, section 2.3.4, as text without the dot of the root. */
const LONGEST_NAME = 253
const isPossible = (name: string) => name.length <= LONGEST_NAME
/** The negative TTL of a zone is asked for only while a call has made fewer queries than this. */
const MOST_QUERIES = 500
/** For how many seconds resolvers remember at most that there is no such record (RFC 2308, section 5). */
const LONGEST_NEGATIVE_TTL = 3 * 3600

/**
 * Verifies names of a team.
 *
 * @returns One verification for each name, in the same order. What is not answered in time is `unreachable`.
 * @throws The reason of `signal`, if it is aborted.
 */
export async function verifyNames(
  settings: VerifySettings,
  teamId: string,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly Verification[]> {
  signal?.throwIfAborted()
  const { timeLimit, report } = settings
  const call = new AbortController()
  const leave = () => call.abort(signal?.reason)
  signal?.addEventListener('abort', leave, { once: true })
  const timer = setTimeout(() => call.abort(new TimeLimitError(`No answer within ${timeLimit} ms`)), timeLimit)
  try {
    const ask = createAsk(settings.openResolver(call.signal), { ...settings, signal: call.signal })
    const verifications = await verifyAll(settings.records, ask, teamId, names)
    signal?.throwIfAborted()
    const failure = ask.failure()
    if (failure) report(failure, teamId, names.length)
    return verifications
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
    // Closes the resolver, which may still try again what took too long.
    call.abort()
  }
}

/** What is at the name of the record of one domain. */
type Finding =
  | { readonly status: 'verified'; readonly at: string }
  | { readonly status: 'missing'; readonly found: number }
  | { readonly status: 'unreachable'; readonly at: string; readonly cause: string }

async function verifyAll(
  records: Records,
  ask: Ask,
  teamId: string,
  names: readonly string[],
): Promise<readonly Verification[]> {
  const findings = new Map<string, Promise<Finding>>()

  async function look(domain: string, zone: string): Promise<Finding> {
    const at = records.nameAt(domain)
    const answer = await ask.texts(at, zone)
    if ('cause' in answer) return { status: 'unreachable', at, cause: answer.cause }
    const isThere = await records.haveValue(answer.value, teamId, domain)
    return isThere ? { status: 'verified', at } : { status: 'missing', found: answer.value.length }
  }

  function find(domain: string, zone: string): Promise<Finding> {
    const finding = findings.get(domain) ?? look(domain, zone)
    findings.set(domain, finding)
    return finding
  }

  async function findProof([top, ...below]: readonly string[], zone: string): Promise<Finding> {
    const first = await find(top as string, zone)
    // The servers of a zone that did not answer in time would not say where the names below it are either.
    if (first.status === 'verified' || (first.status === 'unreachable' && first.cause === 'ETIMEOUT')) return first
    const all = [first, ...(await Promise.all(below.map(domain => find(domain, zone))))]
    return (
      all.find(({ status }) => status === 'verified') ?? all.find(({ status }) => status === 'unreachable') ?? first
    )
  }

  async function verify(text: string): Promise<Verification> {
    const name = readName(text)
    const domain = name?.domain ?? text
    const levels = name ? levelsOf(name).filter(level => isPossible(records.nameAt(level))) : []
    if (!name || levels.length === 0) return { domain, status: 'impossible' }
    const zone = name.registrableDomain
    const finding = await findProof(levels, zone)
    if (finding.status === 'verified') return { domain, ...finding }
    const record = await records.create(teamId, { domain: zone, registrableDomain: zone })
    return finding.status === 'missing'
      ? { domain, ...finding, doubled: false, record }
      : { domain, ...finding, record }
  }

  /** Says more about what is missing. Asks about each zone once. */
  async function explain(verifications: readonly Verification[]): Promise<readonly Verification[]> {
    const zones = [...new Set(verifications.flatMap(each => (each.status === 'missing' ? each.record.zone : [])))]
    const doubled = new Set((await Promise.all(zones.map(async zone => ((await isDoubled(zone)) ? zone : [])))).flat())
    const others = zones.filter(zone => !doubled.has(zone)).slice(0, Math.max(0, MOST_QUERIES - ask.count()))
    const times = new Map(await Promise.all(others.map(async zone => [zone, await rememberedUntil(zone)] as const)))
    return verifications.map(each => {
      if (each.status !== 'missing') return each
      const { zone } = each.record
      return { ...each, doubled: doubled.has(zone), rememberedUntil: times.get(zone) }
    })
  }

  async function isDoubled(zone: string): Promise<boolean> {
    const name = `${records.nameAt(zone)}.${zone}`
    if (!isPossible(name)) return false
    const answer = await ask.texts(name, zone)
    return 'value' in answer && records.haveValue(answer.value, teamId, zone)
  }

  async function rememberedUntil(zone: string): Promise<Date | undefined> {
    const answer = await ask.negativeTtl(zone)
    const seconds = 'value' in answer ? Math.min(answer.value, LONGEST_NEGATIVE_TTL) : 0
    return seconds > 0 ? new Date(Date.now() + 1000 * seconds) : undefined
  }

  return explain(await Promise.all(names.map(verify)))
}

/** Reads a name that a record can prove. No zone delegates an address, and nobody owns a public suffix alone. */
function readName(text: string): Name | undefined {
  const hostname = classifyHostname(text)
  return hostname.valid && hostname.kind !== 'ip' ? hostname : undefined
}

/** The domains whose records prove a name, at most four: those above it, and the name itself or its base. */
function levelsOf({ domain, registrableDomain }: Name): readonly string[] {
  const base = baseOf(domain)
  const below = [base, ...ancestorsOf(base)].filter(({ length }) => length > registrableDomain.length).reverse()
  const levels = [registrableDomain, ...below]
  return levels.length <= MOST_LEVELS ? levels : [...levels.slice(0, MOST_LEVELS - 1), base]
}
