import { changeOf, type Line, LONGEST_WAIT, type Outbox } from '../outbox/contract.ts'
import type { Change, Registration } from '../rules/registration.ts'
import { FIRST_ID } from '../sql/list-query.ts'
import { chooseInTurns, type PendingRow, type StatsRow, startOfWalk, toPending, toStats } from '../sql/rows.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { toKey } from '../store/name-key.ts'
import type { Identified, OutboxStatements } from './statements/changes.ts'
import type { LockStatements } from './statements/locks.ts'
import { toArrays, type Value } from './statements/sql.ts'
import { lock, type Transact, type TransactionWith } from './transaction.ts'

/** The name of the lock that sweeps take. Only sweeps take this lock, because its name is not a registrable domain. */
const SWEEP = 'sweep'

/** After a walk that found no other team, another team waits for at most this many pushes more. */
const PUSHES_WITHOUT_WALK = 9

/** The outbox in the table of changes. Each method is one transaction. */
export function createOutbox(transact: Transact<OutboxStatements & LockStatements>): Outbox {
  let isNoted = false
  /**
   * Records that some process pushes changes. Needs a separate transaction, because a transaction across shards
   * cannot insert this row.
   */
  async function noteMonitor(): Promise<void> {
    if (isNoted) return
    await transact(async ({ write, statements }) => void write(statements.addMonitor))
    isNoted = true
  }

  const retry = (ids: readonly string[]) =>
    transact(async ({ write, token, statements }) => (await write(statements.retry, token, ids)).length)

  /** How many pushes of a line are still taken without a walk over its teams. */
  const withoutWalk = new Map<Line, number>()
  /** Finds the due changes of each team, at most its share, if the first changes are not all that are due. */
  async function findShares(
    { send, statements }: TransactionWith<OutboxStatements>,
    { line, limit, lot }: { readonly line: Line; readonly limit: number; readonly lot: number },
    first: readonly PendingRow[],
  ): Promise<readonly PendingRow[]> {
    const left = withoutWalk.get(line) ?? 0
    withoutWalk.set(line, left - 1)
    if (left > 0) return []
    const shares = await send(statements.findShares, line, limit, startOfWalk(first[0]?.teamId ?? '', lot))
    const found = new Set(first.map(({ teamId }) => teamId))
    withoutWalk.set(line, shares.every(({ teamId }) => found.has(teamId)) ? PUSHES_WITHOUT_WALK : 0)
    return shares
  }

  return {
    async take({ lines, lease, lot }) {
      await noteMonitor()
      return transact(async transaction => {
        const { send, write, statements, engine } = transaction
        if (engine.skipLocked === '') lock(transaction, [SWEEP])
        for (const { line, limit } of lines) {
          void write(statements.hasten, line, LONGEST_WAIT + lease)
          // A distributed engine supports no recursion across shards: teams take turns only among these changes.
          const most = engine.isDistributed ? MOST_AT_ONCE : limit + 1
          const first = await send(statements.findFirst, line, most)
          const areAllFound = first.length < most || engine.isDistributed
          const shares = areAllFound ? [] : await findShares(transaction, { line, limit, lot }, first)
          const chosen = chooseInTurns(shares, first, limit, lot)
          if (chosen.length === 0) continue
          const rows = await write(statements.take, ...toNamed(transaction, sort(chosen), [lease]))
          const taken = new Set(rows.map(({ domainId }) => domainId))
          if (taken.size > 0) return chosen.filter(({ domainId }) => taken.has(domainId))
        }
        return []
      })
    },

    async finish(changes) {
      await noteMonitor()
      await transact(async transaction => {
        const { write, statements } = transaction
        const sorted = sort(changes)
        for (const kind of ['released', 'registered'] as const) {
          const pushed = sorted.filter(each => each.kind === kind)
          if (pushed.length === 0) continue
          if (kind === 'registered') void write(statements.free, ...toNamed(transaction, pushed))
          void write(statements.finish, ...toNamed(transaction, pushed, [kind]))
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
          failure: failure ?? null,
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

    settle: domainIds =>
      transact(async transaction => {
        const { write, token, statements } = transaction
        const settled = await write(statements.settle, token, domainIds)
        followNothing(transaction, settled)
        return settled.length
      }),

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
  { write, token, statements }: TransactionWith<OutboxStatements>,
  kind: Change['kind'],
  registrations: readonly Registration[],
  toWait: (registration: Registration) => number,
  toFollowed: (registration: Registration) => string | null = () => null,
): void {
  if (registrations.length === 0) return
  const rows = sort(registrations).map(registration => ({
    ...changeOf(registration, kind),
    secondLevelDomain: toKey(registration.domain).secondLevelDomain,
    wait: toWait(registration),
    follows: toFollowed(registration),
  }))
  void write(...statements.addChanges(token, rows))
}

/** Makes changes follow nothing if they follow these registrations, which are no longer pending. */
export function followNothing(
  transaction: TransactionWith<OutboxStatements>,
  registrations: readonly Identified[],
): void {
  if (registrations.length === 0) return
  const { write, statements } = transaction
  void write(statements.follow, ...toNamed(transaction, registrations, [registrations.map(() => null)]))
}

/** Sorts items by ID. All transactions lock rows in this order, so that no two transactions can deadlock. */
export const sort = <Item extends Identified>(items: readonly Item[]): Item[] =>
  items.toSorted((one, other) => (one.domainId < other.domainId ? -1 : 1))

/**
 * The parameters of a change of items: the token of the transaction, their IDs, other values, and their second-level
 * domains if tables are distributed.
 */
export const toNamed = (
  { token, engine }: Pick<TransactionWith<unknown>, 'token' | 'engine'>,
  items: readonly Identified[],
  values: readonly Value[] = [],
): readonly Value[] => [
  token,
  ...toArrays(items, 'domainId'),
  ...values,
  ...engine.toShards(items.map(({ domain }) => domain)),
]
