import type { Registration } from '../rules/registration.ts'
import { type DomainStore, type ListOptions, MOST_AT_ONCE } from '../store/contract.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { requireMethod } from './call.ts'

/** Which registrations to iterate over: {@link ListOptions} without `limit`. */
export type EachRegistrationOptions = Omit<ListOptions, 'limit'>

/**
 * Iterates over the registrations of one team, or of all teams, in the order of the list. The iterator reads the next
 * page of 1,000 once the previous page has been consumed, and lets other work run in between.
 *
 * Names that stay registered are yielded once, even if other names are registered or released in the meantime.
 *
 * @param options The options of `list`, without `limit`. To resume, pass the `domainId` of the last registration as
 *   `after`; with `below`, pass its `domain`.
 * @throws {TypeError} if the store has no `list`, or if `limit` is passed. The iterator throws a `TypeError` if another
 *   option is invalid, or if the store returns the same page twice.
 * @throws The store's error, as thrown by the iterator.
 *
 * @example
 * for await (const { domain, createdAt } of eachRegistration(store, { teamId: '1' })) console.log(domain, createdAt)
 */
export function eachRegistration(
  store: DomainStore,
  options: EachRegistrationOptions = {},
): AsyncGenerator<Registration, void, undefined> {
  const list = requireMethod(store, 'list')
  if ('limit' in options)
    throw new TypeError('The option "limit" does not exist here: leave the loop when you have enough')
  return eachOf(eachPage(list, options))
}

async function* eachOf<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T, void, undefined> {
  for await (const page of pages) yield* page
}

/** Iterates over the pages of a list. Never yields an empty page; a page that is not full is the last one. */
export async function* eachPage(
  list: (page: ListOptions) => Awaitable<readonly Registration[]>,
  options: EachRegistrationOptions,
): AsyncGenerator<readonly Registration[], void, undefined> {
  for (let after = options.after; ; ) {
    const page = await list({ ...options, after, limit: MOST_AT_ONCE })
    const last = page.at(-1)
    if (!last) return
    after = advance(last, { ...options, after })
    yield page
    if (page.length < MOST_AT_ONCE) return
    await letOthersRun()
  }
}

/**
 * Iterates over the registrations that a team has when the iteration begins. Later registrations are left out, because
 * two simultaneous transfers in opposite directions would otherwise never end.
 *
 * @throws {TypeError} if the IDs of the store do not ascend as strings, so that they do not say what is later.
 */
export async function* eachPageHeld(
  store: DomainStore,
  teamId: string,
): AsyncGenerator<readonly Registration[], void, undefined> {
  const list = requireMethod(store, 'list')
  const [last] = await list({ teamId, order: 'newest', limit: 1 })
  if (!last) return
  let previous = ''
  for await (const page of eachPage(list, { teamId })) {
    for (const { domainId } of page) {
      if (domainId <= previous) throw new TypeError('The store lists IDs out of order: as strings, its IDs must ascend')
      previous = domainId
    }
    const earlier = page.filter(({ domainId }) => domainId <= last.domainId)
    if (earlier.length > 0) yield earlier
    if (earlier.length < page.length) return
  }
}

/** @throws {TypeError} if a store lists the same page again, because the iteration would then never end. */
export function advance(last: Registration, options: ListOptions): string {
  const next = toCursor(last, options)
  if (next === options.after) throw new TypeError('The store lists the same page again: its "list" must honor "after"')
  return next
}

/** Returns the cursor of the page that begins after a registration. */
export const toCursor = ({ domainId, domain }: Registration, { below }: ListOptions): string =>
  below === undefined ? domainId : domain
