import {
  changeOf,
  inTurns,
  LONGEST_WAIT,
  lineOf,
  type PendingChange,
  type PendingStats,
  type StoreOutbox,
} from '../outbox/contract.ts'
import type { Change, Registration } from '../rules/registration.ts'

interface Waiting {
  readonly change: Change
  /** When the change is due, in milliseconds of the monotonic clock. */
  due: number
  /** How many sweeps have taken the change. */
  sweeps: number
  refusals: number
  lastFailure: string | null
  /** For a release after a transfer: the ID of the pending registration that must be pushed first. */
  follows: string | undefined
}

export function createMemoryOutbox(): StoreOutbox & { has(domainId: string): boolean } {
  /** Keyed by `domainId`. */
  const changes = new Map<string, Waiting>()
  /** The changes that follow a registration, by its ID. */
  const followers = new Map<string, readonly Waiting[]>()
  const after = (milliseconds: number) => performance.now() + milliseconds

  function add(registration: Registration, kind: Change['kind'], wait: number, follows?: string): void {
    const change = changeOf(registration, kind)
    if (kind === 'released') follow(change.domainId, undefined)
    const waiting = { change, due: after(wait), sweeps: 0, refusals: 0, lastFailure: null, follows: undefined }
    changes.set(change.domainId, waiting)
    setFollowed(waiting, follows)
  }

  function remove(domainId: string): boolean {
    follow(domainId, undefined)
    return changes.delete(domainId)
  }

  /** Replaces the ID that changes follow, when its registration is no longer pending. */
  function follow(domainId: string, next: string | undefined): void {
    for (const waiting of followers.get(domainId) ?? []) setFollowed(waiting, next)
    followers.delete(domainId)
  }

  function setFollowed(waiting: Waiting, domainId: string | undefined): void {
    waiting.follows = domainId
    if (domainId !== undefined) followers.set(domainId, [...(followers.get(domainId) ?? []), waiting])
  }

  return {
    add,

    transfer(former, registration, wait) {
      if (!former.synchronized) follow(former.domainId, registration.domainId)
      add(former, 'released', wait, registration.domainId)
      add(registration, 'registered', 0)
    },

    has: domainId => changes.has(domainId),

    lease(registrations, lease) {
      for (const { domainId } of registrations) {
        const waiting = changes.get(domainId)
        if (waiting) waiting.due = Math.max(waiting.due, after(lease))
      }
    },

    take({ lines, lease, lot }) {
      const [now, latest] = [after(0), after(LONGEST_WAIT + lease)]
      const isDue = ({ due, follows }: Waiting) => (due <= now || due > latest) && follows === undefined
      const due = [...changes.values()].filter(isDue).sort((one, other) => one.due - other.due)
      for (const { line, limit } of lines) {
        const ofLine = due.filter(waiting => lineOf(waiting) === line)
        const inLine = ofLine.map(waiting => ({ teamId: waiting.change.teamId, waiting }))
        const chosen = inTurns(inLine, limit, lot).map(({ waiting }) => waiting)
        const taken = chosen.map(toPending)
        for (const waiting of chosen) {
          waiting.due = after(lease)
          waiting.sweeps += 1
        }
        if (taken.length > 0) return taken
      }
      return []
    },

    finish(pushed) {
      for (const { domainId, kind } of pushed) {
        const waiting = changes.get(domainId)
        if (waiting?.change.kind === kind) remove(domainId)
        else if (waiting) waiting.due = after(0)
      }
    },

    postpone(postponements) {
      for (const { change, wait, failure, refusals } of postponements) {
        const waiting = changes.get(change.domainId)
        if (waiting?.change.kind !== change.kind) continue
        waiting.due = after(wait)
        waiting.refusals = Math.max(waiting.refusals, refusals)
        waiting.lastFailure = failure ?? waiting.lastFailure
      }
    },

    retry(domainIds = [...changes.keys()]) {
      const now = after(0)
      const isRetried = ({ due, lastFailure }: Waiting) => lastFailure !== null && due > now
      const failed = domainIds.flatMap(domainId => changes.get(domainId) ?? []).filter(isRetried)
      for (const waiting of failed) waiting.due = now
      return failed.length
    },

    settle: domainIds => domainIds.filter(remove).length,

    stats: () => toStats([...changes.values()]),

    list(start = '', limit) {
      const all = [...changes.values()].filter(({ change }) => change.domainId > start)
      all.sort((one, other) => (one.change.domainId < other.change.domainId ? -1 : 1))
      return all.slice(0, limit).map(toPending)
    },
  }
}

const toPending = (waiting: Waiting): PendingChange => ({
  ...waiting.change,
  line: lineOf(waiting),
  refusals: waiting.refusals,
  nextAttempt: new Date(Date.now() + waiting.due - performance.now()),
  lastFailure: waiting.lastFailure,
})

function toStats(all: Waiting[]): PendingStats {
  all.sort((one, other) => one.change.at.getTime() - other.change.at.getTime())
  const refused = all.filter(({ refusals }) => refusals > 0)
  return {
    count: all.length,
    refused: refused.length,
    oldest: all[0]?.change.at ?? null,
    longestRefused: refused[0] ? toPending(refused[0]) : null,
  }
}
