import type { Holding } from './holding.ts'

/** A link of the queue. */
export interface PendingEntry {
  readonly holding: Holding
  older: PendingEntry | null
  newer: PendingEntry | null
}

/** What waits for synchronization, oldest first. */
export interface PendingQueue {
  add(holding: Holding): void
  /** Takes a holding out, wherever it stands; one that does not wait is left as it is. */
  remove(holding: Holding): void
  oldest(limit: number): Holding[]
}

/**
 * Makes an empty queue. A linked list, because it is left at any place: a Map also keeps the order, but walks over the
 * gaps at its front, and ends at 2^24 entries.
 */
export function createPendingQueue(): PendingQueue {
  let first: PendingEntry | null = null
  let last: PendingEntry | null = null

  return {
    add(holding) {
      const entry: PendingEntry = { holding, older: last, newer: null }
      if (last) last.newer = entry
      else first = entry
      last = entry
      holding.pending = entry
    },

    remove(holding) {
      const entry = holding.pending
      if (!entry) return
      const { older, newer } = entry
      if (older) older.newer = newer
      else first = newer
      if (newer) newer.older = older
      else last = older
      holding.pending = null
    },

    oldest(limit) {
      const holdings: Holding[] = []
      for (let entry = first; entry && holdings.length < limit; entry = entry.newer) holdings.push(entry.holding)
      return holdings
    },
  }
}
