import type { WaitingName, WaitingStore } from '../store/waiting.ts'

/**
 * Creates an empty store of names that wait, in memory: to start with, and for tests. The names end with the process.
 *
 * @param options `now`: returns the time in milliseconds since 1970. Default: the clock of the system.
 *
 * @example
 * const waiting = createMemoryWaitingStore()
 * app.use(domainsRouter({ store, keys, checkNames, waiting }))
 * const retrying = startRetrying({ store, waiting, checkNames })
 */
export function createMemoryWaitingStore({ now = Date.now }: { now?: () => number } = {}): WaitingStore {
  const teams = new Map<string, Map<string, WaitingName>>()
  const ofTeam = (teamId: string) => teams.get(teamId) ?? new Map<string, WaitingName>()
  /** Reads the clock once for a call: names that it gives the same wait are due at the same time. */
  function readClock() {
    const time = now()
    return { time, later: (wait: number) => new Date(time + wait) }
  }

  function stats() {
    const { time } = readClock()
    const names = [...teams.values()].flatMap(kept => [...kept.values()])
    const oldest = names.reduce((least, { nextTry }) => Math.min(least, nextTry.getTime()), time)
    return { count: names.length, overdue: time - oldest }
  }

  return {
    keep(teamId, names, { wait, keepFor, most }) {
      const { later } = readClock()
      const of = ofTeam(teamId)
      teams.set(teamId, of)
      const kept = names.flatMap(name => {
        const before = of.get(name.domain)
        if (!before && of.size >= most) return []
        const since = before?.since ?? later(0)
        const times = { since, until: later(keepFor), lastTried: later(0), nextTry: later(wait), tries: 0 }
        const row = { ...name, teamId, ...times }
        of.set(name.domain, row)
        return row
      })
      return { kept, overdue: stats().overdue }
    },
    remove: (teamId, domains) => domains.filter(domain => ofTeam(teamId).delete(domain)),
    take({ limit, lease }) {
      const { time, later } = readClock()
      const isDue = ({ nextTry }: WaitingName) => nextTry.getTime() <= time
      const due = [...teams.values()].map(of => [...of.values()].filter(isDue)).filter(names => names.length > 0)
      const names = due[Math.floor(Math.random() * due.length)] ?? []
      return names
        .sort((one, other) => one.nextTry.getTime() - other.nextTry.getTime())
        .slice(0, limit)
        .map(name => {
          const taken = { ...name, nextTry: later(lease), tries: name.tries + 1 }
          ofTeam(name.teamId).set(name.domain, taken)
          return { ...taken, isLast: name.until.getTime() <= time }
        })
    },
    settle(teamId, tried, hasten) {
      const { later } = readClock()
      const of = ofTeam(teamId)
      const settled = tried.flatMap(outcome => {
        const name = of.get(outcome.domain)
        if (name?.tries !== outcome.tries || name.until.getTime() !== outcome.until.getTime()) return []
        if (outcome.isOver) of.delete(outcome.domain)
        else {
          const { refusal, wait } = outcome
          of.set(name.domain, { ...name, ...(refusal && { refusal, lastTried: later(0) }), nextTry: later(wait) })
        }
        return outcome.domain
      })
      for (const name of hasten ? of.values() : [])
        if (hasten?.registrableDomains.includes(name.registrableDomain) && name.nextTry > later(hasten.lease))
          of.set(name.domain, { ...name, nextTry: later(0) })
      return settled
    },
    list: teamId => [...ofTeam(teamId).values()].sort((one, other) => (one.domain < other.domain ? -1 : 1)),
    stats,
  }
}
