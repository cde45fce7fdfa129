import { createRegistrationRequest } from '../operations/create-request.ts'
import { registerDomains } from '../operations/register-domains.ts'
import { baseOf, isWildcard, type Name } from '../rules/name.ts'
import { judgeAll, type Verdict } from '../rules/overlap.ts'
import type { LookUpResult, Registration } from '../rules/registration.ts'
import { createUuidGenerator } from '../runtime/uuid.ts'
import type { RegistrationRequest } from '../store/contract.ts'
import { CALL_TIME_LIMIT } from '../time/deadline.ts'
import type { DomainResult, InvalidCode } from '../wire/results.ts'
import { checkThat, UnmetExpectation } from './check.ts'
import type { SuiteStore } from './suite-store.ts'

/** The status of a result, or its code if it is invalid. */
export type ResultCode = 'created' | 'existing' | InvalidCode

/**
 * Makes a name whose registrable domain is its last two labels, as for names below `.com`. `domain` need not be a
 * hostname.
 */
export const toTestName = (domain: string): Name => ({
  domain,
  registrableDomain: domain.split('.').slice(-2).join('.'),
})

const createId = createUuidGenerator()

/** Makes a registration of team 1, as an import gives it to a store. */
export const toTestRegistration = (domain: string, more: Partial<Registration> = {}): Registration => ({
  ...toTestName(domain),
  domainId: createId(),
  teamId: '1',
  createdAt: new Date('2026-01-02T03:04:05.006Z'),
  synchronized: true,
  ...more,
})

export const toDomains = (names: readonly { readonly domain: string }[]) => names.map(({ domain }) => domain)

/** Compares by domain, for results whose order a store may choose. */
export const byDomain = (one: { readonly domain: string }, other: { readonly domain: string }) =>
  one.domain < other.domain ? -1 : 1

/** Makes names that share no registrable domain. */
export const manyDomains = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `${prefix}n${index}.com`)

/** Returns a method that belongs to a declared feature of the store. If the store lacks the method, the case fails. */
export function methodOf<Method extends keyof SuiteStore>(
  store: SuiteStore,
  method: Method,
): NonNullable<SuiteStore[Method]> {
  const found = store[method]
  if (typeof found !== 'function') throw new UnmetExpectation(`expected a method ${method}, got none`)
  return found.bind(store) as NonNullable<SuiteStore[Method]>
}

/** Makes a request with these lookups, in the form that the core uses. */
export function createRequest(
  teamId: string,
  names: readonly Name[],
  bases: readonly string[],
  decide: RegistrationRequest['decide'],
): RegistrationRequest {
  const registrableDomains = [...names, ...bases.map(toTestName)].map(name => name.registrableDomain)
  return {
    teamId,
    registrableDomains: [...new Set(registrableDomains)].sort(),
    domains: toDomains(names),
    bases,
    timeLimit: CALL_TIME_LIMIT,
    decide,
  }
}

/** Registers names without applying the overlap rules. */
export async function save(
  store: SuiteStore,
  teamId: string,
  submitted: readonly (string | Name)[],
): Promise<readonly Registration[]> {
  const names = submitted.map(name => (typeof name === 'string' ? toTestName(name) : name))
  const bases = toDomains(names).filter(isWildcard).map(baseOf)
  const { saved } = await store.register(createRequest(teamId, names, bases, () => names))
  return saved
}

/**
 * Looks up the given names, and all names below the given bases (wildcards without `*.`), without registering anything.
 * The registrations that were found are in the order of the lookups.
 */
export async function lookUp(
  store: SuiteStore,
  teamId: string,
  domains: readonly string[],
  bases: readonly string[] = [],
): Promise<LookUpResult> {
  let found: LookUpResult | undefined
  await store.register(
    createRequest(teamId, domains.map(toTestName), bases, latest => {
      found = latest
      return []
    }),
  )
  if (!found) throw new UnmetExpectation('expected a call of decide, got none')
  return inOrderOf(domains, found)
}

/** Looks up names like {@link lookUp}, and returns those that are registered. */
export const findDomains = async (...question: Parameters<typeof lookUp>) =>
  toDomains((await lookUp(...question)).registrations)

/** Returns how many registrations a team has, as counted by `register`. Registers nothing. */
export async function countOfTeam(store: SuiteStore, teamId: string): Promise<number | undefined> {
  const { found } = await store.register({ ...createRequest(teamId, [], [], () => []), needsCount: true })
  return found.teamCount
}

/** Sorts registrations, which a store may return in any order, in the order of `domains`. */
export function inOrderOf(domains: readonly string[], found: LookUpResult): LookUpResult {
  checkThat('a list of registrations was found', Array.isArray(found.registrations), found.registrations)
  const position = new Map(domains.map((domain, index) => [domain, index]))
  const rank = ({ domain }: Registration) => position.get(domain) ?? -1
  return { ...found, registrations: found.registrations.toSorted((one, other) => rank(one) - rank(other)) }
}

interface AttemptedCall {
  readonly codes: readonly ResultCode[]
  readonly found: LookUpResult
  readonly saved: readonly Registration[]
}

/** Calls `register` once with the rules of the core, but without the core's retries. */
export async function attempt(store: SuiteStore, teamId: string, domains: readonly string[]): Promise<AttemptedCall> {
  const names = domains.map(toTestName)
  const { found, saved } = await store.register(
    createRegistrationRequest({ teamId, submitted: names, timeLimit: CALL_TIME_LIMIT }),
  )
  return { codes: judgeAll(teamId, names, found).map(toCode), found, saved }
}

/**
 * Registers hostnames as a caller does, through the core.
 *
 * @throws {ApiError} if the whole call fails.
 * @throws The error of the store, if a result is `internal_error`.
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

/** Registers hostnames through the core, and returns the code of each result. */
export const submitForCodes = async (store: SuiteStore, teamId: string, domains: readonly string[]) =>
  (await submit(store, teamId, domains)).map(toCode)

const toCode = (verdict: Verdict | DomainResult): ResultCode =>
  verdict.status === 'invalid' ? verdict.code : verdict.status
