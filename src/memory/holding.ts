import type { Name } from '../registry/name.ts'
import type { Registration } from '../registry/store.ts'

/** A registration as the memory store keeps it: never handed out, since it changes. */
export interface Holding extends Name {
  readonly domainId: string
  readonly teamId: string
  synchronized: boolean
  /** Its index in the list of {@link Group.members} that it is in. */
  position: number
}

/**
 * Makes a holding. The strings of its name may be slices of the text that was sent as a hostname, which has at most 512
 * characters: a registration keeps no more than that in memory, and nothing of the body around it.
 */
export function createHolding(name: Name, domainId: string, teamId: string, synchronized: boolean): Holding {
  const { domain, registrableDomain } = name
  return { domainId, domain, registrableDomain, teamId, synchronized, position: 0 }
}

/** Copies the public fields. The copy does not change with the holding. */
export function toRegistration({ domainId, domain, registrableDomain, teamId, synchronized }: Holding): Registration {
  return { domainId, domain, registrableDomain, teamId, synchronized }
}
