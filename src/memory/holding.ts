import type { Name } from '../registry/name.ts'
import type { Registration } from '../registry/store.ts'
import type { PendingEntry } from './pending-queue.ts'

/** A registration as the memory store keeps it: never handed out, since it changes. */
export interface Holding extends Name {
  readonly domainId: string
  readonly teamId: string
  /** Its place among those that wait for synchronization; `null` once it is synchronized, or released. */
  pending: PendingEntry | null
  /** Its index among the members of its branch; means nothing in a small zone. */
  position: number
}

/**
 * What a caller may see and keep: a copy, which stays as it is.
 *
 * @param name Equal to that of the holding. The strings of who asked are read faster than those in store, which are
 *   slices.
 */
export function toRegistration(holding: Holding, name: Name = holding): Registration {
  const { domainId, teamId, pending } = holding
  const { domain, registrableDomain } = name
  return { domainId, domain, registrableDomain, teamId, synchronized: pending === null }
}
