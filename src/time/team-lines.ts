/** How many items of one team may wait. */
const MOST_OF_TEAM = 10_000

/** What waits for its turn, in a line for each team. */
interface TeamLines<Item> {
  /** Returns whether the team's line had room. */
  add(teamId: string, item: Item): boolean
  /** Returns whether the item was still waiting. */
  delete(teamId: string, item: Item): boolean
  /** Removes and returns the item whose turn is next. */
  take(): Item | undefined
}

/**
 * Creates lines of which the teams take turns: between two items of a team, each other team that waits has one. A team
 * has room for 10,000 items. One more item costs those that wait nothing.
 */
export function createTeamLines<Item>(): TeamLines<Item> {
  /** The team whose turn is next comes first. */
  const lines = new Map<string, Set<Item>>()
  return {
    add(teamId, item) {
      const line = lines.get(teamId) ?? new Set()
      if (line.size >= MOST_OF_TEAM) return false
      lines.set(teamId, line.add(item))
      return true
    },
    delete(teamId, item) {
      const line = lines.get(teamId)
      const wasWaiting = line?.delete(item) ?? false
      if (line?.size === 0) lines.delete(teamId)
      return wasWaiting
    },
    take() {
      for (const [teamId, line] of lines) {
        lines.delete(teamId)
        const [item] = line as unknown as [Item]
        line.delete(item)
        if (line.size > 0) lines.set(teamId, line)
        return item
      }
      return undefined
    },
  }
}
