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

/** Makes a holding whose strings keep no other text in memory. */
export function createHolding(name: Name, domainId: string, teamId: string, synchronized: boolean): Holding {
  const domain = copy(name.domain)
  const { length } = name.registrableDomain
  const registrableDomain = length === domain.length ? domain : domain.slice(-length)
  return { domainId, domain, registrableDomain, teamId, synchronized, position: 0 }
}

/** Copies what a caller may see. The copy does not change with the holding. */
export function toRegistration({ domainId, domain, registrableDomain, teamId, synchronized }: Holding): Registration {
  return { domainId, domain, registrableDomain, teamId, synchronized }
}

/** A string may be a slice of a long text, which it keeps in memory. A slice of a joined string keeps only that. */
const copy = (text: string) => ` ${text}`.slice(1)
