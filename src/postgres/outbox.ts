import { changeOf, LONGEST_WAIT, type Outbox } from '../outbox/contract.ts'
import type { Change, Registration } from '../rules/registration.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { toKey } from '../store/name-key.ts'
import { type StatsRow, toLeased, toPending, toStats } from '../store/rows.ts'
import type { Value } from './connection.ts'
import { FIRST_ID, toArrays } from './statements.ts'
import { lock, type StoreTransaction, type Transact } from './transaction.ts'

/** The name of the lock that sweeps take. Only sweeps take this lock, because its name is not a registrable domain. */
const SWEEP = 'sweep'

type Identified = Pick<Registration, 'domain' | 'domainId'>

/** The outbox in the table of changes. Each method is one transaction. */
export function createOutbox(transact: Transact): Outbox {
  let isNoted = false
  /**
   * Records that some process pushes changes. Needs a separate transaction, because on Citus, a transaction across
   * shards cannot insert this row.
   */
  async function noteMonitor(): Promise<void> {
    if (isNoted) return
    await transact(async ({ write, statements }) => void write(statements.addMonitor))
    isNoted = true
  }

  const retry = (ids: readonly string[]) =>
    transact(async ({ write, statements }) => (await write(statements.retry, ids)).length)

  return {
    async take(limit, lease) {
      await noteMonitor()
      return transact(async transaction => {
        const { send, write, statements, engine } = transaction
        if (engine.skipLocked === '') lock(transaction, [SWEEP])
        void write(statements.hastenFresh, LONGEST_WAIT + lease)
        void write(statements.hastenRefused, LONGEST_WAIT + lease)
        const fresh = await send(statements.findFresh, limit)
        const refused = await send(statements.findRefused, limit - fresh.length)
        const found = [...fresh, ...refused]
        if (found.length === 0) return []
        const taken = new Set(
          (await write(statements.take, ...toNamed(transaction, sort(found), [lease]))).map(row => row.domainId),
        )
        return found.filter(({ domainId }) => taken.has(domainId)).map(toLeased)
      })
    },

    async finish(changes) {
      await noteMonitor()
      await transact(async transaction => {
        const { write, statements } = transaction
        const sorted = sort(changes)
        for (const kind of ['released', 'registered'] as const) {
          const pushed = sorted.filter(each => each.kind === kind)
          if (pushed.length > 0) void write(statements.finish, ...toNamed(transaction, pushed, [kind]))
        }
        void write(statements.hastenReleases, ...toNamed(transaction, sorted))
      })
    },

    postpone: postponements =>
      transact(async transaction => {
        const { write, statements } = transaction
        const rows = postponements.map(({ change, wait, failure, refusals }) => ({
          ...change,
          wait: Math.round(wait),
          failure: failure?.replaceAll('\0', '') ?? null,
          refusals,
        }))
        const sorted = sort(rows)
        const values = toArrays(sorted, 'kind', 'wait', 'failure', 'refusals')
        void write(statements.postpone, ...toNamed(transaction, sorted, values))
      }),

    async retry(domainIds) {
      if (domainIds) return retry(domainIds)
      let total = 0
      for (let after = FIRST_ID; ; ) {
        const failed = await transact(({ send, statements }) => send(statements.findFailed, after, MOST_AT_ONCE))
        const ids = failed.map(({ domainId }) => domainId)
        if (ids.length > 0) total += await retry(ids)
        if (ids.length < MOST_AT_ONCE) return total
        after = ids.at(-1) as string
      }
    },

    settle: domainIds => transact(async ({ write, statements }) => (await write(statements.settle, domainIds)).length),

    stats: () =>
      transact(async ({ send, statements }) => {
        const [counts, longest] = await Promise.all([
          send(statements.countChanges),
          send(statements.findLongestRefused),
        ])
        return toStats(counts[0] as StatsRow, longest[0])
      }),

    list: (after = FIRST_ID, limit) =>
      transact(async ({ send, statements }) => (await send(statements.listChanges, after, limit)).map(toPending)),
  }
}

/**
 * Adds changes, in the transaction that causes them.
 *
 * @param toWait Returns the number of milliseconds after which a change is due.
 * @param toFollowed Returns the ID of the registration that the monitor must get before the change. Default: none.
 */
export function addChanges(
  { write, statements }: StoreTransaction,
  kind: Change['kind'],
  registrations: readonly Registration[],
  toWait: (registration: Registration) => number,
  toFollowed: (registration: Registration) => string | null = () => null,
): void {
  if (registrations.length === 0) return
  const rows = sort(registrations).map(registration => {
    const { domain, domainId, registrableDomain, teamId, at } = changeOf(registration, kind)
    const { secondLevelDomain } = toKey(domain)
    const [wait, follows] = [toWait(registration), toFollowed(registration)]
    return [secondLevelDomain, domainId, domain, registrableDomain, wait, teamId, kind, at.getTime(), follows]
  })
  void write(...statements.addChanges(rows))
}

/** Sorts items by ID. All transactions lock rows in this order, so that no two transactions can deadlock. */
export const sort = <Item extends Identified>(items: readonly Item[]): Item[] =>
  items.toSorted((one, other) => (one.domainId < other.domainId ? -1 : 1))

/** The parameters of a statement on items: their IDs, other values, and on Citus their second-level domains. */
export function toNamed({ engine }: StoreTransaction, items: readonly Identified[], values: readonly Value[] = []) {
  return [...toArrays(items, 'domainId'), ...values, ...engine.toShards(items.map(({ domain }) => domain))]
}
