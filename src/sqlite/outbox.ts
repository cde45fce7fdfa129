import { LONGEST_WAIT, type Postponement, type StoreOutbox } from '../registry/outbox.ts'
import { readInParts, workInParts } from '../registry/parts.ts'
import { type PendingRow, type StatsRow, toPending, toStats } from '../registry/row.ts'
import type { Change } from '../registry/store.ts'
import type { Connection } from './connection.ts'
import type { Statements } from './statements.ts'

/** The outbox of a SQLite store. `add` and `lease` are to be called in a transaction. */
export function createOutbox(statements: Statements, { ask, transact }: Connection): StoreOutbox {
  function take(limit: number, lease: number): PendingRow[] {
    const now = Date.now()
    statements.bringForward(now, after(LONGEST_WAIT + lease))
    const fresh = statements.findDue(0, now, limit)
    const due = [...fresh, ...statements.findDue(1, now, limit - fresh.length)]
    for (const { domainId } of due) statements.setDue(after(lease), domainId)
    return due
  }

  function finish({ kind, domainId }: Change): void {
    const isForgotten = statements.deleteChange(domainId, kind).length > 0
    if (!isForgotten) statements.setDue(after(0), domainId)
  }

  function postpone({ change, wait, failure, isRefused }: Postponement): void {
    statements.postpone(after(wait), Number(isRefused), failure ?? null, change.domainId, change.kind)
  }

  async function retry(domainIds?: readonly string[]): Promise<number> {
    const now = after(0)
    const retrying = domainIds
      ? workInParts(domainIds, part => transact(() => part.flatMap(id => statements.retry(now, id, now))))
      : readInParts(Number.POSITIVE_INFINITY, size => transact(() => statements.retryAll(now, now, size)))
    return (await retrying).length
  }

  return {
    add({ domainId, domain, registrableDomain, teamId }, kind, wait) {
      statements.putChange(domainId, kind, domain, registrableDomain, teamId, after(wait), after(0))
    },

    lease(registrations, lease) {
      for (const { domainId } of registrations) statements.lease(after(lease), domainId)
    },

    take: (limit, lease) => readInParts(limit, size => transact(() => take(size, lease))),
    finish: changes => workInParts(changes, part => transact(() => part.map(finish))),

    postpone: postponements => workInParts(postponements, part => transact(() => part.map(postpone))),
    retry,

    stats: () => ask(() => toStats(statements.stats()[0] as StatsRow)),

    list: (after = '', limit) => ask(() => statements.listChanges(after, limit).map(toPending)),
  }
}

/** The table keeps whole milliseconds. */
const after = (milliseconds: number) => Math.ceil(Date.now() + milliseconds)
