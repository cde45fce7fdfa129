import type { Name } from '../registry/name.ts'
import type { Registration } from '../registry/store.ts'

/** A registration in the memory store. It changes, so callers get copies. */
export interface Holding extends Name {
  readonly domainId: string
  readonly teamId: string
  synchronized: boolean
  /** Its index in the {@link Group.members} of its group. */
  position: number
}

/**
 * Makes a holding. The strings of its name may be slices of the submitted hostname, which has at most 512 characters.
 * So a registration keeps no more than that in memory, and nothing of the body around it.
 */
export function createHolding(name: Name, domainId: string, teamId: string, synchronized: boolean): Holding {
  const { domain, registrableDomain } = name
  return { domainId, domain, registrableDomain, teamId, synchronized, position: 0 }
}

/** Copies the public fields. The copy does not change with the holding. */
export function toRegistration({ domainId, domain, registrableDomain, teamId, synchronized }: Holding): Registration {
  return { domainId, domain, registrableDomain, teamId, synchronized }
}
