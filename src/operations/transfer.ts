import { isText, type Rule, requireOptions } from '../options.ts'
import type { DomainStore, TransferFindings } from '../store/contract.ts'
import { type WaitingStore, waitingRule } from '../store/waiting.ts'
import { CALL_TIME_LIMIT, createDeadline } from '../time/deadline.ts'
import { requireActiveTeam, requireMethod } from './call.ts'
import { eachPageHeld } from './each-registration.ts'
import { findLimitError } from './limit.ts'

/** Options of {@link transfer}. */
export interface TransferOptions {
  /** The ID of the team that has registered the names. The team may no longer exist. */
  readonly from: string
  /** The ID of the team that gets the names. The team must exist and be active. */
  readonly to: string
  /**
   * At most 1,000 names or values of `domainId`. Default: all registrations of the team. An explicit `undefined` is
   * rejected.
   */
  readonly domains?: readonly string[]
}

/** A registration that was transferred. */
export interface Transferred {
  readonly domain: string
  /** Its previous ID, which is never used again. */
  readonly formerId: string
  /** Its new ID. */
  readonly domainId: string
}

/**
 * Transfers registrations from one team to another. At every moment, each name belongs to exactly one team. Each
 * registration gets a new `domainId`: an ID never passes to another team, so no alert for one team reaches another
 * team. The new ID is pushed to the monitor before the release of the former ID.
 *
 * With `domains`, the transfer is one atomic step, and skips names that `from` has not registered. Without `domains`,
 * all registrations that `from` has when the call begins are transferred by their IDs, in steps of 1,000. If a step
 * fails, the registrations of earlier steps stay transferred: call again to transfer the rest. In PostgreSQL, the
 * transfer can be part of your own transaction.
 *
 * @param store A bundled store, or one that has the method `transfer`. Without `domains`, the store also needs `list`;
 *   if the receiving team has `maxDomains`, it also needs `count`.
 * @returns The transferred registrations, in any order.
 * @throws {ApiError} 404 `team_not_found` or 403 `team_suspended` for the receiving team. 403 `domain_limit_reached` if
 *   the transfer would exceed the `maxDomains` of that team. With this 403, nothing was transferred, unless the
 *   receiving team registered names during the call: then the registrations of earlier steps stay transferred. 500
 *   `internal_error` if the team cannot be looked up, or the store cannot count.
 * @throws {TypeError} if the store has no `transfer`, if an option is invalid or unknown, if there are more than 1,000
 *   `domains`, or if both teams are the same.
 * @throws The failure of the store.
 *
 * @example
 * const transferred = await transfer(store, { from: '7', to: '1' })
 * transferred[0] // { domain: 'www.example.com', formerId: '0199…', domainId: '019a…' }
 */
export async function transfer(store: DomainStore, options: TransferOptions): Promise<readonly Transferred[]> {
  const team = { holds: isText, expected: 'the ID of a team, a string' }
  // An application whose own lookup of the names failed may pass `undefined` as `domains`. This mistake must not
  // transfer all registrations.
  const domainsRule: Rule = {
    holds: (value, options) => Array.isArray(value) || !('domains' in options),
    expected: 'an array of strings',
  }
  requireOptions(options, { from: team, to: team, domains: domainsRule })
  const { from, domains } = options
  const transferSome = requireMethod(store, 'transfer')
  const keyContext = { type: 'team', teamId: options.to, scopes: [] } as const
  const { id: to, maxDomains } = await requireActiveTeam(options.to, keyContext, store, createDeadline(CALL_TIME_LIMIT))
  if (from === to) throw new TypeError('The options "from" and "to" must be different teams')
  const needsCount = typeof maxDomains === 'number'
  const findError = (teamCount: number | undefined, added: number) =>
    needsCount ? findLimitError(maxDomains, teamCount, added) : null
  const total: Transferred[] = []

  async function transferStep(domains: readonly string[]): Promise<void> {
    const judge = (found: TransferFindings) => findError(found.teamCount, found.registrations.length)
    const decide = (found: TransferFindings) => judge(found) === null
    const { found, saved } = await transferSome({ from, to, domains, needsCount, decide })
    const limitError = found.registrations.length > 0 && judge(found)
    if (limitError) throw limitError
    for (const [index, { domain, domainId: formerId }] of found.registrations.entries()) {
      const domainId = saved[index]?.domainId
      if (domainId !== undefined) total.push({ domain, formerId, domainId })
    }
  }

  if (domains) await transferStep(domains)
  else {
    if (needsCount) {
      const count = requireMethod(store, 'count')
      const limitError = findError(await count({ teamId: to }), await count({ teamId: from }))
      if (limitError) throw limitError
    }
    for await (const page of eachPageHeld(store, from)) await transferStep(page.map(({ domainId }) => domainId))
  }
  return total
}

/**
 * Releases all registrations that a team has when the call begins, in steps of 1,000. Use this function when a team
 * leaves. Other teams can then register the names, and the next sweep pushes the releases to the monitor. If a step
 * fails, the registrations of earlier steps stay released: call again to release the rest.
 *
 * @param store A bundled store, or one that has the methods `list` and `release`.
 * @param teamId The ID of the team, which may no longer exist. Suspend the team first: names that the team registers in
 *   the meantime stay registered.
 * @param options `waiting`: the store of the names that wait. Without it, the team's names there would be registered
 *   later, unless the team is suspended.
 * @returns How many registrations were released.
 * @throws {TypeError} if the store has no `list` or no `release`, or if the ID is not a string.
 * @throws The failure of the store.
 *
 * @example
 * await releaseAll(store, '7') // 2150
 */
export async function releaseAll(
  store: DomainStore,
  teamId: string,
  options: { readonly waiting?: WaitingStore | undefined } = {},
): Promise<number> {
  requireOptions(options, { waiting: waitingRule })
  const { waiting } = options
  const release = requireMethod(store, 'release')
  if (!isText(teamId)) throw new TypeError('The ID of a team must be a string')
  if (waiting) {
    const names = await waiting.list(teamId)
    await waiting.remove(
      teamId,
      names.map(({ domain }) => domain),
    )
  }
  let total = 0
  for await (const page of eachPageHeld(store, teamId)) {
    total += (
      await release(
        teamId,
        page.map(({ domainId }) => domainId),
      )
    ).length
  }
  return total
}
