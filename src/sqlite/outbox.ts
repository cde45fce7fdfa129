import { changeOf, type Line, LONGEST_WAIT, type StoreOutbox } from '../outbox/contract.ts'
import type { Change, Registration } from '../rules/registration.ts'
import {
  chooseInTurns,
  MOST_TEAMS,
  MOST_TEAMS_VISITED,
  type PendingRow,
  type StatsRow,
  startOfWalk,
  toPending,
  toStats,
} from '../sql/rows.ts'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import type { SqliteConnection } from './connection.ts'
import type { PreparedStatements } from './statements.ts'

/** The outbox of a SQLite store. Call `add`, `transfer` and `lease` in a transaction. */
export function createOutbox(statements: PreparedStatements, { read, transact }: SqliteConnection): StoreOutbox {
  function noteMonitor(): void {
    if (statements.findMonitor().length === 0) statements.addMonitor(Date.now())
  }

  function add(registration: Registration, kind: Change['kind'], wait: number, follows: string | null = null): void {
    const { domainId, domain, registrableDomain, teamId, at } = changeOf(registration, kind)
    if (kind === 'released') statements.follow(null, domainId)
    statements.putChange(domainId, kind, domain, registrableDomain, teamId, after(wait), at.getTime(), follows)
  }

  /** Finds the due changes of each team, at most its share. */
  function findShares(line: Line, limit: number, start: string): readonly PendingRow[] {
    const now = Date.now()
    const teams: string[] = []
    /** Finds teams with a due change, after one team, and until another one. */
    function walk(after: string, isInReach: (teamId: string) => boolean): void {
      let [next] = statements.findNextTeam(line, after)
      for (let visited = 0; visited < MOST_TEAMS_VISITED && teams.length < MOST_TEAMS; visited += 1) {
        if (!next || !isInReach(next.teamId)) return
        if (next.due <= now) teams.push(next.teamId)
        next = statements.findNextTeam(line, next.teamId)[0]
      }
    }
    walk(start, () => true)
    walk('', teamId => teamId <= start)
    const share = Math.ceil(limit / teams.length)
    return teams.flatMap(teamId => statements.findDueOfTeam(line, teamId, now, share))
  }

  return {
    add,

    transfer(former, registration, wait) {
      if (!former.synchronized) statements.follow(registration.domainId, former.domainId)
      add(former, 'released', wait, registration.domainId)
      add(registration, 'registered', 0)
    },

    lease(registrations, lease) {
      for (const { domainId } of registrations) statements.lease(after(lease), domainId)
    },

    take: ({ lines, lease, lot }) =>
      transact(() => {
        const now = Date.now()
        noteMonitor()
        for (const { line, limit } of lines) {
          statements.bringForward(now, line, after(LONGEST_WAIT + lease))
          const first = statements.findDue(line, now, limit + 1)
          const shares = first.length > limit ? findShares(line, limit, startOfWalk(first[0]?.teamId ?? '', lot)) : []
          const taken = chooseInTurns(shares, first, limit, lot)
          for (const { domainId } of taken) statements.take(after(lease), domainId)
          if (taken.length > 0) return taken
        }
        return []
      }),

    finish: changes =>
      transact(() => {
        noteMonitor()
        for (const { kind, domainId } of changes) {
          const isDeleted = statements.deleteChange(domainId, kind).length > 0
          if (isDeleted) statements.follow(null, domainId)
          else statements.setDue(after(0), domainId)
        }
      }),

    postpone: postponements =>
      transact(() => {
        for (const { change, wait, failure, refusals } of postponements)
          statements.postpone(after(wait), refusals, failure ?? null, change.domainId, change.kind)
      }),

    async retry(domainIds) {
      const now = after(0)
      if (domainIds) return transact(() => domainIds.flatMap(id => statements.retry(now, id, now)).length)
      for (let total = 0; ; ) {
        const retried = await transact(() => statements.retryAll(now, now, MOST_AT_ONCE).length)
        total += retried
        if (retried < MOST_AT_ONCE) return total
        await letOthersRun()
      }
    },

    settle: domainIds =>
      transact(() => {
        for (const domainId of domainIds) statements.follow(null, domainId)
        return domainIds.flatMap(id => statements.settle(id)).length
      }),

    stats: () => read(() => toStats(statements.stats()[0] as StatsRow, statements.findLongestRefused()[0])),

    list: (after = '', limit) => read(() => statements.listChanges(after, limit).map(toPending)),
  }
}

/** Returns the time at which a wait ends, rounded up because the table stores whole milliseconds. */
const after = (milliseconds: number) => Math.ceil(Date.now() + milliseconds)
