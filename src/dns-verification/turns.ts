/** Places for the queries of all calls of a process. */
export interface QueryTurns {
  /**
   * Waits for a place.
   *
   * @param begin Gets the function to call once the query is answered; `null` if too many queries of the team wait.
   * @returns The function that ends the wait.
   */
  enter(teamId: string, begin: (leave: (() => void) | null) => void): () => void
}

/**
 * For how many milliseconds a place is taken at most. A query that its call has given up goes on at the resolver; at
 * dnsmasq, which has the fewest places, for ten seconds.
 */
const LONGEST_QUERY = 10_000
/** How many queries of one team may wait. */
const MOST_WAITING = 10_000

interface Place {
  readonly teamId: string
  readonly until: number
}

/**
 * Lets at most `most` queries run at once.
 *
 * | question | answer |
 * | --- | --- |
 * | who runs | a team that has fewer places than are free: alone half of them, the next team half of the rest |
 * | who waits | queries, in a line for each team, until their call ends |
 * | whose turn is next | the teams in turn |
 * | what one more costs those that wait | nothing: of each team, only the first query is looked at |
 * | what a silent zone costs | the place until the resolver gives up too |
 * | at the bound | the query fails at once |
 */
export function createQueryTurns(most: number): QueryTurns {
  /** The oldest first. */
  const places = new Set<Place>()
  const counts = new Map<string, number>()
  const waiting = new Map<string, Set<() => void>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let wakesAt = 0

  const countOf = (teamId: string) => counts.get(teamId) ?? 0
  const mayBegin = (teamId: string) => countOf(teamId) < most - places.size

  function take(teamId: string): () => void {
    const place = { teamId, until: performance.now() + LONGEST_QUERY }
    places.add(place)
    counts.set(teamId, countOf(teamId) + 1)
    return () => {
      free(place)
      letIn()
    }
  }

  function free(place: Place): void {
    if (!places.delete(place)) return
    const count = countOf(place.teamId) - 1
    if (count > 0) counts.set(place.teamId, count)
    else counts.delete(place.teamId)
  }

  function letIn(): void {
    const now = performance.now()
    for (const place of places) {
      if (place.until > now) break
      free(place)
    }
    for (const [teamId, line] of waiting) {
      if (places.size === most) break
      const [enter] = line
      if (!enter || !mayBegin(teamId)) continue
      // To the end of the teams, where this loop comes to it again.
      waiting.delete(teamId)
      line.delete(enter)
      if (line.size > 0) waiting.set(teamId, line)
      enter()
    }
    wakeUp(now)
  }

  /** Looks again once the oldest place is free, if somebody waits. */
  function wakeUp(now = performance.now()): void {
    const [oldest] = places
    const isWanted = waiting.size > 0 && oldest !== undefined
    // Some runtimes end a timer with the request that set it, so the time counts, not the timer.
    if (isWanted && now < wakesAt) return
    clearTimeout(timer)
    wakesAt = isWanted ? oldest.until : 0
    if (isWanted) timer = setTimeout(wake, oldest.until - now)
  }

  function wake(): void {
    wakesAt = 0
    letIn()
  }

  return {
    enter(teamId, begin) {
      const line = waiting.get(teamId) ?? new Set()
      if (line.size >= MOST_WAITING) {
        begin(null)
        return () => {}
      }
      const enter = () => begin(take(teamId))
      line.add(enter)
      waiting.set(teamId, line)
      letIn()
      return () => {
        line.delete(enter)
        if (line.size === 0 && waiting.get(teamId) === line) waiting.delete(teamId)
        wakeUp()
      }
    },
  }
}
