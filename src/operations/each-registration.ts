import { type DomainStore, type ListedRegistration, type ListOptions, MOST_AT_ONCE } from '../registry/store.ts'
import type { Awaitable } from '../time/awaitable.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { requireMethod } from './ask-store.ts'

/** Which registrations to walk through: {@link ListOptions} without the length of a page. */
export type EachRegistrationOptions = Omit<ListOptions, 'limit'>

/**
 * Walks through the registrations of one team or of all, in the order of the list. It reads a page of 1,000 when the
 * previous one has been consumed, and lets other work run in between.
 *
 * Registrations that stay are yielded once, even if others are registered or released in the meantime.
 *
 * @param options As for `list`, without `limit`. To resume, pass as `after` the `domainId` of the last registration, or
 *   with `below` its `domain`.
 * @throws {TypeError} for a store without `list`, and for `limit`. The iterator throws it for other wrong options, and
 *   for a store that returns the same page twice.
 * @throws The failure of the store, from the iterator.
 *
 * @example
 * for await (const { domain, createdAt } of eachRegistration(store, { teamId: '1' })) console.log(domain, createdAt)
 */
export function eachRegistration(
  store: DomainStore,
  options: EachRegistrationOptions = {},
): AsyncGenerator<ListedRegistration, void, undefined> {
  const list = requireMethod(store, 'list')
  if ('limit' in options)
    throw new TypeError('The option "limit" is not for a walk: leave the loop when you have enough')
  return eachOf(eachPage(list, options))
}

async function* eachOf<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T, void, undefined> {
  for await (const page of pages) yield* page
}

/** The walk over the pages of a list: the last one is not full, and none is empty. */
export async function* eachPage(
  list: (page: ListOptions) => Awaitable<readonly ListedRegistration[]>,
  options: EachRegistrationOptions,
): AsyncGenerator<readonly ListedRegistration[], void, undefined> {
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
 * Walks through the registrations that a team has when the walk begins, without later ones: otherwise two transfers in
 * opposite directions would never end.
 */
export async function* eachPageHeld(
  store: DomainStore,
  teamId: string,
): AsyncGenerator<readonly ListedRegistration[], void, undefined> {
  const list = requireMethod(store, 'list')
  const [last] = await list({ teamId, order: 'newest', limit: 1 })
  if (!last) return
  for await (const page of eachPage(list, { teamId })) {
    const held = page.filter(({ domainId }) => domainId <= last.domainId)
    if (held.length > 0) yield held
    if (held.length < page.length) return
  }
}

/** @throws {TypeError} for a store that lists the same page again, or a walk would never end. */
export function advance(last: ListedRegistration, options: ListOptions): string {
  const next = toCursor(last, options)
  if (next === options.after)
    throw new TypeError('The store lists the same page again: its "list" must begin after "after"')
  return next
}

/** Returns the cursor of the page that begins after a registration. */
export const toCursor = ({ domainId, domain }: ListedRegistration, { below }: ListOptions): string =>
  below === undefined ? domainId : domain
