import { LONGEST_WAIT, type Outbox } from '../registry/outbox.ts'
import { toKey } from '../registry/path.ts'
import { type StatsRow, toPending, toStats } from '../registry/row.ts'
import type { Change, Registration } from '../registry/store.ts'
import { FIRST_ID } from './name-statements.ts'
import { claim, type StoreTransaction, type Transact } from './transact.ts'

/** No registrable domain. */
const SWEEP = 'sweep'

type Identified = Pick<Registration, 'domain' | 'domainId'>

/** The outbox over the table of changes. Each method is one transaction. */
export const createOutbox = (transact: Transact): Outbox => ({
  take: (limit, lease) =>
    transact(async transaction => {
      const { ask, change, statements, engine } = transaction
      // Citus cannot lock rows of several shards while it looks for them. So sweeps take turns there.
      if (engine === 'Citus') void claim(transaction, [SWEEP])
      void change(statements.hastenFresh, LONGEST_WAIT + lease)
      void change(statements.hastenRefused, LONGEST_WAIT + lease)
      const fresh = (await ask(statements.findFresh, limit)).rows
      const refused = (await ask(statements.findRefused, limit - fresh.length)).rows
      const found = [...fresh, ...refused]
      if (found.length === 0) return []
      const taken = new Set((await change(statements.take, ...toIds(sort(found)), lease)).rows.map(row => row.domainId))
      return found.filter(({ domainId }) => taken.has(domainId))
    }),

  finish: changes =>
    transact(async ({ change, statements }) => {
      const sorted = sort(changes)
      for (const kind of ['released', 'registered'] as const) {
        const pushed = sorted.filter(each => each.kind === kind)
        if (pushed.length > 0) void change(statements.finish, ...toIds(pushed), kind)
      }
      void change(statements.hastenReleases, ...toIds(sorted))
    }),

  postpone: postponements =>
    transact(async ({ change, statements }) => {
      const sorted = postponements.toSorted((one, other) => compare(one.change, other.change))
      void change(
        statements.postpone,
        ...toIds(sorted.map(each => each.change)),
        sorted.map(each => each.change.kind),
        sorted.map(({ wait }) => String(Math.round(wait))),
        sorted.map(({ refusal }) => refusal?.replaceAll('\0', '') ?? null),
      )
    }),

  stats: () =>
    transact(async ({ ask, statements }) => toStats((await ask(statements.countChanges)).rows[0] as StatsRow)),

  list: (after = FIRST_ID, limit) =>
    transact(async ({ ask, statements }) => (await ask(statements.listChanges, after, limit)).rows.map(toPending)),
})

/**
 * Adds changes, in the transaction that makes them.
 *
 * @param toWait Returns after how many milliseconds one is due.
 */
export function addChanges(
  { change, statements }: StoreTransaction,
  kind: Change['kind'],
  registrations: readonly Registration[],
  toWait: (registration: Registration) => number,
): void {
  if (registrations.length === 0) return
  const sorted = sort(registrations)
  void change(
    statements.addChanges(sorted.length),
    ...toIds(sorted),
    sorted.map(({ domain }) => domain),
    sorted.map(({ registrableDomain }) => registrableDomain),
    sorted.map(each => String(toWait(each))),
    sorted[0]?.teamId,
    kind,
  )
}

export function leaseWaiting(
  { change, statements }: StoreTransaction,
  registrations: readonly Registration[],
  lease: number,
): void {
  if (registrations.length > 0) void change(statements.lease, ...toIds(sort(registrations)), lease)
}

/** Rows are locked in one order everywhere, so that two transactions cannot deadlock. */
const sort = <Item extends Identified>(items: readonly Item[]): Item[] => items.toSorted(compare)

const compare = (one: Identified, other: Identified) => (one.domainId < other.domainId ? -1 : 1)

/** Second-level domains and IDs, as parameters. */
export const toIds = (items: readonly Identified[]): [string[], string[]] => [
  items.map(({ domain }) => toKey(domain).secondLevelDomain),
  items.map(({ domainId }) => domainId),
]
