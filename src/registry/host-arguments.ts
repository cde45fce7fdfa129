import { describe, isFunction, optional, type Rules, requireOptions } from '../options.ts'
import { DEFAULT_PAGE_SIZE, type ListOptions, type SweepOptions } from './store.ts'

/*
 * Checks of what a host passes to the methods of a bundled store. A host may call them without types. A misspelled
 * `teamId` would list the registrations of all teams, and a number in place of a team's ID would release nothing.
 */

const isText = (value: unknown): boolean => typeof value === 'string'

const countRule = {
  holds: optional(value => Number.isSafeInteger(value) && (value as number) >= 0),
  expected: 'an integer from 0',
}

const listRules: Rules = {
  teamId: { holds: optional(isText), expected: 'the ID of a team, a string' },
  after: { holds: optional(isText), expected: 'the "domainId" of the last registration of the page before' },
  limit: countRule,
}

const sweepRules: Rules = {
  limit: countRule,
  onError: { holds: optional(isFunction), expected: 'a function that takes an error and a change' },
}

/** @throws {TypeError} */
export function readListOptions(options: ListOptions = {}) {
  requireOptions(options, listRules)
  const { teamId, after, limit = DEFAULT_PAGE_SIZE } = options
  return { teamId, after, limit }
}

/** @throws {TypeError} */
export function requireSweepOptions(options: SweepOptions): void {
  requireOptions(options, sweepRules)
}

/** @throws {TypeError} */
export function requireRelease(teamId: string, domains: readonly string[]): void {
  if (!isText(teamId)) throw new TypeError(`The ID of a team must be a string; it is ${describe(teamId)}`)
  if (!Array.isArray(domains))
    throw new TypeError(`The domains must be a list of strings; they are ${describe(domains)}`)
}
