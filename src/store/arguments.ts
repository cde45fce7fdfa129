import { describe, isText, optional, type Rule, type Rules, requireOptions } from '../options.ts'
import { onErrorRule, type SweepOptions } from '../outbox/contract.ts'
import { isWildcard, type Name } from '../rules/name.ts'
import type { Team } from '../rules/registration.ts'
import { toName } from '../rules/submitted.ts'
import { InvalidCursorError, type ListOptions, MOST_AT_ONCE } from './contract.ts'

/*
 * Checks the arguments that your application passes to the methods of a bundled store, and the teams that it returns.
 * Without these checks, an application that does not use TypeScript could list the registrations of all teams by
 * misspelling `teamId`, or release nothing by passing a number as the ID of a team.
 */

/** Checked {@link ListOptions}, with canonical names. */
export interface ListPage {
  readonly teamId: string | undefined
  /** With `below`, a canonical name. Otherwise a `domainId`, as returned by {@link StoreBackend.toDomainId}. */
  readonly after: string | undefined
  readonly limit: number
  readonly order: 'oldest' | 'newest'
  readonly domain: string | undefined
  readonly below: string | undefined
}

/**
 * Whether a registration matches the team and the cursor of a page without "below". Callers filter by name themselves.
 */
export const isOnPage = (
  { teamId, after, order }: ListPage,
  registration: { readonly teamId: string; readonly domainId: string },
): boolean =>
  (teamId === undefined || registration.teamId === teamId) &&
  (after === undefined || (order === 'oldest' ? registration.domainId > after : registration.domainId < after))

/** Reads an ID from a string, and returns it in the store's own form; `null` if the string cannot be an ID. */
export type ToDomainId = (text: string) => string | null

/** For stores whose IDs are UUIDs (RFC 9562, section 4), which are compared as lower-case strings. */
export const toUuid: ToDomainId = text =>
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) ? text.toLowerCase() : null

const isHostname = (value: unknown): boolean => isText(value) && toName(value) !== null

const isBase = (value: unknown): boolean => isHostname(value) && !isWildcard(String(value).trim())

const teamIdRule: Rule = {
  // The application may pass `undefined` because its own lookup of the team failed. Such a call must not list the
  // registrations of all teams.
  holds: (value, options) => isText(value) || !('teamId' in options),
  expected: 'the ID of a team, a string',
}
const afterChangeRule: Rule = {
  holds: optional(isText),
  expected: 'the "domainId" of the last change of the previous page',
}
const afterRule: Rule = {
  holds: optional(isText),
  expected: 'the "domainId" of the last registration of the previous page, or with "below" its "domain"',
}
const limitRule: Rule = {
  holds: optional(value => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MOST_AT_ONCE),
  expected: `an integer from 0 to ${MOST_AT_ONCE}`,
}

const domainIdsRule = {
  holds: (value: unknown) => Array.isArray(value) && value.length <= MOST_AT_ONCE && value.every(isText),
  expected: `an array of at most ${MOST_AT_ONCE} values of domainId`,
}

const listRules: Rules = {
  teamId: teamIdRule,
  after: afterRule,
  limit: { ...limitRule, expected: `${limitRule.expected}; eachRegistration() lists more, page by page` },
  order: {
    holds: (value, { below }) =>
      value === undefined || (below === undefined && (value === 'oldest' || value === 'newest')),
    expected: '"oldest" or "newest", and not with "below"',
  },
  domain: { holds: optional(isHostname), expected: 'a hostname' },
  below: { holds: optional(isBase), expected: 'a hostname that is not a wildcard' },
}

/** @throws {TypeError} */
export function readListOptions(options: ListOptions = {}, toDomainId: ToDomainId): ListPage {
  requireOptions(options, listRules)
  const { teamId, after, limit = MOST_AT_ONCE, order = 'oldest', domain, below } = options
  if (domain !== undefined && below !== undefined)
    throw new TypeError('The options "domain" and "below" cannot be combined')
  return {
    teamId,
    after: readCursor(after, afterRule, below === undefined ? toDomainId : toCanonical),
    limit,
    order,
    domain: toCanonical(domain),
    below: toCanonical(below),
  }
}

/** @throws {InvalidCursorError} */
function readCursor(
  after: string | undefined,
  { expected }: Rule,
  read: (text: string) => string | null | undefined,
): string | undefined {
  if (after === undefined) return undefined
  const cursor = read(after)
  if (isText(cursor)) return cursor
  throw new InvalidCursorError(`The option "after" must be ${expected}; it is ${describe(after)}`)
}

const toCanonical = (text: string | undefined) => (text === undefined ? undefined : toName(text)?.domain)

/** @throws {TypeError} */
export function readCountOptions(options: Pick<ListOptions, 'teamId'> = {}) {
  requireOptions(options, { teamId: teamIdRule })
  return options
}

/** @throws {TypeError} */
export function readPendingOptions(options: Pick<ListOptions, 'after' | 'limit'> = {}, toDomainId: ToDomainId) {
  requireOptions(options, { after: afterChangeRule, limit: limitRule })
  const { after, limit = MOST_AT_ONCE } = options
  return { after: readCursor(after, afterChangeRule, toDomainId), limit }
}

/**
 * Reads which changes to retry; `undefined` means all. Skips strings that are not IDs. An ID without a pending change
 * has no effect.
 *
 * @throws {TypeError}
 */
export function readRetryOptions(
  options: { readonly domainIds?: readonly string[] | undefined } = {},
  toDomainId: ToDomainId,
): readonly string[] | undefined {
  requireOptions(options, { domainIds: { ...domainIdsRule, holds: optional(domainIdsRule.holds) } })
  return options.domainIds && toDomainIds(options.domainIds, toDomainId)
}

/** @throws {TypeError} */
export function readSettleOptions(options: { readonly domainIds: readonly string[] }, toDomainId: ToDomainId) {
  // Required: if the option is misspelled, not every change must be settled.
  requireOptions(options, { domainIds: domainIdsRule })
  return toDomainIds(options.domainIds, toDomainId)
}

const toDomainIds = (texts: readonly string[], toDomainId: ToDomainId): readonly string[] => [
  ...new Set(texts.map(toDomainId).filter(domainId => domainId !== null)),
]

/** @throws {TypeError} */
export function readSweepOptions(options: SweepOptions = {}) {
  requireOptions(options, {
    limit: limitRule,
    onError: onErrorRule,
    signal: { holds: optional(value => value instanceof AbortSignal), expected: 'an AbortSignal' },
  })
  const { limit = MOST_AT_ONCE, onError, signal } = options
  return { limit, onError, signal }
}

/** @throws {TypeError} */
export function readDomainId(text: string, toDomainId: ToDomainId): string | null {
  if (!isText(text)) throw new TypeError(`The ID of a registration must be a string; it is ${describe(text)}`)
  return toDomainId(text)
}

/**
 * Reads which registrations to release or transfer. Skips strings that are neither hostnames nor IDs. A name that the
 * team has not registered has no effect.
 *
 * @throws {TypeError}
 */
export function readRelease(teamId: string, domains: readonly string[], toDomainId: ToDomainId): ReleaseKeys {
  if (!isText(teamId)) throw new TypeError(`The ID of a team must be a string; it is ${describe(teamId)}`)
  if (!Array.isArray(domains) || !domains.every(isText))
    throw new TypeError(`The domains must be an array of strings; they are ${describe(domains)}`)
  if (domains.length > MOST_AT_ONCE)
    throw new TypeError(`At most ${MOST_AT_ONCE} domains are accepted at once; there are ${domains.length}. Split them`)
  const names = new Map<string, Name>()
  const domainIds = new Set<string>()
  for (const text of domains) {
    const name = toName(text)
    const domainId = name ? null : toDomainId(text)
    if (name) names.set(name.domain, name)
    else if (domainId !== null) domainIds.add(domainId)
  }
  return { names: [...names.values()], domainIds: [...domainIds] }
}

/** The registrations to release or transfer, by name or by `domainId`. */
export interface ReleaseKeys {
  readonly names: readonly Name[]
  readonly domainIds: readonly string[]
}

/**
 * Checks a team of the application, and turns its IDs into strings. Without these checks, a team in state "ACTIVE"
 * would count as suspended, and a limit passed as a string would not apply.
 *
 * @param found The words that introduce the invalid value in the message, such as "findTeam returned".
 * @throws {TypeError}
 */
export function toTeam(team: Team<string | number>, found = 'it is'): Team {
  const { id, organizationId, state, maxDomains } = team
  const wrong = Object.entries({ id, organizationId }).find(([, value]) => !isId(value))
  if (wrong)
    throw new TypeError(
      `The "${wrong[0]}" of a team must be a non-empty string or a safe integer; ${found} ${describe(wrong[1])}`,
    )
  if (state !== 'active' && state !== 'suspended')
    throw new TypeError(`The "state" of a team must be "active" or "suspended"; ${found} ${describe(state)}`)
  // Rejects strings, because a driver may return a limit from a bigint column as a string.
  if (!(maxDomains === undefined || maxDomains === null || (Number.isSafeInteger(maxDomains) && maxDomains >= 0)))
    throw new TypeError(
      `The "maxDomains" of a team must be an integer of at least 0, or null for none; ${found} ${describe(maxDomains)}`,
    )
  return { ...team, id: String(id), organizationId: String(organizationId) }
}

const isId = (value: unknown) => (isText(value) && value !== '') || (Number.isSafeInteger(value) && Number(value) >= 0)
