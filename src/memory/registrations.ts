import type { Name } from '../registry/name.ts'
import { type Below, NOTHING_BELOW } from '../registry/store.ts'
import type { Holding } from './holding.ts'
import { createLongMap } from './long-map.ts'
import { allIn, findBelow, findHolding, type Subdomains, withHolding, withoutHolding } from './subdomains.ts'

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

export function createRegistrations(): Registrations {
  const byRegistrableDomain = createLongMap<Subdomains>()

  return {
    find(name) {
      const held = byRegistrableDomain.get(name.registrableDomain)
      return held && findHolding(held, name)
    },

    findBelow(base, teamId) {
      const held = byRegistrableDomain.get(base.registrableDomain)
      return held ? findBelow(held, base, teamId) : NOTHING_BELOW
    },

    add(holding) {
      const { registrableDomain } = holding
      byRegistrableDomain.set(registrableDomain, withHolding(byRegistrableDomain.get(registrableDomain), holding))
    },

    remove(holding) {
      const { registrableDomain } = holding
      const held = byRegistrableDomain.get(registrableDomain)
      const rest = held && withoutHolding(held, holding)
      if (rest) byRegistrableDomain.set(registrableDomain, rest)
      else byRegistrableDomain.delete(registrableDomain)
    },

    *all() {
      for (const held of byRegistrableDomain.values()) yield* allIn(held)
    },
  }
}
