import { isBelow, type Name } from '../registry/name.ts'
import type { Below } from '../registry/store.ts'
import type { Holding } from './holding.ts'
import { createLargeZone, type LargeZone } from './large-zone.ts'

/**
 * What is held in one registrable domain. Most have one name or a few, and there are millions of them: the first form
 * costs nothing, the second is searched from end to end, and only the third has an index. None is empty.
 */
export type Zone = Holding | SmallZone | LargeZone
type SmallZone = readonly Holding[]

const MAX_SMALL_ZONE = 16

/** @returns The zone with one holding more, whose domain was not in it. */
export function addTo(zone: Zone | undefined, holding: Holding): Zone {
  if (zone === undefined) return holding
  if (isLarge(zone)) {
    zone.add(holding)
    return zone
  }
  // Not spread: that would leave room for sixteen more.
  const holdings = toSmallZone(zone).concat(holding)
  return holdings.length > MAX_SMALL_ZONE ? createLargeZone(holding.registrableDomain, holdings) : holdings
}

/** @returns The zone without one of its holdings; `undefined` when that was the last. */
export function removeFrom(zone: Zone, holding: Holding): Zone | undefined {
  if (isLarge(zone)) {
    zone.remove(holding)
    return zone.isEmpty() ? undefined : zone
  }
  const rest = toSmallZone(zone).filter(other => other !== holding)
  return rest.length > 1 ? rest : rest[0]
}

/** @param name Of the same registrable domain. */
export function findIn(zone: Zone, { domain, registrableDomain }: Name): Holding | undefined {
  if (isLarge(zone)) return zone.find(domain)
  // Only one domain is as long as the registrable domain, and need not be compared.
  const isSame = (holding: Holding) =>
    holding.domain.length === domain.length && (domain.length === registrableDomain.length || holding.domain === domain)
  return toSmallZone(zone).find(isSame)
}

/** What is held below a base of this zone, as {@link Below} says. */
export function findBelow(zone: Zone, base: Name, teamId: string): Below {
  if (isLarge(zone)) return zone.findBelow(base.domain, teamId)
  const below = toSmallZone(zone).filter(holding => isBelow(holding, base))
  const own = below.filter(holding => holding.teamId === teamId)
  return {
    ownDomains: own.slice(0, 3).map(holding => holding.domain),
    ownCount: own.length,
    heldByOthers: below.length > own.length,
  }
}

export const registrableDomainOf = (zone: Zone): string =>
  'registrableDomain' in zone ? zone.registrableDomain : (zone[0] as Holding).registrableDomain

const isLarge = (zone: Zone): zone is LargeZone => 'findBelow' in zone

const toSmallZone = (zone: Holding | SmallZone): SmallZone => ('domain' in zone ? [zone] : zone)
