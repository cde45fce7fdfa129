import { ancestorsOf } from '../registry/name.ts'
import type { Below } from '../registry/store.ts'
import { createBranches, sample } from './branches.ts'
import type { Holding } from './holding.ts'
import { createKeyedSet } from './keyed-set.ts'

/** A zone with an index: a call costs as much as the name has labels, whatever else is held. */
export interface LargeZone {
  readonly registrableDomain: string
  add(holding: Holding): void
  remove(holding: Holding): void
  find(domain: string): Holding | undefined
  findBelow(base: string, teamId: string): Below
  isEmpty(): boolean
}

/** How many names all teams together hold below a base: never 0. */
interface Tally {
  readonly base: string
  count: number
}

/** How many names {@link Below} has room for. */
const SAMPLE_SIZE = 3

export function createLargeZone(registrableDomain: string, initial: readonly Holding[]): LargeZone {
  const holdings = createKeyedSet<Holding>(holding => holding.domain)
  const branches = createBranches()
  const tallies = createKeyedSet<Tally>(tally => tally.base)
  let size = 0

  const zone: LargeZone = {
    registrableDomain,

    add(holding) {
      size += 1
      holdings.put(holding)
      branches.add(holding)
      for (const base of ancestorsOf(holding)) {
        const tally = tallies.get(base)
        if (tally) tally.count += 1
        else tallies.put({ base, count: 1 })
      }
    },

    remove(holding) {
      size -= 1
      holdings.delete(holding.domain)
      branches.remove(holding)
      for (const base of ancestorsOf(holding)) {
        const tally = tallies.get(base)
        if (!tally) continue
        tally.count -= 1
        if (tally.count === 0) tallies.delete(base)
      }
    },

    find: domain => holdings.get(domain),

    findBelow(base, teamId) {
      const own = branches.get(base, teamId)
      const ownCount = own?.count ?? 0
      return {
        ownDomains: own ? sample(own, SAMPLE_SIZE) : [],
        ownCount,
        heldByOthers: (tallies.get(base)?.count ?? 0) > ownCount,
      }
    },

    isEmpty: () => size === 0,
  }

  initial.forEach(zone.add)
  return zone
}
