import type { ListPage } from '../store/arguments.ts'
import { keysBelow } from '../store/name-key.ts'

/** Sorts before all IDs. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Sorts after all IDs. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The statement of a store in SQL that selects a page, and the values with which the page starts. */
export function toListQuery({ teamId, after, order, below }: ListPage) {
  const ofTeam = teamId === undefined ? '' : 'OfTeam'
  if (below !== undefined) {
    const keys = keysBelow(below, after)
    return { name: `listBelow${ofTeam}`, start: [keys.secondLevelDomain, keys.after, keys.before] } as const
  }
  return order === 'newest'
    ? ({ name: `listNewest${ofTeam}`, start: [after ?? LAST_ID] } as const)
    : ({ name: `listOldest${ofTeam}`, start: [after ?? FIRST_ID] } as const)
}
