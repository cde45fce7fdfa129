import { classifyHostname } from '../hostname/classify.ts'
import { ancestorsOf, baseOf, type Name } from '../rules/name.ts'
import type { DnsRecord } from '../rules/submitted.ts'
import { TimeLimitError } from '../time/deadline.ts'
import { type Ask, createAsk, type Shared } from './ask.ts'
import { findValue, type Records } from './records.ts'
import type { Resolver, Texts } from './resolver.ts'

/** Whether a team can prove a name by a TXT record, as seen now and from here. */
export type Verification = {
  /** The name in canonical form; as it was passed if it is not a hostname. */
  readonly domain: string
} & (
  | {
      readonly status: 'verified'
      /** The name of the record that proves it. */
      readonly at: string
      /** The index of the secret that made its value: during a rotation, 1 is the old one. */
      readonly secret: number
    }
  | {
      /** The DNS says that there is no such record. */
      readonly status: 'missing'
      /** Why it is not found, if that can be seen. */
      readonly mistake?: Mistake | undefined
      /** Whether the zone's own servers say so, which remember nothing; see `asksZoneServers`. */
      readonly isAuthoritative: boolean
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

/**
 * Why a record is not found:
 *
 * - `elsewhere`: the value is at another name.
 * - `alias`: its name is an alias (CNAME), so nothing can be added there.
 * - `wildcard`: what is there comes from a record for all names of the zone; `text` is the first of it.
 * - `other`: there are `count` other texts; `text` is the first of them.
 * - `not_asked`: a call of a customer looks at ten names below a zone, and not at that of the record.
 */
export type Mistake =
  | { readonly kind: 'elsewhere'; readonly at: string }
  | { readonly kind: 'alias'; readonly of: string }
  | { readonly kind: 'wildcard'; readonly text: string }
  | { readonly kind: 'other'; readonly text: string; readonly count: number }
  | { readonly kind: 'not_asked' }

/** How one instance verifies. */
interface VerifySettings extends Shared {
  readonly records: Records
  /** @param closed Aborted at the end of the call. */
  openResolver(closed: AbortSignal): Resolver
  readonly timeLimit: number
}

/** RFC 1035, section 2.3.4, as text without the dot of the root. */
const LONGEST_NAME = 253
const isPossible = (name: string) => name.length <= LONGEST_NAME
/** How many names below a zone may have the record that proves a name: those nearest to the zone. */
const MOST_LEVELS = 10
/** For how many zones of a call it is looked for why the record is missing. */
const MOST_EXPLAINED = 10

interface VerifyOptions {
  readonly signal: AbortSignal | undefined
  /** How many names are looked at below a zone whose own record is missing. */
  readonly mostBelow: number
}

/**
 * Verifies names of a team.
 *
 * @returns One verification for each name, in the same order. What is not answered in time is `unreachable`.
 * @throws The reason of `signal`, if it is aborted.
 */
export async function verifyNames(
  settings: VerifySettings,
  teamId: string,
  texts: readonly string[],
  { signal, mostBelow }: VerifyOptions,
): Promise<readonly Verification[]> {
  signal?.throwIfAborted()
  const { records, timeLimit } = settings
  const ending = new AbortController()
  const leave = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', leave, { once: true })
  const timer = setTimeout(() => ending.abort(new TimeLimitError(`No answer within ${timeLimit} ms`)), timeLimit)
  try {
    const ask = createAsk(settings, settings.openResolver(ending.signal), teamId, ending.signal)
    const names = texts.map(readName)
    const zones = new Map<string, Name[]>()
    for (const name of names) {
      if (!name) continue
      const { registrableDomain: zone } = name
      const inZone = zones.get(zone)
      if (inZone) inZone.push(name)
      else zones.set(zone, [name])
    }
    const verified = await Promise.all(
      [...zones].map(([zone, inZone], index) =>
        verifyZone({ records, ask, teamId, mostBelow, isExplained: index < MOST_EXPLAINED }, zone, inZone),
      ),
    )
    signal?.throwIfAborted()
    const found = new Map(verified.flat().map(each => [each.domain, each]))
    return texts.map((text, index) => {
      const domain = names[index]?.domain ?? text
      return found.get(domain) ?? { domain, status: 'impossible' }
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
    // Closes the resolver, which may still try again what took too long.
    ending.abort()
  }
}

interface Call {
  readonly records: Records
  readonly ask: Ask
  readonly teamId: string
  readonly mostBelow: number
  readonly isExplained: boolean
}

/** What is at the name of a record. */
type Finding =
  | { readonly status: 'verified'; readonly at: string; readonly secret: number }
  | ({ readonly status: 'missing' } & Texts)
  | { readonly status: 'unreachable'; readonly at: string; readonly cause: string }

/**
 * Verifies names of one zone. The zone's own record proves them all, by one query. If it is missing, names below the
 * zone are looked at, whose records prove what is below them.
 */
async function verifyZone(
  { records, ask, teamId, mostBelow, isExplained }: Call,
  zone: string,
  names: readonly Name[],
): Promise<readonly Verification[]> {
  const nameOfZone = records.nameAt(zone)
  if (!isPossible(nameOfZone)) return []

  async function look(at: string): Promise<Finding> {
    const answer = await ask.texts(at, zone)
    if ('cause' in answer) return { status: 'unreachable', at, cause: answer.cause }
    const { texts } = answer.value
    const secret = texts.length === 0 ? -1 : findValue(texts, await records.values(teamId, zone))
    return secret === -1 ? { status: 'missing', ...answer.value } : { status: 'verified', at, secret }
  }

  const own = await look(nameOfZone)
  if (own.status === 'verified') return names.map(({ domain }) => ({ domain, ...own }))
  // The servers of a zone that did not answer in time would not say where the names below it are either.
  const isSilent = own.status === 'unreachable' && own.cause === 'ETIMEOUT'
  const placesOf = (name: Name) => (isSilent ? [] : placesBelow(name).map(records.nameAt).filter(isPossible))
  const places = mostFrequent(names.flatMap(placesOf)).slice(0, mostBelow)
  const below = new Map(await Promise.all(places.map(async at => [at, await look(at)] as const)))
  const record = await records.create(teamId, { domain: zone, registrableDomain: zone })
  const mistake = own.status === 'missing' && isExplained ? await findMistake(ask, record, look, own.texts) : undefined

  return names.map(name => {
    const { domain } = name
    const asked = placesOf(name).map(at => below.get(at))
    const all = [own, ...asked.filter(finding => finding !== undefined)]
    const proof = all.find(({ status }) => status === 'verified')
    if (proof?.status === 'verified') return { domain, ...proof }
    const failure = all.find(({ status }) => status === 'unreachable')
    if (failure?.status === 'unreachable') return { domain, ...failure, record }
    const isAuthoritative = own.status === 'missing' && own.isAuthoritative
    const reason = mistake ?? (asked.includes(undefined) ? ({ kind: 'not_asked' } as const) : undefined)
    return { domain, status: 'missing', ...(reason && { mistake: reason }), isAuthoritative, record }
  })
}

/** Looks for what people do wrong. `texts` is what is at the name of the record. */
async function findMistake(
  ask: Ask,
  { name, host, zone, value }: DnsRecord,
  look: (at: string) => Promise<Finding>,
  texts: readonly string[],
): Promise<Mistake | undefined> {
  // The DNS provider adds the zone by itself; there is no label; the label lacks its underscore.
  const elsewhere = [`${name}.${zone}`, zone, `${host.slice(1)}.${zone}`].filter(isPossible)
  const found = (await Promise.all(elsewhere.map(look))).find(({ status }) => status === 'verified')
  if (found?.status === 'verified') return { kind: 'elsewhere', at: found.at }
  const [text] = texts
  // Nobody adds a record of this name.
  const nobody = `${value}.${zone}`
  if (text !== undefined) {
    const answer = await ask.texts(nobody, zone)
    if ('value' in answer && answer.value.texts.includes(text)) return { kind: 'wildcard', text }
  }
  const of = await ask.alias(name, zone)
  if (of !== undefined && of !== (await ask.alias(nobody, zone))) return { kind: 'alias', of }
  return text === undefined ? undefined : { kind: 'other', text, count: texts.length }
}

/** Reads a name that a record can prove. No zone delegates an address, and nobody owns a public suffix alone. */
function readName(text: string): Name | undefined {
  const hostname = classifyHostname(text)
  return hostname.valid && hostname.kind !== 'ip' ? hostname : undefined
}

/** The domains below the registrable domain whose records prove a name: those above it, and the name or its base. */
function placesBelow({ domain, registrableDomain }: Name): readonly string[] {
  const base = baseOf(domain)
  const above = [base, ...ancestorsOf(base)].filter(({ length }) => length > registrableDomain.length)
  return above.reverse().slice(0, MOST_LEVELS)
}

/** Each text once, those that come most often first. */
function mostFrequent(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).map(([text]) => text)
}
