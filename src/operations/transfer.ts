import { isText, optional, requireOptions } from '../options.ts'
import { findExcess } from '../registry/limit.ts'
import type { DomainStore, TransferFindings } from '../registry/store.ts'
import { CALL_TIME_LIMIT, createDeadline } from '../time/deadline.ts'
import { requireMethod } from './ask-store.ts'
import { eachPageHeld } from './each-registration.ts'
import { requireActiveTeam } from './team.ts'

/** What to {@link transfer}. */
export interface TransferOptions {
  /** The ID of the team that has registered the names. It need not exist any more. */
  readonly from: string
  /** The ID of the team that gets them. It must exist and be active. */
  readonly to: string
  /** At most 1,000 names or values of `domainId`. Default: all that the team has registered. */
  readonly domains?: readonly string[] | undefined
}

/** A registration that was transferred. */
export interface Transferred {
  readonly domain: string
  /** Its ID until now, which is never used again. */
  readonly formerId: string
  /** Its ID from now on. */
  readonly domainId: string
}

/**
 * Transfers registrations from one team to another. No name is free in between, and none belongs to both. Each gets
 * a new `domainId`, since an ID always belongs to one team: no alert of one team reaches another. The monitor gets the
 * new ID before it is told to forget the former one.
 *
 * With `domains` it is one atomic step; names that `from` has not registered are passed over. Without, it transfers
 * what `from` has registered when it begins, in steps of 1,000. If one of these fails, those before it stay
 * transferred: call again for the rest. In PostgreSQL it can be part of your own transaction.
 *
 * @param store A bundled store, or one that has the method `transfer`; without `domains` also `list` and, for a team
 *   with `maxDomains`, `count`.
 * @returns What was transferred, in any order.
 * @throws {ApiError} 404 `team_not_found` and 403 `team_suspended` for the team `to`; 403 `domain_limit_reached` if it
 *   would be above its `maxDomains`: then nothing was transferred, unless it registers names meanwhile; 500
 *   `internal_error` if the team cannot be looked up, or the store cannot count.
 * @throws {TypeError} for a store without `transfer`, for an option that is wrong or does not exist, for more than
 *   1,000 `domains`, and if both teams are the same.
 * @throws the failure of the store.
 *
 * @example
 * const transferred = await transfer(store, { from: '7', to: '1' })
 * transferred[0] // { domain: 'www.example.com', formerId: '0199…', domainId: '019a…' }
 */
export async function transfer(store: DomainStore, options: TransferOptions): Promise<readonly Transferred[]> {
  const team = { holds: isText, expected: 'the ID of a team, a string' }
  const domainsRule = { holds: optional(Array.isArray), expected: 'a list of strings' }
  requireOptions(options, { from: team, to: team, domains: domainsRule })
  const { from, domains } = options
  const transferSome = requireMethod(store, 'transfer')
  const keyContext = { type: 'team', teamId: options.to, scopes: [] } as const
  const { id: to, maxDomains } = await requireActiveTeam(options.to, keyContext, store, createDeadline(CALL_TIME_LIMIT))
  if (from === to) throw new TypeError('The options "from" and "to" must be different teams')
  const counted = typeof maxDomains === 'number'
  const findRefusal = ({ held }: Omit<TransferFindings, 'registrations'>, added: number) =>
    counted ? findExcess(maxDomains, held, added) : null
  const total: Transferred[] = []

  async function transferStep(domains: readonly string[]): Promise<void> {
    const judge = (found: TransferFindings) => findRefusal(found, found.registrations.length)
    const decide = (found: TransferFindings) => judge(found) === null
    const { found, saved } = await transferSome({ from, to, domains, counted, decide })
    const refusal = found.registrations.length > 0 && judge(found)
    if (refusal) throw refusal
    for (const [index, { domain, domainId: formerId }] of found.registrations.entries()) {
      const domainId = saved[index]?.domainId
      if (domainId !== undefined) total.push({ domain, formerId, domainId })
    }
  }

  if (domains) await transferStep(domains)
  else {
    if (counted) {
      const count = requireMethod(store, 'count')
      const refusal = findRefusal({ held: await count({ teamId: to }) }, await count({ teamId: from }))
      if (refusal) throw refusal
    }
    for await (const page of eachPageHeld(store, from)) await transferStep(page.map(({ domain }) => domain))
  }
  return total
}

/**
 * Releases all that a team has registered when it begins, in steps of 1,000: for a team that leaves. The names are free
 * for others, and the next sweep tells the monitor. If a step fails, those before it stay released: call again.
 *
 * @param store A bundled store, or one that has the methods `list` and `release`.
 * @param teamId It need not exist any more. Suspend it first, or it may register names meanwhile, which stay.
 * @returns How many registrations were released.
 * @throws {TypeError} for a store without `list` and `release`, and for an ID that is not a string.
 * @throws the failure of the store.
 *
 * @example
 * await releaseAll(store, '7') // 2150
 */
export async function releaseAll(store: DomainStore, teamId: string): Promise<number> {
  const release = requireMethod(store, 'release')
  if (!isText(teamId)) throw new TypeError('The ID of a team must be a string')
  let total = 0
  for await (const page of eachPageHeld(store, teamId)) {
    const domains = page.map(({ domain }) => domain)
    total += (await release(teamId, domains)).length
  }
  return total
}
