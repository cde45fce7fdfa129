import type { Outbox, WaitingChange } from '../registry/outbox.ts'
import type { Change, Registration } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import { toInterval, toPlaceholders } from './claim.ts'
import { claimAndFind } from './find.ts'
import type { DueRow } from './outbox-statements.ts'
import { toKey } from './path.ts'
import { takeBack } from './remove.ts'
import { type NameRow, toRegistration } from './rows.ts'
import type { Transact, Transaction } from './transaction.ts'

export interface PostgresOutbox extends Outbox {
  count(): Promise<number>
}

/** When a change is due again. */
interface Rescheduling {
  readonly change: Identified
  /** In milliseconds from now; `null` where it is done. */
  readonly wait: number | null
  readonly isRefusal?: boolean
}

type Identified = Pick<Registration, 'domain' | 'registrableDomain' | 'domainId'>

/** The changes that wait in the tables, a transaction for each call. */
export function createOutbox(transact: Transact): PostgresOutbox {
  /** Claims what is registered, as all do who change it. */
  const change = <T>(changes: readonly Change[], save: (transaction: Transaction) => T): Promise<T> =>
    transact({
      find: transaction => claimAndFind(transaction, toPlaceholders(changes.filter(isRegistered)), {}),
      save({ fresh }, transaction) {
        const saved = save(transaction)
        takeBack(transaction, fresh)
        return saved
      },
    })

  return {
    async take(limit, lease) {
      const due = await transact(findDue(limit))
      if (due.length === 0) return []
      const leasing = await change(due, ({ send, statements }) => {
        const [registered, released] = byKind(due)
        return [
          send(statements.leaseNames, ...toNameKeys(registered), toInterval(lease)),
          send(statements.leaseReleases, ...toReleaseKeys(released), toInterval(lease)),
        ]
      })
      const taken = new Set((await Promise.all(leasing)).flat().map(row => row.domain_id))
      return due.filter(({ domainId }) => taken.has(domainId))
    },

    finish: changes =>
      change(changes, transaction => {
        const [registered, released] = byKind(changes)
        rescheduleNames(
          transaction,
          registered.map(each => ({ change: each, wait: null })),
        )
        // Releases that have come in their place have waited for the push.
        rescheduleReleases(
          transaction,
          registered.map(each => ({ change: each, wait: 0 })),
        )
        deleteReleases(transaction, released)
      }),

    postpone: postponements =>
      change(
        postponements.map(each => each.change),
        transaction => {
          rescheduleNames(
            transaction,
            postponements.filter(each => isRegistered(each.change)),
          )
          rescheduleReleases(
            transaction,
            postponements.filter(each => !isRegistered(each.change)),
          )
        },
      ),

    async count() {
      const counts = await transact({
        find: ({ send, statements }) => Promise.all([send(statements.countDueNames), send(statements.countReleases)]),
        save: found => found.flat(),
      })
      return counts.reduce((sum, { count }) => sum + count, 0)
    },
  }
}

/** The oldest of both tables. */
const findDue = (limit: number) => ({
  find: ({ send, statements }: Transaction) =>
    Promise.all([send(statements.findDueNames, limit), send(statements.findDueReleases, limit)]),
  save: ([names, releases]: readonly [readonly DueRow[], readonly DueRow[]]): WaitingChange[] =>
    [...names.map(toDue('registered')), ...releases.map(toDue('released'))]
      .sort(byAge)
      .slice(0, limit)
      .map(due => due.change),
})

/** Sets when registrations that wait are due. In a transaction that has claimed them. */
export function rescheduleNames({ send, statements }: Transaction, reschedulings: readonly Rescheduling[]): void {
  if (reschedulings.length === 0) return
  void send(
    statements.rescheduleNames,
    ...toNameKeys(reschedulings.map(each => each.change)),
    ...toWaits(reschedulings),
  )
}

function rescheduleReleases({ send, statements }: Transaction, reschedulings: readonly Rescheduling[]): void {
  if (reschedulings.length === 0) return
  const ordered = reschedulings.toSorted((one, other) => byKey(one.change, other.change))
  void send(statements.rescheduleReleases, ...toReleaseKeys(ordered.map(each => each.change)), ...toWaits(ordered))
}

function deleteReleases({ send, statements }: Transaction, changes: readonly Change[]): void {
  if (changes.length > 0) void send(statements.deleteReleases, ...toReleaseKeys(changes))
}

/**
 * Records that names are released, in the transaction that deletes them and before it does. A release is due after the
 * push of its registration, which may be under way for as long as a lease.
 *
 * @param lease In milliseconds.
 */
export function addReleases({ send, statements }: Transaction, rows: readonly NameRow[], lease: number): void {
  for (const isSynchronized of [true, false]) {
    const released = rows.filter(row => row.synchronized === isSynchronized)
    if (released.length === 0) continue
    void send(
      statements.addReleases,
      toArrayLiteral(released.map(row => row.registrable_domain)),
      toArrayLiteral(released.map(row => row.path)),
      toArrayLiteral(released.map(row => row.domain_id)),
      toInterval(isSynchronized ? 0 : lease),
    )
  }
}

const isRegistered = ({ kind }: Change) => kind === 'registered'

/** Releases in one order for all, so that no two transactions wait for each other. */
const byKind = <Item extends Change>(changes: readonly Item[]): [Item[], Item[]] => [
  changes.filter(isRegistered),
  changes.filter(each => !isRegistered(each)).sort(byKey),
]

function byKey(one: Identified, other: Identified): number {
  const [first, second] = [one, other].map(each => `${each.registrableDomain}/${each.domainId}`) as [string, string]
  return first < second ? -1 : 1
}

function toNameKeys(changes: readonly Identified[]): [string, string, string] {
  const [domains, ids] = toReleaseKeys(changes)
  return [domains, toArrayLiteral(changes.map(each => toKey(each).path)), ids]
}

const toReleaseKeys = (changes: readonly Identified[]): [string, string] => [
  toArrayLiteral(changes.map(each => each.registrableDomain)),
  toArrayLiteral(changes.map(each => each.domainId)),
]

const toWaits = (reschedulings: readonly Rescheduling[]): [string, string] => [
  toArrayLiteral(reschedulings.map(({ wait }) => (wait === null ? null : String(wait / 1000)))),
  toArrayLiteral(reschedulings.map(({ isRefusal }) => (isRefusal ? '1' : '0'))),
]

interface Due {
  readonly due: number
  readonly change: WaitingChange
}

const toDue =
  (kind: Change['kind']) =>
  (row: DueRow): Due => {
    const { domainId, domain, registrableDomain, teamId } = toRegistration(row)
    const { due, refusals } = row
    // No statement asks for the lease yet: what a sweep puts off may be with another by then, and is pushed twice.
    return { due, change: { kind, domainId, domain, registrableDomain, teamId, refusals, lease: due } }
  }

const byAge = (one: Due, other: Due) => one.due - other.due || (one.change.domainId < other.change.domainId ? -1 : 1)
