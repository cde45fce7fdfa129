import type { Name } from '../registry/name.ts'
import { type Below, NOTHING_BELOW } from '../registry/store.ts'
import type { Holding } from './holding.ts'
import { createLongMap, type LongMap } from './long-map.ts'
import { allIn, findBelow, findHolding, type Subdomains, withHolding, withoutHolding } from './subdomains.ts'
import { hashText } from './text-hash.ts'

/** All registrations of a memory store, by registrable domain and name. */
export interface Registrations {
  find(name: Name): Holding | undefined
  /** Finds the holdings of many names, in the order of the names. */
  findAll(names: readonly Name[]): Holding[]
  findBelow(base: Name, teamId: string): Below
  /** Adds a holding. Its domain must be free. */
  add(holding: Holding): void
  remove(holding: Holding): void
  /** In any order. */
  all(): Iterable<Holding>
}

/** Up to this many registrable domains are keys themselves. Most stores never hold more. */
const MAX_FEW = 2 ** 14

/**
 * As long as there are few registrable domains, they are the keys of a `Map`. When there are many, their hashes are the
 * keys: among millions, a look-up by number need not read the strings of other names. Registrable domains whose hashes
 * collide share their {@link Subdomains}, which compare whole names. Measured by `npm run bench -- memory`.
 *
 * @param hash Of a registrable domain.
 */
export function createRegistrations(hash = hashText): Registrations {
  const few = new Map<string, Subdomains>()
  let held: LongMap<string | number, Subdomains> = few
  const keyOf = (registrableDomain: string) => (held === few ? registrableDomain : hash(registrableDomain))

  function hashKeys(): void {
    held = createLongMap(Number)
    for (const [registrableDomain, subdomains] of few) {
      const key = keyOf(registrableDomain)
      const colliding = held.get(key)
      held.set(key, colliding ? [...allIn(subdomains)].reduce(withHolding, colliding) : subdomains)
    }
    few.clear()
  }

  return {
    find(name) {
      const subdomains = held.get(keyOf(name.registrableDomain))
      return subdomains && findHolding(subdomains, name)
    },

    findAll(names) {
      // All keys first: consecutive look-ups overlap their waits for memory.
      const keys = names.map(name => keyOf(name.registrableDomain))
      return keys
        .map(key => held.get(key))
        .map((subdomains, index) => subdomains && findHolding(subdomains, names[index] as Name))
        .filter(holding => holding !== undefined)
    },

    findBelow(base, teamId) {
      const subdomains = held.get(keyOf(base.registrableDomain))
      return subdomains ? findBelow(subdomains, base, teamId) : NOTHING_BELOW
    },

    add(holding) {
      const key = keyOf(holding.registrableDomain)
      held.set(key, withHolding(held.get(key), holding))
      if (few.size > MAX_FEW) hashKeys()
    },

    remove(holding) {
      const key = keyOf(holding.registrableDomain)
      const subdomains = held.get(key)
      const rest = subdomains && withoutHolding(subdomains, holding)
      if (rest) held.set(key, rest)
      else held.delete(key)
    },

    *all() {
      for (const subdomains of held.values()) yield* allIn(subdomains)
    },
  }
}
