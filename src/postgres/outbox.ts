import type { Outbox, Postponement, WaitingChange } from '../registry/outbox.ts'
import type { Change, Registration } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import { toInterval, toPlaceholders } from './claim.ts'
import type { Answer } from './database.ts'
import { claimAndFind } from './find.ts'
import type { DueRow } from './outbox-statements.ts'
import { toKey } from './path.ts'
import { takeBack } from './remove.ts'
import { type NameRow, toRegistration } from './rows.ts'
import type { Transact, Transaction } from './transaction.ts'

export interface PostgresOutbox extends Outbox {
  count(): Promise<number>
}

type Identified = Pick<Registration, 'domain' | 'registrableDomain' | 'domainId'>

/**
 * Makes the outbox over the tables. Each method is one transaction.
 *
 * @param firstLease The length in milliseconds of the lease that a call has on its registrations.
 */
export function createOutbox(transact: Transact, firstLease: number): PostgresOutbox {
  /** Runs statements after it has claimed the registrable domains of the registrations among the changes. */
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
          send(statements.leaseNames, ...toNameKeys(registered), toInterval(lease), toInterval(0)),
          send(statements.leaseReleases, ...toReleaseKeys(released), toInterval(lease)),
        ]
      })
      const leased = (await Promise.all(leasing)).flatMap(({ rows }) => rows)
      const leases = new Map(leased.map(row => [row.domain_id, row.lease]))
      return due
        .filter(({ domainId }) => leases.has(domainId))
        .map(each => ({ ...each, lease: leases.get(each.domainId) as number }))
    },

    finish: changes =>
      change(changes, ({ send, statements }) => {
        const [registered, released] = byKind(changes)
        if (registered.length > 0) {
          void send(statements.finishNames, ...toNameKeys(registered))
          void send(statements.hastenReleases, ...toReleaseKeys(registered.toSorted(byKey)))
        }
        if (released.length > 0) void send(statements.deleteReleases, ...toReleaseKeys(released))
      }),

    postpone: postponements =>
      change(
        postponements.map(each => each.change),
        ({ send, statements }) => {
          const [names, releases] = ofKind(postponements, each => each.change)
          if (names.length > 0) {
            const keys = toNameKeys(names.map(each => each.change))
            void send(statements.postponeNames, ...keys, ...toWaits(names), toInterval(firstLease))
          }
          if (releases.length > 0) {
            const keys = toReleaseKeys(releases.map(each => each.change))
            void send(statements.postponeReleases, ...keys, ...toWaits(releases))
          }
        },
      ),

    async count() {
      const counts = await transact({
        find: ({ send, statements }) => Promise.all([send(statements.countDueNames), send(statements.countReleases)]),
        save: found => found.flatMap(({ rows }) => rows),
      })
      return counts.reduce((sum, { count }) => sum + count, 0)
    },
  }
}

/** Finds the oldest changes of both tables. */
const findDue = (limit: number) => ({
  find: ({ send, statements }: Transaction) =>
    Promise.all([send(statements.findDueNames, limit), send(statements.findDueReleases, limit)]),
  save: ([names, releases]: readonly [Answer<DueRow>, Answer<DueRow>]): Due['change'][] =>
    [...names.rows.map(toDue('registered')), ...releases.rows.map(toDue('released'))]
      .sort(byAge)
      .slice(0, limit)
      .map(due => due.change),
})

/** Leases registrations to the call that found them, in its transaction, unless they are due later anyway. */
export function leaseFound(
  { send, statements }: Transaction,
  registrations: readonly Registration[],
  lease: number,
): void {
  if (registrations.length === 0) return
  void send(statements.leaseNames, ...toNameKeys(registrations), toInterval(lease), toInterval(lease))
}

/**
 * Records releases, in the transaction that then deletes the names. The release of an unsynchronized registration is
 * due after one lease: its push may be under way.
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

/** Sorts releases by key, so that two transactions cannot deadlock. */
const byKind = <Item extends Change>(changes: readonly Item[]): [Item[], Item[]] => ofKind(changes, each => each)

const ofKind = <Item>(items: readonly Item[], changeOf: (item: Item) => Change): [Item[], Item[]] => [
  items.filter(item => isRegistered(changeOf(item))),
  items.filter(item => !isRegistered(changeOf(item))).sort((one, other) => byKey(changeOf(one), changeOf(other))),
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

/** The parameters of the statements that postpone. */
const toWaits = (postponements: readonly Postponement[]): [string, string, string] => [
  toArrayLiteral(postponements.map(({ wait }) => String(wait / 1000))),
  toArrayLiteral(postponements.map(({ isRefusal }) => (isRefusal ? '1' : '0'))),
  toArrayLiteral(postponements.map(({ lease }) => (lease === null ? null : String(lease)))),
]

interface Due {
  readonly due: number
  readonly change: Omit<WaitingChange, 'lease'>
}

const toDue =
  (kind: Change['kind']) =>
  (row: DueRow): Due => {
    const { domainId, domain, registrableDomain, teamId } = toRegistration(row)
    const { due, refusals } = row
    return { due, change: { kind, domainId, domain, registrableDomain, teamId, refusals } }
  }

const byAge = (one: Due, other: Due) => one.due - other.due || (one.change.domainId < other.change.domainId ? -1 : 1)
