import { ancestorsOf } from '../registry/name.ts'
import type { Holding } from './holding.ts'
import { createKeyedSet } from './keyed-set.ts'

/**
 * What one team holds below a base; never nothing. The branches of a team form a tree, whose leaves are its holdings.
 */
export interface Branch {
  /** Made of the base and the team. */
  readonly key: string
  /** How many holdings, at any depth. */
  count: number
  /** The holdings one label below the base and the branches there, in any order. */
  readonly members: Member[]
  /** Its index among the members of the branch above. */
  position: number
}

type Member = Holding | Branch

/** The branches of every team in one registrable domain. */
export interface Branches {
  add(holding: Holding): void
  remove(holding: Holding): void
  get(base: string, teamId: string): Branch | undefined
}

export function createBranches(): Branches {
  const branches = createKeyedSet<Branch>(branch => branch.key)

  return {
    add(holding) {
      let loose: Member | null = holding
      for (const base of ancestorsOf(holding)) {
        const key = keyOf(base, holding.teamId)
        const branch = branches.get(key)
        if (branch) {
          if (loose) attach(branch, loose)
          branch.count += 1
          loose = null
        } else if (loose) {
          const grown: Branch = { key, count: 1, members: [loose], position: 0 }
          loose.position = 0
          branches.put(grown)
          loose = grown
        }
      }
    },

    remove(holding) {
      let withered: Member | null = holding
      for (const base of ancestorsOf(holding)) {
        const key = keyOf(base, holding.teamId)
        const branch = branches.get(key)
        if (!branch) return
        if (withered) detach(branch, withered)
        branch.count -= 1
        withered = branch.count === 0 ? branch : null
        if (withered) branches.delete(key)
      }
    },

    get: (base, teamId) => branches.get(keyOf(base, teamId)),
  }
}

/** Up to `limit` domains of a branch. It costs no more than `limit` walks from the base to a holding. */
export function sample({ members }: Branch, limit: number): string[] {
  const domains: string[] = []
  for (const member of members) {
    if (domains.length === limit) break
    if ('members' in member) domains.push(...sample(member, limit - domains.length))
    else domains.push(member.domain)
  }
  return domains
}

/** No hostname has a space in it. */
const keyOf = (base: string, teamId: string) => `${base} ${teamId}`

function attach({ members }: Branch, member: Member): void {
  member.position = members.length
  members.push(member)
}

/** The last member moves into the gap. */
function detach({ members }: Branch, member: Member): void {
  const last = members.pop()
  if (!last || last === member) return
  members[member.position] = last
  last.position = member.position
}
