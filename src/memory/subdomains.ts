import { ancestorsOf, isBelow, type Name } from '../registry/name.ts'
import { type Below, NOTHING_BELOW } from '../registry/store.ts'
import type { Holding } from './holding.ts'
import { createLongMap, type LongMap } from './long-map.ts'
import { hashText } from './text-hash.ts'

/**
 * The registrations in one registrable domain, including its own; in several if their hashes collide. Most are a list
 * of a few names, which is searched from end to end. A long list becomes an index, whose cost depends on the name and
 * not on the number of names.
 */
export type Subdomains = readonly Holding[] | SubdomainIndex

const MAX_LIST = 16

/** @param holding Its domain must be free. */
export function withHolding(held: Subdomains | undefined, holding: Holding): Subdomains {
  if (held === undefined) return [holding]
  if (isIndex(held)) {
    held.add(holding)
    return held
  }
  // A spread array would reserve room for sixteen more elements.
  return held.length < MAX_LIST ? held.concat(holding) : createIndex([...held, holding])
}

/** @returns `undefined` if nothing is left. */
export function withoutHolding(held: Subdomains, holding: Holding): Subdomains | undefined {
  if (isIndex(held)) {
    held.remove(holding)
    return held.isEmpty() ? undefined : held
  }
  return held.length === 1 ? undefined : held.filter(other => other !== holding)
}

export function findHolding(held: Subdomains, { domain }: Name): Holding | undefined {
  return isIndex(held) ? held.find(domain) : held.find(holding => holding.domain === domain)
}

export function findBelow(held: Subdomains, base: Name, teamId: string): Below {
  if (isIndex(held)) return held.findBelow(base.domain, teamId)
  const below = held.filter(holding => holding.registrableDomain === base.registrableDomain && isBelow(holding, base))
  const own = below.filter(holding => holding.teamId === teamId)
  return {
    ownDomains: own.slice(0, SAMPLE_SIZE).map(holding => holding.domain),
    ownCount: own.length,
    heldByOthers: below.length > own.length,
  }
}

export const allIn = (held: Subdomains): Iterable<Holding> => (isIndex(held) ? held.all() : held)

const isIndex = (held: Subdomains): held is SubdomainIndex => 'findBelow' in held

/** The number of names that {@link Below} lists. */
const SAMPLE_SIZE = 3

interface SubdomainIndex {
  add(holding: Holding): void
  remove(holding: Holding): void
  find(domain: string): Holding | undefined
  findBelow(base: string, teamId: string): Below
  all(): Iterable<Holding>
  isEmpty(): boolean
}

/** The holdings of one team below a base; never empty. The groups of a team form a tree with holdings as leaves. */
interface Group {
  /** The number of holdings at any depth. */
  count: number
  /** The holdings and groups one label below the base, in any order. */
  readonly members: Member[]
  /** Its index among the members of the group above. */
  position: number
}

type Member = Holding | Group

function createIndex(initial: readonly Holding[]): SubdomainIndex {
  const holdings = createLongMap<string, Holding>(hashText)
  const groups = createLongMap<string, Group>(hashText)
  /** How many names all teams together hold below a base. */
  const counts = createLongMap<string, number>(hashText)
  let size = 0

  const index: SubdomainIndex = {
    add(holding) {
      size += 1
      holdings.set(holding.domain, holding)
      let newcomer: Member | null = holding
      for (const base of ancestorsOf(holding)) {
        addTo(counts, base, 1)
        const key = keyOf(base, holding.teamId)
        const group = groups.get(key) ?? { count: 0, members: [], position: 0 }
        if (newcomer) attach(group, newcomer)
        newcomer = group.count === 0 ? group : null
        if (newcomer) groups.set(key, group)
        group.count += 1
      }
    },

    remove(holding) {
      size -= 1
      holdings.delete(holding.domain)
      let leaver: Member | null = holding
      for (const base of ancestorsOf(holding)) {
        addTo(counts, base, -1)
        const key = keyOf(base, holding.teamId)
        const group = groups.get(key) as Group
        if (leaver) detach(group, leaver)
        group.count -= 1
        leaver = group.count === 0 ? group : null
        if (leaver) groups.delete(key)
      }
    },

    find: holdings.get,

    findBelow(base, teamId) {
      const count = counts.get(base)
      if (count === undefined) return NOTHING_BELOW
      const own = groups.get(keyOf(base, teamId))
      const ownCount = own?.count ?? 0
      return { ownDomains: own ? sample(own, SAMPLE_SIZE) : [], ownCount, heldByOthers: count > ownCount }
    },

    all: holdings.values,
    isEmpty: () => size === 0,
  }

  initial.forEach(index.add)
  return index
}

/** No hostname has a space in it. */
const keyOf = (base: string, teamId: string) => `${base} ${teamId}`

function addTo(counts: LongMap<string, number>, base: string, difference: 1 | -1): void {
  const count = (counts.get(base) ?? 0) + difference
  if (count === 0) counts.delete(base)
  else counts.set(base, count)
}

/** Returns up to `limit` domains of a group, in at most `limit` walks from its base to a holding. */
function sample({ members }: Group, limit: number): string[] {
  const domains: string[] = []
  for (const member of members) {
    if (domains.length === limit) break
    if ('members' in member) domains.push(...sample(member, limit - domains.length))
    else domains.push(member.domain)
  }
  return domains
}

function attach({ members }: Group, member: Member): void {
  member.position = members.length
  members.push(member)
}

/** The last member moves into the gap. */
function detach({ members }: Group, member: Member): void {
  const last = members.pop() as Member
  if (last === member) return
  members[member.position] = last
  last.position = member.position
}
