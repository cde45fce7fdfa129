import { registerDomains } from '../register-domains.ts'
import { baseOf, isWildcard, type Name } from '../registry/name.ts'
import type { Verdict } from '../registry/overlap.ts'
import { createRegistrationRequest, judgeAll } from '../registry/request.ts'
import type { Found, Registration, RegistrationRequest } from '../registry/store.ts'
import type { DomainResult, InvalidCode } from '../wire/response.ts'
import { UnmetExpectation } from './check.ts'
import type { SuiteStore } from './suite-store.ts'

/** What became of a name, in one word. */
export type Fate = 'created' | 'existing' | InvalidCode

/**
 * A name whose registrable domain is its last two labels, as below `.com`. Any text will do: it need not be a hostname.
 */
export const toName = (domain: string): Name => ({ domain, registrableDomain: domain.split('.').slice(-2).join('.') })

export const toDomains = (names: readonly { readonly domain: string }[]) => names.map(({ domain }) => domain)

/** `count` names, each in a registrable domain of its own. */
export const manyDomains = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `${prefix}n${index}.com`)

/** A request for just these look-ups, such as the core makes. */
export function createRequest(
  teamId: string,
  names: readonly Name[],
  wildcardBases: readonly Name[],
  decide: RegistrationRequest['decide'],
): RegistrationRequest {
  const registrableDomains = [...new Set([...names, ...wildcardBases].map(name => name.registrableDomain))].sort()
  return { teamId, registrableDomains, names, wildcardBases, decide }
}

/** Registers names, whatever stands in their way. */
export async function save(
  store: SuiteStore,
  teamId: string,
  submitted: readonly (string | Name)[],
): Promise<readonly Registration[]> {
  const names = submitted.map(name => (typeof name === 'string' ? toName(name) : name))
  const bases = names.filter(isWildcard).map(name => ({ ...name, domain: baseOf(name) }))
  const { saved } = await store.register(createRequest(teamId, names, bases, () => names))
  return saved
}

/**
 * Looks up names, and what is below bases, and registers nothing. What was found is put in the order of the look-ups.
 */
export async function lookUp(
  store: SuiteStore,
  teamId: string,
  submitted: readonly (string | Name)[],
  submittedBases: readonly (string | Name)[] = [],
): Promise<Found> {
  const [names, bases] = [submitted, submittedBases].map(list =>
    list.map(name => (typeof name === 'string' ? toName(name) : name)),
  ) as [Name[], Name[]]
  let found: Found | undefined
  await store.register(
    createRequest(teamId, names, bases, latest => {
      found = latest
      return []
    }),
  )
  if (!found) throw new UnmetExpectation('expected a call of decide, got none')
  const position = new Map(names.map(({ domain }, index) => [domain, index]))
  const rank = ({ domain }: Registration) => position.get(domain) ?? -1
  return { ...found, registrations: [...found.registrations].sort((one, other) => rank(one) - rank(other)) }
}

export interface Attempt {
  readonly fates: readonly Fate[]
  readonly found: Found
  readonly saved: readonly Registration[]
}

/** One call of `register` with the rules of the core: what the core would make of these names, without its retries. */
export async function attempt(store: SuiteStore, teamId: string, domains: readonly string[]): Promise<Attempt> {
  const names = domains.map(toName)
  const { found, saved } = await store.register(createRegistrationRequest(teamId, names))
  return { fates: judgeAll(teamId, names, found).map(toFate), found, saved }
}

/**
 * Registers hostnames as a caller does, through the core.
 *
 * @throws {ApiError} when the call fails as a whole.
 * @throws what the store failed with, where a result would be `internal_error`.
 */
export async function submit(
  store: SuiteStore,
  teamId: string,
  domains: readonly string[],
): Promise<readonly DomainResult[]> {
  const keyContext = { type: 'team', teamId, scopes: ['domains:create'] } as const
  const failures: unknown[] = []
  const { data } = await registerDomains(keyContext, { domains }, store, { onError: cause => failures.push(cause) })
  for (const cause of failures) throw cause
  return data.results
}

/** What becomes of hostnames that are registered through the core. */
export const submitForFates = async (store: SuiteStore, teamId: string, domains: readonly string[]) =>
  (await submit(store, teamId, domains)).map(toFate)

const toFate = (verdict: Verdict | DomainResult): Fate => (verdict.status === 'invalid' ? verdict.code : verdict.status)
