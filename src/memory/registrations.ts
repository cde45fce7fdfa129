import type { Name } from '../registry/name.ts'
import { type Below, NOTHING_BELOW } from '../registry/store.ts'
import type { Holding } from './holding.ts'
import { createLongMap } from './long-map.ts'
import { allIn, findBelow, findHolding, type Subdomains, withHolding, withoutHolding } from './subdomains.ts'
import { hashText } from './text-hash.ts'

/** All registrations of a memory store, by registrable domain and name. */
export interface Registrations {
  find(name: Name): Holding | undefined
  findBelow(base: Name, teamId: string): Below
  /** Adds a holding, whose domain nobody holds. */
  add(holding: Holding): void
  remove(holding: Holding): void
  /** In any order. */
  all(): Iterable<Holding>
}

/**
 * Numbers as keys keep a look-up among millions from reading a string of another name. Registrable domains whose hashes
 * collide share their {@link Subdomains}, which compare whole names.
 *
 * @param hash Of a registrable domain.
 */
export function createRegistrations(hash = hashText): Registrations {
  const byHash = createLongMap<number, Subdomains>(key => key)

  return {
    find(name) {
      const held = byHash.get(hash(name.registrableDomain))
      return held && findHolding(held, name)
    },

    findBelow(base, teamId) {
      const held = byHash.get(hash(base.registrableDomain))
      return held ? findBelow(held, base, teamId) : NOTHING_BELOW
    },

    add(holding) {
      const key = hash(holding.registrableDomain)
      byHash.set(key, withHolding(byHash.get(key), holding))
    },

    remove(holding) {
      const key = hash(holding.registrableDomain)
      const held = byHash.get(key)
      const rest = held && withoutHolding(held, holding)
      if (rest) byHash.set(key, rest)
      else byHash.delete(key)
    },

    *all() {
      for (const held of byHash.values()) yield* allIn(held)
    },
  }
}
